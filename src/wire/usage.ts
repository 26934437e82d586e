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
}

export const NO_USAGE: Usage = {
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
};

/** What a tokenizer makes of text, on average: for what nobody reports. */
const BYTES_PER_TOKEN = 4;

/** Tokens of this many bytes of text, estimated. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** All tokens of a usage: what counts against tokens per minute. */
export function totalTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h + usage.output + usage.reasoning;
}

/** More tokens than any answer has: a larger figure is a provider's fault, not a bill. */
const MAX_COUNT = 1_000_000_000;

/** Whether a provider told a figure at all: a usage without one is no account of anything. */
export function isTokenCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0;
}

/** A figure that a provider told, as a whole number of tokens: 0 for what is missing or nonsensical. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(Math.min(value, MAX_COUNT)) : 0;
}
