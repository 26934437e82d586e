import { createHash, randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { all, hex, type Change, type Place } from './tamper-places.ts';
import type { Chance } from './tamper-world.ts';

interface Entry {
  readonly organization: string;
  readonly number: bigint;
  readonly amount_nano_eur: bigint;
  readonly sum_nano_eur: bigint;
  readonly reference: string;
  readonly note: string;
  readonly actor: string;
  readonly salt: string;
  readonly link: string;
}

const WHERE = 'WHERE organization = $1 AND number = $2';
const place = ({ organization, number }: Pick<Entry, 'organization' | 'number'>): Place => ({
  organization,
  entry: Number(number),
});

async function randomEntry(db: PoolClient, chance: Chance): Promise<Entry> {
  return chance.one(await all<Entry>(db, 'SELECT * FROM credit_entries ORDER BY organization, number'));
}

/** Any column of an entry. */
export const editEntry: Change = async (db, chance) => {
  const row = await randomEntry(db, chance);
  const key = [row.organization, row.number];
  const set = async (column: string, value: unknown, ...more: Place[]): Promise<readonly Place[]> => {
    await db.query(`UPDATE credit_entries SET ${column} = $3 ${WHERE}`, [...key, value]);
    return [place(row), ...more];
  };
  switch (chance.below(10)) {
    case 0:
      return set('amount_nano_eur', row.amount_nano_eur + 1n + BigInt(chance.below(1e9)));
    case 1:
      return set('sum_nano_eur', row.sum_nano_eur + 1n + BigInt(chance.below(1e9)));
    case 2:
      return set('reference', chance.character(row.reference));
    case 3:
      return set('note', chance.character(row.note));
    case 4:
      return set('actor', chance.character(row.actor));
    case 5:
      return set('salt', randomUUID());
    case 6:
      return set('link', hex(chance.digit(row.link)));
    case 7: {
      const number = 20n + BigInt(chance.below(9));
      return set('number', number, place({ ...row, number }));
    }
    case 8: {
      await db.query(`UPDATE credit_entries SET at = at + interval '1 microsecond' ${WHERE}`, key);
      return [place(row)];
    }
    default: {
      await db.query(`UPDATE credit_entries SET adopted = NOT adopted ${WHERE}`, key);
      return [place(row)];
    }
  }
};

/** One entry, or all from one on. */
export const deleteEntry: Change = async (db, chance) => {
  const row = await randomEntry(db, chance);
  const where = chance.below(2) === 0 ? WHERE : WHERE.replace('number =', 'number >=');
  await db.query(`DELETE FROM credit_entries ${where}`, [row.organization, row.number]);
  return [place(row)];
};

/** An entry that says whatever it likes, in another's place or at the end, with or without a link of its own. */
export const insertEntry: Change = async (db, chance) => {
  const row = await randomEntry(db, chance);
  const { organization } = row;
  const last = await all<{ readonly number: bigint }>(
    db,
    'SELECT max(number) AS number FROM credit_entries WHERE organization = $1',
    [organization],
  );
  const atEnd = chance.below(2) === 0;
  const number = atEnd ? last[0]!.number + 1n : row.number;
  if (!atEnd)
    await db.query('UPDATE credit_entries SET number = number + 100 WHERE organization = $1 AND number >= $2', [
      organization,
      number,
    ]);
  await db.query(
    `INSERT INTO credit_entries (organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor, adopted, link)
     VALUES ($1, $2, 1000, $3, $4, 'n', 'mallory', false, $5)`,
    [organization, number, row.sum_nano_eur + 1000n, randomUUID(), hex(chance.digit(row.link))],
  );
  return [place({ organization, number })];
};

export const swapEntries: Change = async (db, chance) => {
  const a = await randomEntry(db, chance);
  const [b] = await all<Entry>(
    db,
    'SELECT * FROM credit_entries WHERE organization = $1 AND number <> $2 ORDER BY number LIMIT 1',
    [a.organization, a.number],
  );
  if (!b) return undefined;
  const move = (from: bigint, to: bigint): Promise<unknown> =>
    db.query(`UPDATE credit_entries SET number = $3 ${WHERE}`, [a.organization, from, to]);
  await move(a.number, 1_000n);
  await move(b.number, a.number);
  await move(1_000n, b.number);
  return [place(a), place(b)];
};

/** Money given, and everything after it made to fit, sums and links: as the database's own function writes them. */
export const rewriteEntries: Change = async (db, chance) => {
  const row = await randomEntry(db, chance);
  const { organization } = row;
  const given = 1n + BigInt(chance.below(1e9));
  await db.query(`UPDATE credit_entries SET amount_nano_eur = amount_nano_eur + $3 ${WHERE}`, [
    organization,
    row.number,
    given,
  ]);
  const later = await all<Entry>(
    db,
    'SELECT * FROM credit_entries WHERE organization = $1 AND number >= $2 ORDER BY number',
    [organization, row.number],
  );
  for (const { number, sum_nano_eur } of later) {
    await db.query(`UPDATE credit_entries SET sum_nano_eur = $3 ${WHERE}`, [
      organization,
      number,
      sum_nano_eur + given,
    ]);
    await db.query(`UPDATE credit_entries SET link = credit_entry_link(credit_entries) ${WHERE}`, [
      organization,
      number,
    ]);
  }
  return later.map(place);
};

/** What a checkpoint says of credit. */
export const editCreditHead: Change = async (db, chance) => {
  interface Head {
    readonly checkpoint: bigint;
    readonly organization: string;
    readonly number: bigint;
    readonly link: string;
  }
  const row = chance.one(await all<Head>(db, 'SELECT * FROM checkpoint_credit ORDER BY checkpoint, organization'));
  const where = 'WHERE checkpoint = $1 AND organization = $2';
  const key = [row.checkpoint, row.organization];
  switch (chance.below(4)) {
    case 0:
      await db.query(`DELETE FROM checkpoint_credit ${where}`, key);
      break;
    case 1:
      await db.query(`UPDATE checkpoint_credit SET number = number + 1 ${where}`, key);
      break;
    case 2:
      await db.query(`UPDATE checkpoint_credit SET link = $3 ${where}`, [...key, hex(chance.digit(row.link))]);
      break;
    default: {
      const other = createHash('sha256').update(row.organization).digest('hex').slice(0, 9);
      await db.query(`UPDATE checkpoint_credit SET organization = $3 ${where}`, [...key, other]);
    }
  }
  return [{ checkpoint: Number(row.checkpoint) }];
};
