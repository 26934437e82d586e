import type { StoredRow } from '#/ports/evidence.ts';
import { readPlainRowText } from '../row-text.ts';

const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const HYPHEN = '-'.charCodeAt(0);

/**
 * Whether the text of a row is canonical and says what the columns beside it say. False also where that is not seen at a
 * glance: where the text has escapes, or a time is not a whole millisecond.
 */
export function saysTheSame(row: StoredRow): boolean {
  // A character a byte: what is compared is ASCII, and elsewhere any valid UTF-8 is as good as any other.
  const facts = readPlainRowText(row.text.toString('latin1'));
  return (
    facts !== undefined &&
    facts.sequence === row.sequence &&
    facts.strand === row.strand &&
    facts.organization === row.organization &&
    facts.workload === row.workload &&
    facts.cost === row.cost &&
    facts.at === timeText(row.at) &&
    isUuid(facts.callId, row.callId)
  );
}

/** Whether the text is these 16 bytes, as PostgreSQL writes a UUID. */
export function isUuid(text: string, bytes: Uint8Array): boolean {
  if (text.length !== 36) return false;
  for (let index = 0, at = 0; index < 16; index++) {
    if ((index === 4 || index === 6 || index === 8 || index === 10) && text.charCodeAt(at++) !== HYPHEN) return false;
    const byte = bytes[index]!;
    if (text.charCodeAt(at++) !== DIGITS[byte >> 4] || text.charCodeAt(at++) !== DIGITS[byte & 15]) return false;
  }
  return true;
}

let knownDay = Number.NaN;
let knownDate = '';

/** RFC 3339 as `toISOString` writes it; undefined where it is not a whole millisecond of a year with four digits. */
export function timeText(at: number): string | undefined {
  const day = Math.floor(at / DAY_MS);
  if (day !== knownDay) {
    if (!(Math.abs(at) <= 8.64e15)) return undefined;
    knownDate = new Date(day * DAY_MS).toISOString().slice(0, -13);
    knownDay = day;
  }
  let rest = at - day * DAY_MS;
  const thousandths = rest % 1_000;
  if (!Number.isInteger(thousandths)) return undefined;
  rest = (rest - thousandths) / 1_000;
  const minutes = Math.floor(rest / 60);
  const hour = TWO[Math.floor(minutes / 60)]!;
  return `${knownDate}${hour}:${TWO[minutes % 60]!}:${TWO[rest % 60]!}.${THREE[thousandths]!}Z`;
}
