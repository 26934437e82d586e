import type { KeptObject, KeptObjects, KeptQuery } from '#/ports/kept-objects.ts';
import { arrayOf } from './array-parameter.ts';
import { openStore, type StoreOptions } from './migrate.ts';
import type { Connections } from './pool.ts';
import { query, STATEMENTS } from './statements.ts';

/** Records of kept objects in PostgreSQL. */
export interface PostgresObjects extends KeptObjects {
  close(): Promise<void>;
}

const WRITE_TIMEOUT_MS = 10_000;
/** Calls wait for it. */
const READ_TIMEOUT_MS = 2000;
const DELETED_AT_ONCE = 5000;
/** Connections apart from the ledger's, so that neither has to wait for the other. */
const CONNECTIONS = 2;

/** Opens the store and brings its schema up to date. Rejects when the database cannot be reached. */
export async function openPostgresObjects(options: StoreOptions): Promise<PostgresObjects> {
  const { connections: pool, close } = await openStore(options, CONNECTIONS);
  return {
    record: (objects) => record(pool, objects),
    find: (provider, ids, now) => find(pool, provider, ids, now),
    list: (asked, now) => list(pool, asked, now),
    async forget(provider, id) {
      await pool.query(query(STATEMENTS.forgetObject, [provider, id], WRITE_TIMEOUT_MS));
    },
    expire: (now) => expire(pool, now),
    close,
  };
}

async function record(pool: Connections, objects: readonly KeptObject[]): Promise<void> {
  if (objects.length === 0) return;
  const texts = (name: 'provider' | 'id' | 'kind' | 'organization' | 'workload' | 'credential'): Buffer =>
    arrayOf(
      'text',
      objects.map((one) => one[name]),
    );
  const values = [
    texts('provider'),
    texts('id'),
    texts('kind'),
    texts('organization'),
    texts('workload'),
    texts('credential'),
    arrayOf(
      'timestamp',
      objects.map(({ madeAt }) => madeAt),
    ),
    arrayOf(
      'timestamp',
      objects.map(({ expiresAt }) => expiresAt),
    ),
  ];
  await pool.query(query(STATEMENTS.recordObjects, values, WRITE_TIMEOUT_MS));
}

/** A record as the database gives it back; the instants are milliseconds since the epoch, as decimal texts. */
type ObjectRow = Omit<KeptObject, 'madeAt' | 'expiresAt'> & { readonly made: string; readonly expires: string };

async function find(
  pool: Connections,
  provider: string,
  ids: readonly string[],
  now: number,
): Promise<readonly KeptObject[]> {
  if (ids.length === 0) return [];
  const values = [provider, arrayOf('text', ids), new Date(now).toISOString()];
  const { rows } = await pool.query<ObjectRow>(query(STATEMENTS.findObjects, values, READ_TIMEOUT_MS));
  return rows.map(toObject);
}

async function list(pool: Connections, asked: KeptQuery, now: number): Promise<readonly KeptObject[]> {
  const { provider, organization, workload, kind, order, after, limit } = asked;
  const at = new Date(now).toISOString();
  const values = [provider, organization, workload, kind, order === 'desc', after ?? null, limit, at];
  const { rows } = await pool.query<ObjectRow>(query(STATEMENTS.listObjects, values, READ_TIMEOUT_MS));
  return rows.map(toObject);
}

function toObject({ made, expires, ...row }: ObjectRow): KeptObject {
  return { ...row, madeAt: Number(made), expiresAt: Number(expires) };
}

/** Deletes in pieces, so that no transaction is long. */
async function expire(pool: Connections, now: number): Promise<number> {
  let deleted = 0;
  for (;;) {
    const values = [new Date(now).toISOString(), DELETED_AT_ONCE];
    const { rowCount } = await pool.query(query(STATEMENTS.expireObjects, values, WRITE_TIMEOUT_MS));
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < DELETED_AT_ONCE) return deleted;
  }
}
