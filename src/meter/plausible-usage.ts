import {
  BESIDE_TOKENS,
  estimatedTokens,
  inputTokens,
  MEDIA_BUCKETS,
  mediaBuckets,
  outputTokens,
  type Usage,
} from '#/wire/answer/usage.ts';
import { UNITS } from './pricing/price.ts';
import type { Units } from '#/call/units.ts';
import type { Family } from '#/wire/document/document.ts';

/** What an answer can have used at most, known before it comes: whatever its provider tells beyond it is not billed. */
export interface Believable {
  /** All input tokens, cached or not. */
  readonly inputTokens: number;
  /** Output tokens besides the visible ones: hidden reasoning, images, audio. */
  readonly unseenOutput: number;
  /** Text is sent to a model that counts it, so there is no answer without input. */
  readonly readsText: boolean;
  readonly units: Units;
}

/** The part of an answer that was seen when its usage was reported. */
export interface Seen {
  /** UTF-8 bytes of its output, or more. */
  readonly bytes: number;
  /** It is complete, and says something. */
  readonly says: boolean;
  /** It is complete. */
  readonly whole: boolean;
}

/**
 * Whether a usage is plausible for the bytes sent and seen. Tokenizers use at least one byte per token, so bytes bound
 * tokens; a read prompt and a written answer cost at least one token.
 */
export function isBelievable(usage: Usage, most: Believable, { bytes, says, whole }: Seen): boolean {
  for (const bucket of COUNTS) {
    const count = usage[bucket] ?? 0;
    if (!Number.isSafeInteger(count) || count < 0) return false;
  }
  for (const unit of BESIDE_TOKENS) if ((usage[unit] ?? 0) > (most.units[unit] ?? 0)) return false;
  const input = inputTokens(usage);
  const output = outputTokens(usage);
  if (input > most.inputTokens || output > bytes + most.unseenOutput) return false;
  if (!whole) return true;
  return !(most.readsText && input === 0) && !(says && output === 0);
}

/** All that a usage counts. */
const COUNTS = [
  ...(['input', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'output', 'reasoning'] as const),
  ...MEDIA_BUCKETS,
  ...BESIDE_TOKENS,
];

/** Reported units, with implausible ones replaced by our own count or the maximum; `doubted`: any was replaced. */
export function believedUnits(
  told: Units,
  most: Units,
  ours: Units = {},
): { readonly units: Units; readonly doubted: boolean } {
  const units: { -readonly [U in keyof Units]: number } = {};
  let doubted = false;
  for (const unit of UNITS) {
    const count = told[unit];
    if (count === undefined) continue;
    const bound = most[unit];
    const isBelieved = Number.isSafeInteger(count) && count >= 0 && (bound === undefined || count <= bound);
    doubted ||= !isBelieved;
    units[unit] = isBelieved ? count : (ours[unit] ?? bound ?? 0);
  }
  return { units, doubted };
}

/** What most vendors count a picture that they made as, and what none exceeds. */
export const TOKENS_PER_IMAGE = 1056;
export const MOST_TOKENS_PER_IMAGE = 16_384;

/** Families whose answers are nothing that a model wrote: vectors, verdicts, pages. */
export const WITHOUT_OUTPUT: ReadonlySet<Family> = new Set(['embeddings', 'moderations', 'ocr', 'rerank']);

/** Our own count of an answer of so many bytes: text by its bytes, pictures by what one mostly takes. */
export function countedOutput(family: Family, bytes: number, images: number): Pick<Usage, 'output'> & Partial<Usage> {
  if (WITHOUT_OUTPUT.has(family)) return { output: 0 };
  if (family === 'images') return { output: 0, ...mediaBuckets({ outputImage: images * TOKENS_PER_IMAGE }) };
  return { output: estimatedTokens(bytes) };
}
