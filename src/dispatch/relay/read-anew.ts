import type { Turns } from '#/runtime/loop-turns.ts';
import { readDocument, type Family, type WireDocument } from '#/wire/document/document.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { isLarge } from '#/wire/document/large-text.ts';

/** Reads what became of a request in the gateway; in the turns of its call, if it has any and the text is large. */
export async function readAnew(family: Family, text: string, turns: Turns | undefined): Promise<WireDocument> {
  return turns && isLarge(text) ? turns.run(readLarge(family, text, { isOwn: true })) : readDocument(family, text);
}
