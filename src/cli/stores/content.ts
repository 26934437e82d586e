import { parseArgs } from 'node:util';
import { openPostgresContent } from '#/adapters/postgres/retained-content.ts';
import { openRedisCache } from '#/adapters/redis/response-cache.ts';
import type { CallContent } from '#/seal/content/content-writer.ts';
import { createContentCipher } from '#/seal/content/content-cipher.ts';
import { readFileSync } from 'node:fs';
import { readContentKeys } from '#/seal/content/content-keys.ts';
import { databaseOf, type DatabaseDefaults } from './database.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const CONTENT_SHOW_HELP = `gwctl content show CALL_ID [--database-url URL | --data-dir DIR] [--key-file FILE]

Writes the retained content of a call as JSON: the request as the provider saw it, its answer before tags were restored,
and the values of the tags. For an answer from the cache, same_as names the call that has the content. Exits with 1 when
nothing is retained for the call.

  --database-url URL   The gateway's PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The folder of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
  --key-file FILE      The content keys (default: GW_CONTENT_KEY_FILE, or content-keys in the data folder)
`;

export const CONTENT_ERASE_HELP = `gwctl content erase --organization ID [--database-url URL | --data-dir DIR] [--redis-url URL]

Erases the retained requests and answers of an organization, and its cached answers; gateways forget them within a second.
Audit rows stay: they hold no content. A gateway without Redis keeps its cache in its own memory: restart it. Calls in
progress go on; their answers are retained, but not cached.

  --organization ID    <namespace>/<name> of the Organization
  --database-url URL   The gateway's PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The folder of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
  --redis-url URL      Where answers are cached (default: GW_CACHE_REDIS_URL, or REDIS_URL)
  --redis-cluster      The Redis is a node of a Redis Cluster
`;

/** Where things are when the command line does not say. */
export interface ContentDefaults extends DatabaseDefaults {
  readonly keyFile: string | undefined;
  readonly redisUrl: string | undefined;
}

const CALL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DATABASE = { 'database-url': { type: 'string' }, 'data-dir': { type: 'string' } } as const;
/** Erasing takes as long as it takes. */
const ERASE_TIMEOUT_MS = 30_000;

/** Writes the content of a call. Returns the exit status: 0, or 1 without content. Throws if it cannot be read. */
export async function contentShow(
  args: readonly string[],
  defaults: ContentDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...DATABASE, 'key-file': { type: 'string' } },
  });
  const [callId, ...more] = positionals;
  if (callId === undefined || more.length > 0) throw new UsageError('give the id of one call');
  if (!CALL_ID.test(callId)) throw new UsageError(`"${callId}" is not the id of a call`);
  const { 'database-url': url, 'data-dir': dataDir } = values;
  const keyFile = values['key-file'] ?? defaults.keyFile ?? `${dataDir ?? defaults.dataDir}/content-keys`;
  const cipher = createContentCipher(readContentKeys(readFileSync(keyFile, 'utf8')));
  await using database = await databaseOf(url, dataDir, defaults);
  const { connectionString } = database;
  const store = await openPostgresContent({ connectionString, existing: true });
  try {
    const item = await store.find(callId.toLowerCase());
    if (!item) {
      err('no content of this call is retained');
      return 1;
    }
    const place = { organization: item.organization, purpose: 'content', name: item.callId } as const;
    const opened = cipher.decrypt(place, item.encrypted);
    if (!opened) throw new Error('the content cannot be decrypted with these keys');
    const content = JSON.parse(opened.toString('utf8')) as CallContent;
    const { callId: call_id, organization, expiresAt } = item;
    const expires = new Date(expiresAt).toISOString();
    out(JSON.stringify({ call_id, organization, expires, ...content }, undefined, 2));
    return 0;
  } finally {
    await store.close();
  }
}

/** Erases an organization's content and cached answers. Returns the exit status, 0. Throws when it cannot be done. */
export async function contentErase(
  args: readonly string[],
  defaults: ContentDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...DATABASE,
      organization: { type: 'string' },
      'redis-url': { type: 'string' },
      'redis-cluster': { type: 'boolean', default: false },
    },
  });
  const { organization, 'database-url': url, 'data-dir': dataDir, 'redis-url': redisUrl = defaults.redisUrl } = values;
  if (organization === undefined || !organization.includes('/'))
    throw new UsageError('--organization takes <namespace>/<name>');
  await using database = await databaseOf(url, dataDir, defaults);
  const { connectionString } = database;
  const store = await openPostgresContent({ connectionString, existing: true });
  try {
    // The cache first: an answer that is found there once more is retained, and erased with the rest.
    if (redisUrl === undefined) err('no Redis: restart a gateway that caches in its own memory');
    else out(`${await eraseAnswers(redisUrl, values['redis-cluster'], organization)} cached answers erased`);
    out(`content of ${await store.erase(organization)} calls erased`);
    return 0;
  } finally {
    await store.close();
  }
}

async function eraseAnswers(url: string, cluster: boolean, organization: string): Promise<number> {
  const cache = openRedisCache({ url, cluster, commandTimeoutMs: ERASE_TIMEOUT_MS });
  try {
    await cache.ping();
    return await cache.erase(organization);
  } finally {
    await cache.close();
  }
}
