import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { genesis, link } from '#seal/chain.ts';
import type { Findings } from '../../src/cli/audit-report.ts';
import { editText } from '../contract/ledger-rows.ts';
import type { Chance } from './tamper-world.ts';

/** Where a change was made: whoever looks for it has to be led to one of these places. */
export type Place =
  | { readonly strand: string; readonly sequence: number }
  | { readonly checkpoint: number }
  | { readonly workload: string };

/** Makes one change in the open transaction. Undefined where chance chose one that changes nothing. */
export type Change = (db: PoolClient, chance: Chance) => Promise<readonly Place[] | undefined>;

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

async function all<T extends object>(db: PoolClient, sql: string, values: readonly unknown[] = []): Promise<T[]> {
  return (await db.query<T>(sql, [...values])).rows;
}

async function randomRow(db: PoolClient, chance: Chance, table = 'audit_rows'): Promise<Row> {
  return chance.one(await all<Row>(db, `SELECT * FROM ${table} ORDER BY strand, sequence`));
}

const placeOf = ({ strand, sequence }: Pick<Row, 'strand' | 'sequence'>, by = 0): Place => {
  return { strand, sequence: Number(sequence) + by };
};

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

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
    return [placeOf(row), placeOf({ ...row, ...(column === 'strand' && { strand: String(value) }), ...(column === 'sequence' && { sequence: value as bigint }) })];
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
  await db.query(`UPDATE audit_rows AS swapped SET (${columns}) = (${other}) WHERE call_id = ANY (ARRAY[$1, $2]::uuid[])`, [
    a.call_id,
    b.call_id,
  ]);
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

interface HeadRow {
  readonly checkpoint: bigint;
  readonly strand: string;
  readonly sequence: bigint;
  readonly link: string;
  /** Of cuts. */
  readonly withheld?: string;
}

/** Of heads and cuts, which have the same columns, one of which says more. */
const editHead =
  (table: 'checkpoint_heads' | 'checkpoint_cuts'): Change =>
  async (db, chance) => {
    const row = chance.one(await all<HeadRow>(db, `SELECT * FROM ${table} ORDER BY checkpoint, strand`));
    const where = 'WHERE checkpoint = $1 AND strand = $2';
    const key = [row.checkpoint, row.strand];
    const number = { checkpoint: Number(row.checkpoint) };
    switch (chance.below(table === 'checkpoint_cuts' ? 7 : 6)) {
      case 0:
        await db.query(`DELETE FROM ${table} ${where}`, key);
        return [number];
      case 1:
        await db.query(`UPDATE ${table} SET sequence = $3 ${where}`, [...key, row.sequence + 1n + BigInt(chance.below(9))]);
        return [number];
      case 2:
        await db.query(`UPDATE ${table} SET link = $3 ${where}`, [...key, hex(chance.digit(row.link))]);
        return [number];
      case 3:
        await db.query(`UPDATE ${table} SET strand = $3 ${where}`, [...key, randomUUID()]);
        return [number];
      case 4: {
        const to = row.checkpoint === 1n ? 2n : 1n;
        await db.query(`DELETE FROM ${table} WHERE checkpoint = $1 AND strand = $2`, [to, row.strand]);
        await db.query(`UPDATE ${table} SET checkpoint = $3 ${where}`, [...key, to]);
        return [number, { checkpoint: Number(to) }];
      }
      case 5: {
        const columns = table === 'checkpoint_cuts' ? ', withheld' : '';
        await db.query(
          `INSERT INTO ${table} SELECT checkpoint, $3::uuid, sequence, link${columns} FROM ${table} ${where}`,
          [...key, randomUUID()],
        );
        return [number];
      }
      default: {
        const ranges = chance.one(['[[27,29]]', '[]', '[[1,2]', '[[27,27],[31,32]]']);
        if (ranges === row.withheld) return undefined;
        await db.query(`UPDATE ${table} SET withheld = $3 ${where}`, [...key, ranges]);
        return [number];
      }
    }
  };

interface CheckpointRow {
  readonly number: bigint;
  readonly statement: string;
  readonly key: string;
  readonly signature: string;
}

const editCheckpoint: Change = async (db, chance) => {
  const rows = await all<CheckpointRow>(db, 'SELECT * FROM checkpoints ORDER BY number');
  const row = chance.one(rows);
  const places = [{ checkpoint: Number(row.number) }, { checkpoint: Number(row.number) + 1 }];
  const set = (column: string, value: unknown): Promise<unknown> =>
    db.query(`UPDATE checkpoints SET ${column} = $2 WHERE number = $1`, [row.number, value]);
  switch (chance.below(5)) {
    case 0:
      await set('statement', chance.character(row.statement));
      return places;
    case 1:
      await set('key', chance.digit(row.key));
      return places;
    case 2:
      await set('signature', hex(chance.digit(row.signature)));
      return places;
    case 3: {
      const number = rows.length + 2 + chance.below(9);
      await set('number', number);
      return [...places, { checkpoint: number }];
    }
    default:
      await db.query('DELETE FROM checkpoints WHERE number = $1', [row.number]);
      // The last one: then it is the copy elsewhere that tells.
      return [...places, { checkpoint: rows.length - 1 }];
  }
};

const editCarried: Change = async (db, chance) => {
  interface Carried {
    readonly checkpoint: bigint;
    readonly organization: string;
    readonly workload: string;
    readonly salt: string;
  }
  const row = chance.one(await all<Carried>(db, 'SELECT * FROM checkpoint_carried ORDER BY organization, workload'));
  const where = 'WHERE organization = $1 AND workload = $2';
  const key = [row.organization, row.workload];
  const places = [{ checkpoint: Number(row.checkpoint) }];
  switch (chance.below(5)) {
    case 0:
      await db.query(`DELETE FROM checkpoint_carried ${where}`, key);
      return places;
    case 1:
      await db.query(`UPDATE checkpoint_carried SET cost_nano_eur = cost_nano_eur + $3 ${where}`, [...key, 1 + chance.below(1000)]);
      return places;
    case 2:
      await db.query(`UPDATE checkpoint_carried SET calls = calls + 1 ${where}`, key);
      return places;
    case 3:
      await db.query(`UPDATE checkpoint_carried SET salt = $3 ${where}`, [...key, hex(chance.digit(row.salt))]);
      return places;
    default:
      await db.query(`UPDATE checkpoint_carried SET workload = $3 ${where}`, [...key, chance.character(row.workload)]);
      return places;
  }
};

const editWithheld: Change = async (db, chance) => {
  interface Hash {
    readonly strand: string;
    readonly sequence: bigint;
    readonly row_hash: string;
    readonly link: string;
  }
  const row = chance.one(await all<Hash>(db, 'SELECT * FROM audit_withheld ORDER BY strand, sequence'));
  const where = 'WHERE strand = $1 AND sequence = $2';
  const key = [row.strand, row.sequence];
  switch (chance.below(5)) {
    case 0:
      await db.query(`DELETE FROM audit_withheld ${where}`, key);
      return [placeOf(row)];
    case 1:
      await db.query(`UPDATE audit_withheld SET row_hash = $3 ${where}`, [...key, hex(chance.digit(row.row_hash))]);
      return [placeOf(row)];
    case 2:
      await db.query(`UPDATE audit_withheld SET link = $3 ${where}`, [...key, hex(chance.digit(row.link))]);
      return [placeOf(row)];
    case 3:
      await db.query(`UPDATE audit_withheld SET sequence = $3 ${where}`, [...key, row.sequence + 100n]);
      return [placeOf(row), placeOf(row, 100)];
    default: {
      const sequence = BigInt(1 + chance.below(150));
      const { rowCount } = await db.query(
        'INSERT INTO audit_withheld SELECT strand, $3, row_hash, link FROM audit_withheld WHERE strand = $1 AND sequence = $2 ON CONFLICT DO NOTHING',
        [...key, sequence],
      );
      return rowCount === 0 ? undefined : [placeOf({ strand: row.strand, sequence })];
    }
  }
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
  if (chance.below(2)) await db.query(`DELETE FROM audit_spend ${where}`, [workload]);
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
];

/** Whether a report leads to one of the places. */
export function locates({ rows, checkpoints, sums }: Findings, places: readonly Place[]): boolean {
  return places.some((place) => {
    if ('checkpoint' in place) return checkpoints.fault?.number === place.checkpoint;
    if ('workload' in place) return sums.some(({ workload }) => workload === place.workload);
    return rows.faults.some(
      ({ strand, sequence, missing }) =>
        strand === place.strand &&
        place.sequence >= (missing?.from ?? sequence) &&
        place.sequence <= (missing?.to ?? sequence),
    );
  });
}
