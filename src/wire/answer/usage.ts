/**
 * What a call used, in disjoint buckets: every token is in exactly one, so that none is billed twice. A provider
 * that reports cached tokens inside its prompt count is untangled by its codec.
 */
export interface Usage {
  /** Input tokens neither read from nor written to a prompt cache. */
  readonly input: number;
  readonly cacheRead: number;
  /** Written to a prompt cache for five minutes. */
  readonly cacheWrite5m: number;
  /** Written to a prompt cache for an hour. */
  readonly cacheWrite1h: number;
  /** Output tokens without reasoning. */
  readonly output: number;
  readonly reasoning: number;
  /** Tokens of audio input, if reported separately; none of them is in `input`. */
  readonly inputAudio?: number;
  /** Tokens of pictures, still or moving, likewise. */
  readonly inputImage?: number;
  /** Tokens of sound read from a prompt cache; none of them is in `cacheRead`. */
  readonly cacheReadAudio?: number;
  /** Tokens of sound that was answered; none of them is in `output`. */
  readonly outputAudio?: number;
  /** Tokens of pictures, still or moving, likewise. */
  readonly outputImage?: number;
  /** The service tier that the answer was made in, where it tells one that is not the vendor's ordinary one. */
  readonly serviceTier?: string;
  /** Work of the vendor that is billed besides tokens: searches of the web, and of its client's files. */
  readonly searches?: number;
  readonly fileSearches?: number;
  /** Its machines that ran code, in sessions of one of 1 GB. */
  readonly containers?: number;
}

/** Buckets that only some vendors tell apart: absent, not zero, where there is nothing in them. */
export const MEDIA_BUCKETS = ['inputAudio', 'inputImage', 'cacheReadAudio', 'outputAudio', 'outputImage'] as const;

/** One of `MEDIA_BUCKETS`. */
export type MediaBucket = (typeof MEDIA_BUCKETS)[number];

export const NO_USAGE: Usage = {
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
};

/** Average size of a token in text: for usage that is not reported. */
const BYTES_PER_TOKEN = 4;

/** Tokens of this many bytes of text, estimated. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** All input tokens of a usage, cached or not, of whatever modality. */
export function inputTokens(usage: Usage): number {
  const { inputAudio = 0, inputImage = 0, cacheReadAudio = 0 } = usage;
  const text = usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
  return text + inputAudio + inputImage + cacheReadAudio;
}

/** All output tokens of a usage, reasoning included, of whatever modality. */
export function outputTokens({ output, reasoning, outputAudio = 0, outputImage = 0 }: Usage): number {
  return output + reasoning + outputAudio + outputImage;
}

/** All tokens of a usage: what counts against tokens per minute. */
export function totalTokens(usage: Usage): number {
  return inputTokens(usage) + outputTokens(usage);
}

/** Those of these buckets that hold something. */
export function mediaBuckets(counts: { readonly [B in MediaBucket]?: number }): {
  readonly [B in MediaBucket]?: number;
} {
  let held: { [B in MediaBucket]?: number } | undefined;
  for (const bucket of MEDIA_BUCKETS) if ((counts[bucket] ?? 0) !== 0) (held ??= {})[bucket] = counts[bucket]!;
  return held ?? NONE;
}

const NONE: { readonly [B in MediaBucket]?: number } = {};

/** Words of vendors for calls that are billed at their list prices, or that leave the choice to them. */
const ORDINARY = new Set(['default', 'standard', 'standard_only', 'on_demand', 'regular', 'auto', 'unspecified']);
/** Two words of one vendor or another for the same. */
const ALIASES: Readonly<Record<string, string>> = { batches: 'batch', provisioned_throughput: 'reserved' };
const TIER_WORD = /^[a-z][a-z0-9_]{0,31}$/;

/**
 * A vendor's word for a service tier in ours: undefined for the standard one and for unknown words. Google says
 * `ON_DEMAND_PRIORITY` in one place and `priority` in another. // wire-formats 2.7
 */
function serviceTierOf(word: string): string | undefined {
  const tier = word
    .toLowerCase()
    .replace(/^(?:service_tier_|traffic_type_|on_demand_)/, '')
    .replaceAll('-', '_');
  if (ORDINARY.has(tier) || !TIER_WORD.test(tier)) return undefined;
  return Object.hasOwn(ALIASES, tier) ? ALIASES[tier] : tier;
}

/** Modes of one vendor that cost more in any service tier: its faster speed, and staying in the US. */
export interface Modes {
  readonly speed?: unknown;
  readonly inference_geo?: unknown;
}

/** A service tier with the modes that a request asks for, or an answer tells: `fast`, `us`, `batch_fast_us`. */
export function tierInModes(tier: string | undefined, { speed, inference_geo: geo }: Modes): string | undefined {
  if (speed !== 'fast' && geo !== 'us') return tier;
  return [tier, speed === 'fast' && 'fast', geo === 'us' && 'us'].filter((word) => typeof word === 'string').join('_');
}

/** The service tier that a request asks for: `standard` for the ordinary one, undefined where the vendor is to choose. */
export function askedServiceTier(word: unknown): string | undefined {
  if (typeof word !== 'string') return undefined;
  const tier = serviceTierOf(word);
  if (tier !== undefined) return tier;
  return ORDINARY.has(word) && word !== 'auto' ? 'standard' : undefined;
}

/** A usage in the service tier that this word names, and in the modes that it tells. */
export function inServiceTier(usage: Usage, word: unknown, modes?: Modes): Usage {
  const tier = typeof word === 'string' ? serviceTierOf(word) : undefined;
  const serviceTier = modes ? tierInModes(tier, modes) : tier;
  return serviceTier === undefined ? usage : { ...usage, serviceTier };
}

/** An answer's usage besides tokens, as reported. */
export const BESIDE_TOKENS = ['searches', 'fileSearches', 'containers'] as const;

/** A usage with additional searches of the web. */
export function withSearches(usage: Usage, searches: number): Usage {
  return searches === 0 ? usage : { ...usage, searches };
}

/** More tokens than any answer has: a larger figure is a provider's fault, not a bill. */
const MAX_COUNT = 1_000_000_000;

/** Whether a provider told a figure at all: a usage without one is no account of anything. */
export function isTold(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * A number that is needed for billing: NaN if the reported value is not a count (a fraction, a text, negative),
 * so that the usage is not believed.
 */
export function toldCount(value: unknown): number {
  if (value === undefined || value === null) return 0;
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount ? Math.min(value as number, MAX_COUNT) : Number.NaN;
}

/** A reported detail, as a whole number of tokens: 0 if it is missing or nonsensical. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(Math.min(value, MAX_COUNT)) : 0;
}
