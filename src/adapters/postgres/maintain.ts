import type { Pool } from 'pg';
import { withSchemaLock } from './migrate.ts';
import { query, STATEMENTS } from './statements.ts';
import { foldUsage } from './usage.ts';

const MONTHS_AHEAD = 2;
/** How long sums are kept by quarter of an hour: for longer than any month that a budget is cut by. */
const QUARTERS_KEPT_MS = 70 * 24 * 60 * 60 * 1000;

/** See `PostgresLedger.maintain`. Each step on its own: none keeps another's locks. */
export async function maintain(pool: Pool, now: number): Promise<readonly string[]> {
  const made: string[] = [];
  await withSchemaLock(pool, async (client) => {
    const values = [new Date(now).toISOString(), MONTHS_AHEAD];
    const { rows } = await client.query<{ month: string; added: boolean }>(query(STATEMENTS.addPartitions, values));
    made.push(...rows.filter((row) => row.added).map((row) => row.month));
  });
  await withSchemaLock(pool, async (client) => {
    await client.query(query(STATEMENTS.foldSpend, [new Date(now - QUARTERS_KEPT_MS).toISOString()]));
  });
  await withSchemaLock(pool, (client) => foldUsage(client, now));
  return made;
}
