import type { Edit, WireDocument } from '../document/document.ts';
import { member, type ArrayNode, type JsonNode } from '../document/scan.ts';

const BYTES_PER_FLOAT = 4;

/**
 * Edits that give each embedding the encoding the client asked for, `base64` (32-bit floats, little-endian) or numbers,
 * where the provider answered in the other one. // wire-formats 5.2
 */
export function fitEmbeddings(answer: WireDocument, request: WireDocument): readonly Edit[] {
  const wantsBase64 = request.body['encoding_format'] === 'base64';
  const data = member(answer.root, 'data');
  if (data?.kind !== 'array') return [];
  const edits: Edit[] = [];
  for (const item of data.items) {
    const embedding = member(item, 'embedding');
    const text = wantsBase64 ? toBase64(embedding) : toNumbers(embedding);
    if (embedding && text !== undefined) edits.push({ start: embedding.start, end: embedding.end, text });
  }
  return edits;
}

function toBase64(node: JsonNode | undefined): string | undefined {
  if (node?.kind !== 'array' || !node.items.every(({ kind }) => kind === 'number')) return undefined;
  const bytes = Buffer.alloc(node.items.length * BYTES_PER_FLOAT);
  for (const [index, value] of numbersOf(node).entries()) bytes.writeFloatLE(value, index * BYTES_PER_FLOAT);
  return `"${bytes.toString('base64')}"`;
}

function numbersOf({ items }: ArrayNode): number[] {
  return items.map((item) => (item.kind === 'number' ? Number(item.source) : 0));
}

function toNumbers(node: JsonNode | undefined): string | undefined {
  if (node?.kind !== 'string') return undefined;
  const bytes = Buffer.from(node.value, 'base64');
  if (bytes.length === 0 || bytes.length % BYTES_PER_FLOAT !== 0) return undefined;
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_PER_FLOAT) numbers.push(bytes.readFloatLE(at));
  // No number of JSON says "not a number" or "infinite": such an embedding is left as it came.
  return numbers.every(Number.isFinite) ? JSON.stringify(numbers) : undefined;
}
