import { constants, inflateSync } from 'node:zlib';
import { DocumentFault } from '#/ports/documents.ts';

/** What one deflated stream may hold: pictures of 64 million dots are the largest that are read. */
const MAX_STREAM = 192 * 1024 * 1024;
/** What all streams that grow beyond measure may hold together. */
const MAX_GROWN = 256 * 1024 * 1024;
/** Growth that texts and pictures of documents hardly reach. */
const GROWTH = 100;
const MAX_NESTED = 4;

const BEGIN = Buffer.from('stream');
const END = Buffer.from('endstream');

/**
 * Undoes every deflated stream of a PDF once with zlib, before slower readers do: `too_large` where one holds more than a
 * stream may, also one that is deflated several times. Whatever the file says of its streams' types and lengths, since
 * readers differ in what they believe of that. Time and memory are bounded: each byte of the file is looked at once.
 */
export function boundInflation(file: Uint8Array): void {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  let grown = 0;
  for (let at = bytes.indexOf(BEGIN); at >= 0; at = bytes.indexOf(BEGIN, at)) {
    const from = afterLineEnd(bytes, at + BEGIN.length);
    const found = bytes.indexOf(END, from);
    const end = found < 0 ? bytes.length : found;
    const size = from === undefined ? 0 : inflated(bytes.subarray(from, end));
    if (size > GROWTH * (end - at)) grown += size;
    if (grown > MAX_GROWN) throw tooLarge();
    at = found < 0 ? bytes.length : found + END.length;
  }
}

/** Where a stream's data begin; undefined where the word is followed by something else. */
function afterLineEnd(bytes: Buffer, at: number): number | undefined {
  if (bytes[at] === 0x0a) return at + 1;
  if (bytes[at] !== 0x0d) return undefined;
  return bytes[at + 1] === 0x0a ? at + 2 : at + 1;
}

/** Bytes that come out, over all layers; 0 where nothing is deflated. */
function inflated(data: Buffer): number {
  let size = 0;
  let layer = data;
  for (let depth = 0; depth <= MAX_NESTED && isDeflated(layer); depth += 1) {
    const inner = inflate(layer);
    if (inner === undefined) break;
    if (depth === MAX_NESTED) throw tooLarge();
    size += inner.length;
    layer = inner;
  }
  return size;
}

/** The two bytes that deflated data of PDF begin with. // RFC 1950 2.2 */
function isDeflated(data: Buffer): boolean {
  const [method = 0, flags = 0] = data;
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}

/** Undefined for data that is not deflated after all; data before damage counts. */
function inflate(data: Buffer): Buffer | undefined {
  try {
    return inflateSync(data, { maxOutputLength: MAX_STREAM, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(error);
    return undefined;
  }
}

function tooLarge(cause?: unknown): DocumentFault {
  return new DocumentFault('too_large', 'a part of the document is too large', { cause });
}
