import { parseArgs } from 'node:util';
import { grantTo } from '#/adapters/postgres/grants.ts';
import { maintain } from '#/adapters/postgres/maintain.ts';
import { migrate as bringUpToDate } from '#/adapters/postgres/migrate.ts';
import { createPool } from '#/adapters/postgres/pool.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const MIGRATE_HELP = `gwctl migrate [--grant-to ROLE] [--database-url URL]

Updates the schema of the database and creates the partitions of this month and the next two. Gateways do the same when they
start: run this where they may not change the schema, or before the first one starts. It is safe to run at any time, also
while gateways run.

  --grant-to ROLE      Grants an existing role exactly what gateways need: to add to the ledger and create its months, not
                       to change or drop rows. Fails when the role already has more rights
  --database-url URL   The gateway's PostgreSQL, as the owner of the schema (default: DATABASE_URL)
`;

/** Migrates. Returns the exit status, 0. Throws when the database cannot be reached or is not of our making. */
export async function migrate(
  args: readonly string[],
  databaseUrl: string | undefined,
  { out }: Output,
): Promise<number> {
  const options = { 'database-url': { type: 'string' }, 'grant-to': { type: 'string' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const connectionString = values['database-url'] ?? databaseUrl;
  const role = values['grant-to'];
  if (connectionString === undefined) throw new UsageError('give --database-url, or set DATABASE_URL');
  if (!/^postgres(ql)?:\/\//.test(connectionString)) throw new UsageError('--database-url takes a postgres:// URL');
  if (role === '') throw new UsageError('--grant-to takes the name of a role');
  const pool = createPool({ connectionString, maxConnections: 1 });
  try {
    await bringUpToDate(pool);
    await maintain(pool, Date.now());
    if (role !== undefined) await grantTo(pool, role);
  } finally {
    await pool.end();
  }
  out('the schema is up to date');
  if (role !== undefined) out(`${role} may run gateways`);
  return 0;
}
