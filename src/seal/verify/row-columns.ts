import type { StoredRow } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { readPlainRowText, timeText, type RowFacts } from '../row-text.ts';

const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const HYPHEN = '-'.charCodeAt(0);

/**
 * Whether the text of a row is canonical and agrees with its columns. Also false where a quick look is not
 * enough: if the text has escapes, or a time is not a whole millisecond.
 */
export function agreesAtAGlance(row: StoredRow): boolean {
  // One character per byte: the compared values are ASCII, and elsewhere any valid UTF-8 is fine.
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

/** Whether the columns of a row say what its text says. */
export function agrees(row: SealedRow, facts: RowFacts): boolean {
  return (
    row.callId === facts.callId &&
    row.strand === facts.strand &&
    row.sequence === facts.sequence &&
    row.organization === facts.organization &&
    row.workload === facts.workload &&
    row.cost.toString() === facts.cost &&
    row.at === Date.parse(facts.at)
  );
}

/** The columns of a row that do not say what its text says, as `cost (stored 5, sealed 7), …`; empty when all do. */
export function differences(row: SealedRow, facts: RowFacts): string {
  const pairs: readonly (readonly [string, string | number, string | number])[] = [
    ['call_id', row.callId, facts.callId],
    ['strand', row.strand, facts.strand],
    ['sequence', row.sequence, facts.sequence],
    ['organization', row.organization, facts.organization],
    ['workload', row.workload, facts.workload],
    ['cost', row.cost.toString(), facts.cost],
  ];
  const found = pairs.filter(([, stored, sealed]) => stored !== sealed);
  const at = Date.parse(facts.at) === row.at ? [] : [['at', storedTime(row.at), facts.at] as const];
  return [...found, ...at].map(([name, stored, sealed]) => `${name} (stored ${stored}, sealed ${sealed})`).join(', ');
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

function storedTime(at: number): string {
  return Number.isInteger(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : `${at} ms`;
}
