import {
  CreditConflict,
  type CreditEntries,
  type CreditEntry,
  type CreditStanding,
  type NumberedEntry,
} from '#/ports/credit.ts';
import { arrayOf } from './array-parameter.ts';
import { openStore, type StoreOptions } from './migrate.ts';
import type { Connections } from './pool.ts';
import { query, STATEMENTS } from './statements.ts';
import { inTransaction } from './transaction.ts';

/** Credit entries in PostgreSQL. */
export interface PostgresCredit extends CreditEntries {
  close(): Promise<void>;
}

/** In addition to the connections of the ledger. */
const CONNECTIONS = 1;
const TIMEOUT_MS = 10_000;

/** Opens the entries and brings the schema up to date. Rejects when the database cannot be reached. */
export async function openPostgresCredit(options: StoreOptions): Promise<PostgresCredit> {
  const { connections: pool, close } = await openStore(options, CONNECTIONS);
  return {
    add: (entry) => add(pool, entry),
    list: async (organization) =>
      (await pool.query<EntryRow>(query(STATEMENTS.creditEntries, [organization], TIMEOUT_MS))).rows.map(entryOf),
    standings: (organizations) => standings(pool, organizations),
    close,
  };
}

interface EntryRow {
  readonly organization: string;
  readonly number: bigint;
  readonly amount_nano_eur: bigint;
  readonly sum_nano_eur: bigint;
  readonly reference: string;
  readonly note: string;
  readonly actor: string;
  /** Milliseconds since the epoch, as decimal text. */
  readonly at: string;
}

async function add(pool: Connections, entry: CreditEntry): Promise<{ entry: NumberedEntry; added: boolean }> {
  const { organization, amount, reference, note, actor } = entry;
  const { kept, added } = await inTransaction(pool, async (client) => {
    await client.query(query(STATEMENTS.lockCredit, [organization], TIMEOUT_MS));
    const values = [organization, amount, reference, note, actor];
    const { rowCount } = await client.query(query(STATEMENTS.addCredit, values, TIMEOUT_MS));
    const { rows } = await client.query<EntryRow>(query(STATEMENTS.findCredit, [organization, reference], TIMEOUT_MS));
    return { kept: entryOf(rows[0]!), added: rowCount === 1 };
  });
  if (kept.amount !== amount)
    throw new CreditConflict(
      `entry ${kept.number} of ${organization} already has this reference, with a different amount`,
    );
  return { entry: kept, added };
}

async function standings(
  pool: Connections,
  organizations: readonly string[],
): Promise<ReadonlyMap<string, CreditStanding>> {
  const { rows } = await pool.query<{
    readonly organization: string;
    readonly number: bigint;
    readonly sum_nano_eur: bigint;
    readonly paid_number: bigint | null;
    readonly paid_amount: bigint | null;
    /** Milliseconds since the epoch, as decimal text. */
    readonly paid_at: string | null;
  }>(query(STATEMENTS.creditStandings, [arrayOf('text', organizations)], TIMEOUT_MS));
  return new Map(
    rows.map(({ organization, number, sum_nano_eur: sum, paid_number: paid, paid_amount: amount, paid_at: at }) => [
      organization,
      {
        number: Number(number),
        sum,
        ...(paid !== null && amount !== null && { lastTopUp: { number: Number(paid), amount, at: Number(at) } }),
      },
    ]),
  );
}

function entryOf(row: EntryRow): NumberedEntry {
  const { organization, number, amount_nano_eur: amount, sum_nano_eur: sum, reference, note, actor, at } = row;
  return { organization, number: Number(number), amount, sum, reference, note, actor, at: Number(at) };
}
