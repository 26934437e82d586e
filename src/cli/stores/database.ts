import { reachEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Where the database is when the command line does not say. */
export interface DatabaseDefaults {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/** A database that can be connected to until it is disposed of. */
export interface Database extends AsyncDisposable {
  readonly connectionString: string;
}

/**
 * The database of a gateway: `url` (of `--database-url`), or the embedded one in `dataDir` (of `--data-dir`), running or
 * not; else by default. Throws UsageError, or when an embedded one cannot be reached.
 */
export async function databaseOf(
  url: string | undefined,
  dataDir: string | undefined,
  defaults: DatabaseDefaults,
): Promise<Database> {
  if (url !== undefined && dataDir !== undefined) throw new UsageError('give --database-url or --data-dir, not both');
  if (url !== undefined && !/^postgres(ql)?:\/\//.test(url))
    throw new UsageError('--database-url takes a postgres:// URL');
  const connectionString = url ?? (dataDir === undefined ? defaults.databaseUrl : undefined);
  if (connectionString !== undefined) return { connectionString, [Symbol.asyncDispose]: () => Promise.resolve() };
  const embedded = await reachEmbeddedPostgres({ dataDir: dataDir ?? defaults.dataDir });
  return { connectionString: embedded.connectionString, [Symbol.asyncDispose]: () => embedded.close() };
}
