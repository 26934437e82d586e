/** `PGCOPY`, a signature, flags and the length of an extension that is not used. */
const HEADER_BYTES = 19;
const EXTENSION_AT = 15;
const NO_MORE = -1;

/** Where the first row begins in an answer in COPY's binary format: the number of its values, then each with its length. */
export function firstRow(bytes: Buffer): number {
  return HEADER_BYTES + bytes.readInt32BE(EXTENSION_AT);
}

/** Whether the answer ends here, where a row might begin. */
export function isEnd(bytes: Buffer, at: number): boolean {
  return bytes.readInt16BE(at) === NO_MORE;
}
