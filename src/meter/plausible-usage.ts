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
  /** Output tokens beside those that are seen: thinking that is not shown, pictures, sound. */
  readonly unseenOutput: number;
  /** Text is sent to a model that counts it, so there is no answer without input. */
  readonly readsText: boolean;
  readonly units: Units;
}

/** What was seen of an answer when its usage was told. */
export interface Seen {
  /** UTF-8 bytes of its output, or more. */
  readonly bytes: number;
  /** It is complete, and says something. */
  readonly says: boolean;
  /** It is complete. */
  readonly whole: boolean;
}

/**
 * Whether a usage can be true of what was sent and seen. Tokenizers make at least one byte a token, so bytes bound tokens;
 * nobody reads a prompt for nothing, nor writes an answer.
 */
export function isBelievable(usage: Usage, most: Believable, { bytes, says, whole }: Seen): boolean {
  if (!isCounted(usage)) return false;
  const input = inputTokens(usage);
  const output = outputTokens(usage);
  if (input > most.inputTokens || output > bytes + most.unseenOutput) return false;
  if (BESIDE_TOKENS.some((unit) => (usage[unit] ?? 0) > (most.units[unit] ?? 0))) return false;
  if (!whole) return true;
  return !(most.readsText && input === 0) && !(says && output === 0);
}

function isCounted(usage: Usage): boolean {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning } = usage;
  if (!(isCount(input) && isCount(cacheRead) && isCount(cacheWrite5m) && isCount(cacheWrite1h))) return false;
  if (!(isCount(output) && isCount(reasoning))) return false;
  return [...MEDIA_BUCKETS, ...BESIDE_TOKENS].every((bucket) => isCount(usage[bucket] ?? 0));
}

/** Units as they were told, and instead of what can't be true our own count or the most there can be; `doubted`: of any. */
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
    const isBelieved = isCount(count) && (bound === undefined || count <= bound);
    doubted ||= !isBelieved;
    units[unit] = isBelieved ? count : (ours[unit] ?? bound ?? 0);
  }
  return { units, doubted };
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0;
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
