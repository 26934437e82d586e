/**
 * Arrays as query parameters in PostgreSQL's binary format. Text arrays would have to be quoted here and parsed again
 * there: for audit rows, which are full of quotes, that costs more than the rest of the statement.
 */

const OID = { bytea: 17, int8: 20, text: 25, timestamptz: 1184, uuid: 2950 } as const;
const HEADER_BYTES = 20;
/** Microseconds from 1970 to 2000, where PostgreSQL begins to count. */
const EPOCH_2000_MICROS = 946_684_800_000_000;
const HIGH = 2 ** 32;

export function uuidArray(values: readonly string[]): Buffer {
  return fixedArray(OID.uuid, 16, values, writeUuid);
}

export function bigintArray(values: readonly (bigint | number)[]): Buffer {
  return fixedArray(OID.int8, 8, values, writeInteger);
}

/** From milliseconds since the epoch. */
export function timestampArray(values: readonly number[]): Buffer {
  return fixedArray(OID.timestamptz, 8, values, (buffer, value, at) => {
    writeInteger(buffer, value * 1000 - EPOCH_2000_MICROS, at);
  });
}

/** From hexadecimal texts of 32 bytes each. */
export function digestArray(values: readonly string[]): Buffer {
  return fixedArray(OID.bytea, 32, values, (buffer, value, at) => {
    writeHex(buffer, value, at, 32);
  });
}

export function textArray(values: readonly string[]): Buffer {
  const lengths: number[] = [];
  for (let index = 0; index < values.length; index++) {
    lengths.push(isRepeated(values, index) ? lengths[index - 1]! : Buffer.byteLength(values[index]!));
  }
  return variableArray(OID.text, lengths, (buffer, index, at) => {
    const length = lengths[index]!;
    if (isRepeated(values, index)) buffer.copyWithin(at, at - length - 4, at - 4);
    else buffer.write(values[index]!, at);
  });
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
  for (let index = 0; index < lengths.length; index++) {
    const length = lengths[index]!;
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
  for (let index = 0; index < values.length; index++) {
    at = buffer.writeInt32BE(width, at);
    if (isRepeated(values, index)) buffer.copyWithin(at, at - width - 4, at - 4);
    else write(buffer, values[index]!, at);
    at += width;
  }
  return buffer;
}

/** Rows of a batch have much in common: a value that is the one before is copied. */
function isRepeated<T>(values: readonly T[], index: number): boolean {
  return index > 0 && values[index] === values[index - 1];
}

/** One dimension, no nulls, counted from 1. PostgreSQL takes an empty one for the empty array. */
function withHeader(oid: number, count: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  for (const [index, word] of [1, 0, oid, count, 1].entries()) buffer.writeInt32BE(word, index * 4);
  return buffer;
}

/** Throws RangeError on a number that is no integer, or not held exactly. */
function writeInteger(buffer: Buffer, value: bigint | number, at: number): void {
  if (typeof value === 'bigint') {
    buffer.writeBigInt64BE(value, at);
    return;
  }
  if (!Number.isSafeInteger(value)) throw new RangeError('expected a whole number');
  buffer.writeInt32BE(Math.floor(value / HIGH), at);
  buffer.writeUInt32BE(value >>> 0, at + 4);
}

const DASH = 45;
const NO_UUID = 'expected 16 bytes in hexadecimal';
/** Character code -> value of the hexadecimal digit, or -1. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[0-9a-fA-F]/.test(character) ? Number.parseInt(character, 16) : -1;
});

/** Digit by digit: a text without the dashes would have to be made first. */
function writeUuid(buffer: Buffer, uuid: string, at: number): void {
  let digits = 0;
  let high = 0;
  for (let index = 0; index < uuid.length; index++) {
    const code = uuid.charCodeAt(index);
    if (code === DASH) continue;
    const digit = DIGITS[code] ?? -1;
    if (digit < 0 || digits === 32) throw new RangeError(NO_UUID);
    if (digits % 2 === 0) high = digit * 16;
    else buffer[at + (digits >> 1)] = high + digit;
    digits++;
  }
  if (digits !== 32) throw new RangeError(NO_UUID);
}

function writeHex(buffer: Buffer, hex: string, at: number, bytes: number): void {
  if (hex.length !== bytes * 2 || buffer.write(hex, at, bytes, 'hex') !== bytes) {
    throw new RangeError(`expected ${bytes} bytes in hexadecimal`);
  }
}
