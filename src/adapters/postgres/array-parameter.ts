/**
 * Arrays as query parameters in PostgreSQL's binary format. Text arrays would have to be quoted here and parsed again
 * there: for audit rows, which are full of quotes, that costs more than the rest of the statement.
 */

const HEADER_BYTES = 20;
/** Microseconds from 1970 to 2000, where PostgreSQL begins to count. */
const EPOCH_2000_MICROS = 946_684_800_000_000;
const HIGH = 2 ** 32;
const DIGEST_BYTES = 32;

/** What the values of a column are here. */
interface Values {
  readonly uuid: string;
  readonly bigint: bigint | number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** 32 bytes in hexadecimal. */
  readonly digest: string;
  readonly text: string;
  readonly bytea: Uint8Array;
}

interface ColumnType<T> {
  readonly oid: number;
  /** Bytes of a value. */
  readonly width: number | ((value: T) => number);
  /** Throws RangeError on a value that the type does not hold. */
  readonly write: (buffer: Buffer, value: T, at: number) => void;
}

const TYPES: { readonly [K in keyof Values]: ColumnType<Values[K]> } = {
  uuid: { oid: 2950, width: 16, write: writeUuid },
  bigint: { oid: 20, width: 8, write: writeInteger },
  timestamp: { oid: 1184, width: 8, write: writeTimestamp },
  digest: { oid: 17, width: DIGEST_BYTES, write: writeDigest },
  text: { oid: 25, width: (text) => Buffer.byteLength(text), write: writeText },
  bytea: { oid: 17, width: (value) => value.length, write: (buffer, value, at) => buffer.set(value, at) },
};

/**
 * One dimension, no nulls, counted from 1; PostgreSQL takes an empty one for the empty array. Rows of a batch have much
 * in common: a value that is the one before is copied.
 */
export function arrayOf<K extends keyof Values>(type: K, values: readonly Values[K][]): Buffer {
  const { oid, width, write } = TYPES[type];
  const sizes: number[] = [];
  let bytes = HEADER_BYTES;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    const isRepeated = index > 0 && value === values[index - 1];
    const size = isRepeated ? sizes[index - 1]! : typeof width === 'number' ? width : width(value);
    sizes.push(size);
    bytes += size + 4;
  }
  const buffer = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const word of [1, 0, oid, values.length, 1]) at = buffer.writeInt32BE(word, at);
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    const size = sizes[index]!;
    at = buffer.writeInt32BE(size, at);
    if (index > 0 && value === values[index - 1]) buffer.copyWithin(at, at - size - 4, at - 4);
    else write(buffer, value, at);
    at += size;
  }
  return buffer;
}

function writeText(buffer: Buffer, text: string, at: number): void {
  buffer.write(text, at);
}

function writeTimestamp(buffer: Buffer, ms: number, at: number): void {
  writeInteger(buffer, ms * 1000 - EPOCH_2000_MICROS, at);
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

function writeDigest(buffer: Buffer, hex: string, at: number): void {
  if (hex.length !== DIGEST_BYTES * 2 || buffer.write(hex, at, DIGEST_BYTES, 'hex') !== DIGEST_BYTES) {
    throw new RangeError(`expected ${DIGEST_BYTES} bytes in hexadecimal`);
  }
}
