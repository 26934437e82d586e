import type { Media, MediaPlace } from '../hub/codec.ts';
import { setString, type Edit, type Family, type WireDocument } from '../document/document.ts';
import { BadRequestShape } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { headOf, mediaTypeOfName, readDataUrl, writeDataUrl } from './media.ts';
import { member, type JsonNode, type ObjectNode, type StringNode } from '../document/scan.ts';

/** A file within a request, as it is written there. */
export interface Attachment {
  readonly nameNode: StringNode | undefined;
  /** Lower case, without parameters. */
  readonly mediaType: string;
  /** Its first bytes: files are large, and most are passed on without being decoded. */
  readonly head: Buffer;
  decode(): Buffer;
}

/** What may stand in the place of a file. */
export type ShownPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string };

/** What families call the name of a file, and the place it may be in. */
const NAMES = ['filename', 'title', 'document_name', 'name'];

/** The inline file at a place. */
export function attachmentAt({ node, part }: MediaPlace): Attachment {
  const inline = readDataUrl(node.value);
  const data = inline?.data ?? node.value;
  const nameNode = NAMES.map((name) => within(part, name)).find((found) => found !== undefined);
  const declared = inline?.mediaType ?? within(part, 'media_type')?.value ?? mediaTypeOfName(nameNode?.value);
  const mediaType = (declared ?? 'application/octet-stream').toLowerCase();
  let bytes: Buffer | undefined;
  const decode = (): Buffer => (bytes ??= Buffer.from(data, 'base64'));
  return { nameNode, mediaType, head: headOf(data), decode };
}

/** Puts other bytes in the place of an inline file's. */
export function replaceFile({ node, part }: MediaPlace, mediaType: string, bytes: Uint8Array): readonly Edit[] {
  const data = Buffer.from(bytes).toString('base64');
  if (readDataUrl(node.value)) return [setString(node, writeDataUrl(mediaType, data))];
  const declared = within(part, 'media_type');
  const retyped = declared && declared.value.toLowerCase() !== mediaType ? [setString(declared, mediaType)] : [];
  return [setString(node, data), ...retyped];
}

/**
 * Puts parts in the place of the one that carries a file; its cache marker goes to the last of them. Throws
 * `BadRequestShape` where there is no room for several.
 */
export function replacePart(document: WireDocument, { part, listed }: MediaPlace, shown: readonly ShownPart[]): Edit {
  if (!listed) throw new BadRequestShape('This model does not take a file in this place', 'messages');
  const mark = member(part, 'cache_control');
  const written = shown.map((one) => JSON.stringify(spell(document.family, one)));
  const last = written.at(-1);
  if (mark && last !== undefined) {
    written[written.length - 1] = `${last.slice(0, -1)},"cache_control":${document.text.slice(mark.start, mark.end)}}`;
  }
  return { start: part.start, end: part.end, text: written.join(',') };
}

/** Whether two places are in one part, which is to hold one file. */
export function sharePart(a: Media, b: Media): boolean {
  return a !== b && a.place !== undefined && a.place.part === b.place?.part;
}

/** A string of this name in a part or in an object of it. */
function within(part: ObjectNode, name: string): StringNode | undefined {
  const found = [part, ...part.members.map(({ value }) => value)].map((node: JsonNode) => member(node, name));
  return found.find((node): node is StringNode => node?.kind === 'string');
}

function spell(family: Family, part: ShownPart): JsonObject {
  if (part.type === 'text') return { type: family === 'responses' ? 'input_text' : 'text', text: part.text };
  const { mediaType, data } = part;
  if (family === 'messages') return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
  const url = writeDataUrl(mediaType, data);
  return family === 'responses'
    ? { type: 'input_image', image_url: url, detail: 'auto' }
    : { type: 'image_url', image_url: { url } };
}
