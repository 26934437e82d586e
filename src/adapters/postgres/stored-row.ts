import type { StoredRow } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { firstRow, isEnd } from './copy-format.ts';

const MOST_NAMES = 10_000;
/** Milliseconds and microseconds from 1970 to 2000, where PostgreSQL begins to count. */
const EPOCH_2000_MICROS = 946_684_800_000_000;
const HIGH = 2 ** 32;
/** The high halves of `infinity` and `-infinity`. */
const [LATEST, EARLIEST] = [0x7fffffff, -0x80000000];

/** The texts of the strands of rows that come together, each made once: rows of some strands come in turns. */
export class StrandNames {
  readonly #known = new Map<number, { readonly bytes: Buffer; readonly text: string }>();

  textOf(bytes: Buffer, at: number): string {
    // The end of a UUIDv4 or v7 is random.
    const end = bytes.readInt32LE(at + 12);
    const known = this.#known.get(end);
    if (known && same(known.bytes, bytes, at)) return known.text;
    const text = uuidText(bytes, at);
    if (this.#known.size >= MOST_NAMES) this.#known.clear();
    this.#known.set(end, { bytes: Buffer.from(bytes.subarray(at, at + 16)), text });
    return text;
  }
}

function same(known: Buffer, bytes: Buffer, at: number): boolean {
  return (
    known.readInt32LE(8) === bytes.readInt32LE(at + 8) &&
    known.readInt32LE(4) === bytes.readInt32LE(at + 4) &&
    known.readInt32LE(0) === bytes.readInt32LE(at)
  );
}

/** The row that begins at `at` of an answer to `rows.sql` in COPY's binary format, and where it ends. */
export function storedRow(bytes: Buffer, at: number, names: StrandNames): StoredRow & { readonly end: number } {
  return new Row(bytes, at, names);
}

/** The rows of an answer to `rows.sql` in COPY's binary format, in its order. */
export function storedRows(bytes: Buffer): readonly StoredRow[] {
  const rows: StoredRow[] = [];
  const names = new StrandNames();
  let at = firstRow(bytes);
  while (!isEnd(bytes, at)) {
    const row = new Row(bytes, at, names);
    rows.push(row);
    at = row.end;
  }
  return rows;
}

class Row implements StoredRow {
  readonly strand: string;
  readonly sequence: number;
  readonly callId: Buffer;
  readonly at: number;
  readonly organization: string;
  readonly workload: string;
  readonly cost: string;
  readonly text: Buffer;
  readonly link: Buffer;
  readonly superseded: boolean;
  readonly end: number;
  readonly #bytes: Buffer;
  readonly #begin: number;

  constructor(bytes: Buffer, begin: number, names: StrandNames) {
    this.#bytes = bytes;
    this.#begin = begin;
    // After the number of values; before each, its length: 16 bytes of two UUIDs, 8 of three numbers, 1 of a truth.
    this.callId = bytes.subarray(begin + 6, begin + 22);
    this.strand = names.textOf(bytes, begin + 26);
    this.sequence = bytes.readInt32BE(begin + 46) * HIGH + bytes.readUInt32BE(begin + 50);
    this.at = instantOf(bytes.readInt32BE(begin + 58), bytes.readUInt32BE(begin + 62));
    this.cost = decimalOf(bytes, begin + 70);
    this.superseded = bytes[begin + 82] === 1;
    let from = begin + 83;
    let until = from + 4 + bytes.readInt32BE(from);
    this.organization = bytes.toString('utf8', from + 4, until);
    until = (from = until) + 4 + bytes.readInt32BE(from);
    this.workload = bytes.toString('utf8', from + 4, until);
    until = (from = until) + 4 + bytes.readInt32BE(from);
    this.link = bytes.subarray(from + 4, until);
    until = (from = until) + 4 + bytes.readInt32BE(from);
    this.text = bytes.subarray(from + 4, until);
    this.end = until;
  }

  kept(): StoredRow {
    return new Row(Buffer.from(this.#bytes.subarray(this.#begin, this.end)), 0, new StrandNames());
  }

  sealed(): SealedRow {
    const { strand, sequence, at, organization, workload } = this;
    return {
      strand,
      sequence,
      callId: uuidText(this.callId, 0),
      at,
      organization,
      workload,
      cost: BigInt(this.cost),
      row: this.text.toString(),
      link: this.link.toString('hex'),
      ...(this.superseded && { superseded: true as const }),
    };
  }
}

function uuidText(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Milliseconds since the epoch, of microseconds since 2000 in two halves. */
function instantOf(high: number, low: number): number {
  if (high === LATEST && low === HIGH - 1) return Infinity;
  if (high === EARLIEST && low === 0) return -Infinity;
  return (high * HIGH + low + EPOCH_2000_MICROS) / 1000;
}

function decimalOf(bytes: Buffer, at: number): string {
  const number = bytes.readInt32BE(at) * HIGH + bytes.readUInt32BE(at + 4);
  return Number.isSafeInteger(number) ? String(number) : bytes.readBigInt64BE(at).toString();
}
