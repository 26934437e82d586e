import type { Slices } from '#/runtime/loop-slices.ts';
import { readDocument, type Family, type WireDocument } from '#/wire/document/document.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { isLarge } from '#/wire/document/large-text.ts';

/** Reads a rewritten request; in slices of its call, if it has any and the text is large. */
export async function readAnew(family: Family, text: string, slices: Slices | undefined): Promise<WireDocument> {
  return slices && isLarge(text) ? slices.run(readLarge(family, text, { isOwn: true })) : readDocument(family, text);
}
