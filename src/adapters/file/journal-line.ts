import { crc32 } from 'node:zlib';
import type { SealedRow } from '#/ports/ledger.ts';
import type { Settlement } from '#/ports/limit-counters.ts';
import type { JournaledRow } from '#/ports/row-journal.ts';
import type { AuditRow } from '#/seal/row.ts';

/** Fields of a settlement that its row does not have. */
type Settled = Readonly<Record<Exclude<keyof Settlement, 'callId' | 'organization'>, string | number>>;

const NO_SETTLEMENT = '-';

/** One row as a line: CRC-32 of all that follows, link, settlement, and the row's text, which has no line feeds. */
export function journalLine({ row, settlement }: JournaledRow): string {
  const settled: Settled | undefined = settlement && { cost: String(settlement.cost), tokens: settlement.tokens };
  const rest = `${row.link} ${settled ? JSON.stringify(settled) : NO_SETTLEMENT} ${row.row}`;
  return `${checksum(rest)} ${rest}\n`;
}

/** Reads a line without its line feed; undefined when it is not as it was written. */
export function readJournalLine(line: string): JournaledRow | undefined {
  const rest = line.slice(9);
  if (line.slice(0, 9) !== `${checksum(rest)} `) return undefined;
  const afterLink = rest.indexOf(' ');
  const afterSettlement = rest.indexOf(' ', afterLink + 1);
  const row = rowOf(rest.slice(afterSettlement + 1), rest.slice(0, afterLink));
  const settled = rest.slice(afterLink + 1, afterSettlement);
  return { row, settlement: settled === NO_SETTLEMENT ? undefined : settlementOf(row, JSON.parse(settled) as Settled) };
}

function rowOf(text: string, link: string): SealedRow {
  const row = JSON.parse(text) as AuditRow;
  const { strand, sequence, organization, workload } = row;
  const [callId, at, cost] = [row.call_id, Date.parse(row.at), BigInt(row.cost_nano_eur)];
  return { strand, sequence, callId, at, organization, workload, cost, row: text, link };
}

function settlementOf({ callId, organization }: SealedRow, { cost, tokens }: Settled): Settlement {
  return { callId, organization, cost: BigInt(cost), tokens: Number(tokens) };
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
