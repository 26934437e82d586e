import { parseArgs } from 'node:util';
import { migrate as bringUpToDate } from '#adapters/postgres/migrate.ts';
import { createPool } from '#adapters/postgres/pool.ts';
import type { Output } from './output.ts';
import { UsageError } from './usage-error.ts';

export const MIGRATE_HELP = `gwctl migrate [--database-url URL]

Brings the schema of the database up to date. Gateways do the same when they start; this is for those that may not, and
for doing it before the first of them starts. Safe while gateways run, and as often as one likes.

  --database-url URL   The gateway's PostgreSQL (default: DATABASE_URL)
`;

/** Migrates. Returns the exit status, 0. Throws when the database cannot be reached or is not of our making. */
export async function migrate(
  args: readonly string[],
  databaseUrl: string | undefined,
  { out }: Output,
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { 'database-url': { type: 'string' } } });
  const connectionString = values['database-url'] ?? databaseUrl;
  if (connectionString === undefined) throw new UsageError('give --database-url, or set DATABASE_URL');
  if (!/^postgres(ql)?:\/\//.test(connectionString)) throw new UsageError('--database-url takes a postgres:// URL');
  const pool = createPool({ connectionString, maxConnections: 1 });
  try {
    await bringUpToDate(pool);
  } finally {
    await pool.end();
  }
  out('the schema is up to date');
  return 0;
}
