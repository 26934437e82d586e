import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { genesis, link } from '#/seal/chain.ts';
import { all, hex, placeOf, type Change } from './tamper-places.ts';
import { editCarried, editCheckpoint, editHead, editWithheld } from './tamper-checkpoints.ts';
import { editText } from '../contract/ledger-rows.ts';
import { deleteEntry, editCreditHead, editEntry, insertEntry, rewriteEntries, swapEntries } from './tamper-credit.ts';
import type { Chance } from './tamper-world.ts';

interface Row {
  readonly call_id: string;
  readonly strand: string;
  readonly sequence: bigint;
  readonly at: Date;
  readonly organization: string;
  readonly workload: string;
  readonly cost_nano_eur: bigint;
  readonly row_text: string;
  readonly link: string;
}

async function randomRow(db: PoolClient, chance: Chance, table = 'audit_rows'): Promise<Row> {
  return chance.one(await all<Row>(db, `SELECT * FROM ${table} ORDER BY strand, sequence`));
}

/** A new value of a column, of the same type. */
function edited(row: Row, column: keyof Row, chance: Chance): unknown {
  switch (column) {
    case 'call_id':
      return chance.callId();
    case 'strand':
      return chance.below(2) ? randomUUID() : row.strand.replace(/.$/, String(1 + chance.below(4)));
    case 'sequence':
      return 1n + BigInt(chance.below(130));
    case 'at':
      return new Date(row.at.getTime() + 1 + chance.below(1e9));
    case 'organization':
    case 'workload':
    case 'row_text':
      return chance.character(row[column]);
    case 'cost_nano_eur':
      return row.cost_nano_eur + 1n + BigInt(chance.below(1e6));
    case 'link':
      return hex(chance.digit(row.link));
  }
}

const COLUMNS: readonly (keyof Row)[] = [
  'call_id',
  'strand',
  'sequence',
  'at',
  'organization',
  'workload',
  'cost_nano_eur',
  'row_text',
  'row_text',
  'link',
];

const editRow =
  (table: string): Change =>
  async (db, chance) => {
    const row = await randomRow(db, chance, table);
    const column = chance.one(COLUMNS);
    const value = edited(row, column, chance);
    if (value === row[column]) return undefined;
    await db.query(`UPDATE ${table} SET ${column} = $1 WHERE strand = $2 AND sequence = $3`, [
      value,
      row.strand,
      row.sequence,
    ]);
    return [
      placeOf(row),
      placeOf({
        ...row,
        ...(column === 'strand' && { strand: String(value) }),
        ...(column === 'sequence' && { sequence: value as bigint }),
      }),
    ];
  };

const deleteRow =
  (table: string): Change =>
  async (db, chance) => {
    const row = await randomRow(db, chance, table);
    await db.query(`DELETE FROM ${table} WHERE call_id = $1`, [row.call_id]);
    return [placeOf(row)];
  };

async function insert(db: PoolClient, table: string, row: Row): Promise<void> {
  const { call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link: at64 } = row;
  await db.query(
    `INSERT INTO ${table} (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, hex(at64)],
  );
}

/** A row with a text that fits its columns, in canonical form, linked to whatever it is put after. */
function forged(row: Row, strand: string, sequence: bigint, before: string, chance: Chance): Row {
  const call_id = chance.callId();
  const text = editText(row.row_text, { call_id, strand, sequence: Number(sequence) });
  return { ...row, call_id, strand, sequence, row_text: text, link: link(before, text) };
}

const insertRow: Change = async (db, chance) => {
  const row = await randomRow(db, chance);
  const [before] = await all<Row>(db, 'SELECT * FROM audit_rows WHERE strand = $1 AND sequence = $2', [
    row.strand,
    row.sequence - 1n,
  ]);
  const fake = forged(row, row.strand, row.sequence, before?.link ?? genesis(row.strand), chance);
  await insert(db, chance.below(4) === 0 ? 'audit_superseded' : 'audit_rows', fake);
  return [placeOf(fake)];
};

/** Nothing but the sums can tell one that is linked to the end of a strand from the next genuine row. */
const insertAtEnd: Change = async (db, chance) => {
  const row = await randomRow(db, chance);
  const [last] = await all<Row>(db, 'SELECT * FROM audit_rows WHERE strand = $1 ORDER BY sequence DESC LIMIT 1', [
    row.strand,
  ]);
  const fresh = chance.below(2) === 0;
  const strand = fresh ? randomUUID() : row.strand;
  const sequence = fresh ? 1n : last!.sequence + 1n;
  await insert(db, 'audit_rows', forged(row, strand, sequence, fresh ? genesis(strand) : last!.link, chance));
  return [{ workload: row.workload }];
};

const insertBelowCut: Change = async (db, chance) => {
  const row = await randomRow(db, chance);
  const sequence = 1n + BigInt(chance.below(20));
  await insert(db, 'audit_rows', forged(row, row.strand, sequence, genesis(row.strand), chance));
  return [{ strand: row.strand, sequence: Number(sequence) }];
};

const swapRows: Change = async (db, chance) => {
  const a = await randomRow(db, chance);
  const b = await randomRow(db, chance);
  if (a.call_id === b.call_id) return undefined;
  const columns = chance.one(['strand, sequence', 'row_text', 'row_text, link', 'link']);
  const other = `SELECT ${columns} FROM audit_rows WHERE call_id = CASE swapped.call_id WHEN $1::uuid THEN $2::uuid ELSE $1::uuid END`;
  await db.query(
    `UPDATE audit_rows AS swapped SET (${columns}) = (${other}) WHERE call_id = ANY (ARRAY[$1, $2]::uuid[])`,
    [a.call_id, b.call_id],
  );
  return [placeOf(a), placeOf(b)];
};

const cutOffEnd: Change = async (db, chance) => {
  const row = await randomRow(db, chance);
  await db.query('DELETE FROM audit_rows WHERE strand = $1 AND sequence >= $2', [row.strand, row.sequence]);
  return [placeOf(row)];
};

const dropPartition: Change = async (db, chance) => {
  const name = chance.one(['audit_rows_2026_08', 'audit_rows_2026_09', 'audit_rows_2026_10']);
  const rows = await all<Row>(db, `SELECT * FROM ${name} ORDER BY strand, sequence`);
  await db.query(`DROP TABLE ${name}`);
  return rows.map((row) => placeOf(row));
};

/** A row of the month before last made to look as if retention had dropped it. */
const passOffAsDropped: Change = async (db, chance) => {
  const row = await randomRow(db, chance);
  await db.query(
    `INSERT INTO audit_withheld SELECT strand, sequence, sha256(convert_to(row_text, 'UTF8')), link FROM audit_rows WHERE call_id = $1`,
    [row.call_id],
  );
  await db.query('DELETE FROM audit_rows WHERE call_id = $1', [row.call_id]);
  return [placeOf(row)];
};

const editSum: Change = async (db, chance) => {
  const rows = await all<{ readonly workload: string }>(db, 'SELECT DISTINCT workload FROM audit_spend ORDER BY 1');
  const { workload } = chance.one(rows);
  const where = 'WHERE ctid = (SELECT ctid FROM audit_spend WHERE workload = $1 AND cost_nano_eur > 0 LIMIT 1)';
  const kind = chance.below(3);
  if (kind === 2) await db.query(`UPDATE audit_spend SET quarter = quarter + interval '40 days' ${where}`, [workload]);
  else if (kind === 1) await db.query(`DELETE FROM audit_spend ${where}`, [workload]);
  else await db.query(`UPDATE audit_spend SET cost_nano_eur = cost_nano_eur + 1 ${where}`, [workload]);
  return [{ workload }];
};

/** Every kind of change, by name; those that matter most more than once. */
export const CHANGES: readonly (readonly [string, Change])[] = [
  ['a row edited', editRow('audit_rows')],
  ['a row edited', editRow('audit_rows')],
  ['a row edited', editRow('audit_rows')],
  ['a row deleted', deleteRow('audit_rows')],
  ['a row inserted', insertRow],
  ['a row put at an end', insertAtEnd],
  ['a dropped row put back', insertBelowCut],
  ['two rows swapped', swapRows],
  ['an end cut off', cutOffEnd],
  ['a partition dropped', dropPartition],
  ['a superseded row edited', editRow('audit_superseded')],
  ['a superseded row deleted', deleteRow('audit_superseded')],
  ['a checkpoint edited', editCheckpoint],
  ['a checkpoint edited', editCheckpoint],
  ['a head edited', editHead('checkpoint_heads')],
  ['a cut edited', editHead('checkpoint_cuts')],
  ['a carried sum edited', editCarried],
  ['a kept hash edited', editWithheld],
  ['a row passed off as dropped', passOffAsDropped],
  ['a sum edited', editSum],
  ['a credit entry edited', editEntry],
  ['a credit entry edited', editEntry],
  ['a credit entry deleted', deleteEntry],
  ['a credit entry inserted', insertEntry],
  ['two credit entries swapped', swapEntries],
  ['credit entries written anew', rewriteEntries],
  ['a credit head edited', editCreditHead],
];
