import { randomUUID } from 'node:crypto';
import { all, hex, placeOf, type Change } from './tamper-places.ts';

interface HeadRow {
  readonly checkpoint: bigint;
  readonly strand: string;
  readonly sequence: bigint;
  readonly link: string;
  /** Of cuts. */
  readonly withheld?: string;
}

/** A head or a cut, which have the same columns but for one. */
export const editHead =
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
        await db.query(`UPDATE ${table} SET sequence = $3 ${where}`, [
          ...key,
          row.sequence + 1n + BigInt(chance.below(9)),
        ]);
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

/** Any column of a checkpoint, or all of it. */
export const editCheckpoint: Change = async (db, chance) => {
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

/** A carried sum. */
export const editCarried: Change = async (db, chance) => {
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
      await db.query(`UPDATE checkpoint_carried SET cost_nano_eur = cost_nano_eur + $3 ${where}`, [
        ...key,
        1 + chance.below(1000),
      ]);
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

/** The kept hash of a dropped row. */
export const editWithheld: Change = async (db, chance) => {
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
