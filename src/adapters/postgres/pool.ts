import pg from 'pg';

export interface PostgresOptions {
  /** `postgres://…`; the options beside it are used where it says nothing. */
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
  readonly ssl?: pg.PoolConfig['ssl'];
  /** 4 by default. */
  readonly maxConnections?: number;
}

const { builtins } = pg.types;

/** For this adapter's connections only: the process-wide parsers of `pg` stay as they are. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [builtins.INT8, BigInt],
  // Hex format: `\x` and the digits.
  [builtins.BYTEA, (text) => text.slice(2)],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    const standard = pg.types.getTypeParser(oid, format) as (text: string) => unknown;
    return format === 'binary' ? standard : (PARSERS.get(oid) ?? standard);
  },
};

/** A pool whose results hold int8 as bigint and bytea as hexadecimal text. Does not connect yet. */
export function createPool({ maxConnections = 4, ...options }: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    ...options,
    max: maxConnections,
    types,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'gatewarden',
  });
  // An idle connection that breaks is dropped by the pool; the next query opens another or rejects.
  pool.on('error', () => {});
  // Nor may one that breaks between two statements of a transaction end the process: the next statement rejects.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
