import type { Family } from '#/wire/document/document.ts';
import { estimatedTokens, mediaBuckets, type Usage } from '#/wire/answer/usage.ts';

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
