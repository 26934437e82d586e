import pg from 'pg';

/** What a store asks through: a pool, or a share of one. */
export type Connections = Pick<pg.Pool, 'query' | 'connect'>;

export interface PostgresOptions {
  /** A pool that others use too, in the place of an own one: closing the store leaves it open. */
  readonly shared?: pg.Pool;
  /** `postgres://…`; the other options apply where it is silent. */
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
export function createPool({ maxConnections = 4, ...options }: Omit<PostgresOptions, 'shared'>): pg.Pool {
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

/** Connections of a store: those of a pool of its own, or of the shared one no more than `most` at a time. */
export function openConnections(
  { shared, ...options }: PostgresOptions,
  most: number,
): { readonly connections: Connections; readonly close: () => Promise<void> } {
  if (shared) return { connections: shareOf(shared, most), close: () => Promise.resolve() };
  const pool = createPool({ maxConnections: most, ...options });
  return { connections: pool, close: () => pool.end() };
}

/** A share of a pool: with `most` connections in use, its own callers wait, and no others. */
function shareOf(pool: pg.Pool, most: number): Connections {
  let free = most;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  const ask = pool.query.bind(pool) as (...asked: readonly unknown[]) => Promise<unknown>;
  const query = async (...asked: readonly unknown[]): Promise<unknown> => {
    await enter();
    try {
      return await ask(...asked);
    } finally {
      leave();
    }
  };
  const connect = async (): Promise<pg.PoolClient> => {
    await enter();
    try {
      const client = await pool.connect();
      const release = client.release.bind(client);
      const releaseOnce: typeof release = (fault) => {
        client.release = release;
        release(fault);
        leave();
      };
      client.release = releaseOnce;
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  };
  return { query: query as pg.Pool['query'], connect: connect as pg.Pool['connect'] };
}
