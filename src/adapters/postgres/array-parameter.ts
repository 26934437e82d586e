/**
 * Arrays as query parameters in PostgreSQL's binary format. Text arrays would have to be quoted here and parsed again
 * there: for audit rows, which are full of quotes, that costs more than the rest of the statement.
 */

const OID = { bytea: 17, int8: 20, text: 25, timestamptz: 1184, uuid: 2950 } as const;
const HEADER_BYTES = 20;
/** Microseconds from 1970 to 2000, where PostgreSQL begins to count. */
const EPOCH_2000_MICROS = 946_684_800_000_000n;

export function uuidArray(values: readonly string[]): Buffer {
  return fixedArray(OID.uuid, 16, values, (buffer, value, at) => {
    writeHex(buffer, value.replaceAll('-', ''), at, 16);
  });
}

export function bigintArray(values: readonly (bigint | number)[]): Buffer {
  return fixedArray(OID.int8, 8, values, (buffer, value, at) => {
    buffer.writeBigInt64BE(BigInt(value), at);
  });
}

/** From milliseconds since the epoch. */
export function timestampArray(values: readonly number[]): Buffer {
  return fixedArray(OID.timestamptz, 8, values, (buffer, value, at) => {
    buffer.writeBigInt64BE(BigInt(value) * 1000n - EPOCH_2000_MICROS, at);
  });
}

/** From hexadecimal texts of 32 bytes each. */
export function digestArray(values: readonly string[]): Buffer {
  return fixedArray(OID.bytea, 32, values, (buffer, value, at) => {
    writeHex(buffer, value, at, 32);
  });
}

export function textArray(values: readonly string[]): Buffer {
  const lengths = values.map((value) => Buffer.byteLength(value));
  return variableArray(OID.text, lengths, (buffer, index, at) => void buffer.write(values[index]!, at));
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  const lengths = values.map((value) => value.length);
  return variableArray(OID.bytea, lengths, (buffer, index, at) => buffer.set(values[index]!, at));
}

function variableArray(
  oid: number,
  lengths: readonly number[],
  write: (buffer: Buffer, index: number, at: number) => void,
): Buffer {
  const buffer = withHeader(
    oid,
    lengths.length,
    lengths.reduce((sum, length) => sum + length + 4, 0),
  );
  let at = HEADER_BYTES;
  for (const [index, length] of lengths.entries()) {
    at = buffer.writeInt32BE(length, at);
    write(buffer, index, at);
    at += length;
  }
  return buffer;
}

function fixedArray<T>(
  oid: number,
  width: number,
  values: readonly T[],
  write: (buffer: Buffer, value: T, at: number) => void,
): Buffer {
  const buffer = withHeader(oid, values.length, values.length * (width + 4));
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(width, at);
    write(buffer, value, at);
    at += width;
  }
  return buffer;
}

/** One dimension, no nulls, counted from 1. PostgreSQL takes an empty one for the empty array. */
function withHeader(oid: number, count: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  for (const [index, word] of [1, 0, oid, count, 1].entries()) buffer.writeInt32BE(word, index * 4);
  return buffer;
}

function writeHex(buffer: Buffer, hex: string, at: number, bytes: number): void {
  if (hex.length !== bytes * 2 || buffer.write(hex, at, bytes, 'hex') !== bytes) {
    throw new RangeError(`expected ${bytes} bytes in hexadecimal`);
  }
}
