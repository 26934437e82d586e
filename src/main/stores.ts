import type { Pool } from 'pg';
import { openRowJournal } from '#/adapters/file/row-journal.ts';
import { openMemoryCounters } from '#/adapters/memory/limit-counters.ts';
import { openNoNeighbours } from '#/adapters/memory/neighbours.ts';
import { openMemoryCache } from '#/adapters/memory/response-cache.ts';
import { openEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { openPostgresCredit } from '#/adapters/postgres/credit.ts';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { openPostgresObjects } from '#/adapters/postgres/kept-objects.ts';
import { createPool } from '#/adapters/postgres/pool.ts';
import { openPostgresApprovals } from '#/adapters/postgres/tool-approvals.ts';
import { openPostgresPins } from '#/adapters/postgres/tool-pins.ts';
import { openPostgresContent } from '#/adapters/postgres/retained-content.ts';
import { openRedisNeighbours } from '#/adapters/redis/neighbours.ts';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import { openRedisCache } from '#/adapters/redis/response-cache.ts';
import { openS3Anchors, type S3AnchorStore } from '#/adapters/s3/anchor-store.ts';
import type { PipelineDeps } from '#/pipeline/pipeline-parts.ts';
import type { CheckpointStore } from '#/ports/checkpoints.ts';
import type { ResponseCache } from '#/ports/response-cache.ts';
import type { Neighbours } from '#/ports/neighbours.ts';
import type { RowJournal } from '#/ports/row-journal.ts';
import { createAnchorer, type Anchorer } from '#/seal/background/anchorer.ts';
import type { Log } from '#/telemetry/log.ts';
import type { Observer } from '#/telemetry/observe/observer.ts';
import type { Settings } from '#/settings/gateway-settings.ts';

/** Whatever this process keeps anything in, opened as the settings say. */
export interface Stores {
  /** Connections to the database that holds the ledger, for all that this process keeps there. */
  readonly database: Pool;
  readonly ledger: PostgresLedger;
  /** Absent where rows are to wait in memory, or no disk takes them. */
  readonly journal: (RowJournal & Closable) | undefined;
  readonly counters: PipelineDeps['counters'] & Closable;
  readonly responseCache: ResponseCache & Closable;
  readonly neighbours: Neighbours;
  readonly retainedContent: Awaited<ReturnType<typeof openPostgresContent>>;
  readonly keptObjects: Awaited<ReturnType<typeof openPostgresObjects>>;
  readonly toolPins: Awaited<ReturnType<typeof openPostgresPins>>;
  readonly toolApprovals: Awaited<ReturnType<typeof openPostgresApprovals>>;
  readonly credit: Awaited<ReturnType<typeof openPostgresCredit>>;
  /** Closes them all, what others are kept in last. Never rejects. */
  close(): Promise<void>;
}

interface Closable {
  close(): Promise<void> | void;
}

/**
 * Of this process to its database. Retained content has 2 of them at a time at most, records of objects 2, pins of
 * tools 1, approvals 1, credit 1 and jobs 3, so that the ledger never waits for them.
 */
const CONNECTIONS = 12;

/** Opens the stores. Waits for a database that is not there yet; Redis may come later. */
export async function openStores(settings: Settings, log: Log, observer: Observer): Promise<Stores> {
  const database =
    settings.databaseUrl === undefined ? await openEmbeddedPostgres({ dataDir: settings.dataDir }) : undefined;
  const shared = createPool({
    connectionString: database?.connectionString ?? settings.databaseUrl!,
    maxConnections: CONNECTIONS,
  });
  const ledger = await openLedger(shared, log);
  const journal = await openJournal(settings, observer);
  const counters = await openCounters(settings, log);
  const responseCache = openCache(settings);
  const neighbours = openNeighbours(settings);
  const retainedContent = await openPostgresContent({ shared });
  const keptObjects = await openPostgresObjects({ shared });
  const toolPins = await openPostgresPins({ shared });
  const toolApprovals = await openPostgresApprovals({ shared });
  const credit = await openPostgresCredit({ shared });
  return {
    database: shared,
    ledger,
    journal,
    counters,
    responseCache,
    neighbours,
    retainedContent,
    keptObjects,
    toolPins,
    toolApprovals,
    credit,
    async close() {
      const stores: readonly Closable[] = [
        counters,
        responseCache,
        neighbours,
        retainedContent,
        keptObjects,
        toolPins,
        toolApprovals,
        credit,
        ledger,
      ];
      await Promise.allSettled(stores.map(async (store) => store.close()));
      await shared.end().catch(() => undefined);
      for (const one of [journal, database]) await Promise.resolve(one?.close()).catch(() => undefined);
    },
  };
}

/** Waits for the database: it may start after us. */
async function openLedger(shared: Pool, log: Log): Promise<PostgresLedger> {
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      return await openPostgresLedger({ shared });
    } catch (error) {
      if (!mayPass(error)) throw error;
      log.warn({ event: 'ledger.unreachable', err: error, retry_ms: wait });
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** Whether a database that could not be opened may just not be there yet. */
function mayPass(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(E[A-Z_]+|57P\d\d|08\d\d\d|53\d\d\d)$/.test(code);
}

/** Where rows wait while the ledger is away. A disk that cannot be written is reported; then they wait in memory. */
async function openJournal({ dataDir, journalBytes }: Settings, observer: Observer): Promise<Stores['journal']> {
  if (journalBytes === 0) return undefined;
  const options = { folder: `${dataDir}/journal`, maxBytes: journalBytes, onDamage: observer.onJournalDamage };
  return openRowJournal(options).catch((error: unknown) => {
    observer.onPipeline({ kind: 'journal.fault', error });
    return undefined;
  });
}

/** Shared counters, or this process' own. Redis may come later: until then calls are refused, not lost. */
async function openCounters(settings: Settings, log: Log): Promise<Stores['counters']> {
  if (settings.redisUrl === undefined) return openMemoryCounters({ journal: `${settings.dataDir}/holds.journal` });
  const counters = openRedisCounters({ url: settings.redisUrl, cluster: settings.redisCluster });
  await counters.ping().catch((error: unknown) => log.warn({ event: 'counters.unreachable', err: error }));
  return counters;
}

/** Shared by all gateways, or this process' own. */
function openCache(settings: Settings): Stores['responseCache'] {
  const { redisUrl, redisCluster, cacheRedisUrl } = settings;
  if (cacheRedisUrl !== undefined) return openRedisCache({ url: cacheRedisUrl });
  if (redisUrl !== undefined) return openRedisCache({ url: redisUrl, cluster: redisCluster });
  return { ...openMemoryCache(), close: () => {} };
}

/** Those that share the counters. */
function openNeighbours({ redisUrl, redisCluster }: Settings): Neighbours {
  return redisUrl === undefined ? openNoNeighbours() : openRedisNeighbours({ url: redisUrl, cluster: redisCluster });
}

/** Copies of checkpoints outside the database, where settings ask for them. */
export function openAnchors(
  { anchor }: Settings,
  checkpoints: CheckpointStore,
  onFault: (error: unknown) => void,
): { readonly anchorer: Anchorer; readonly store: S3AnchorStore } | undefined {
  if (!anchor) return undefined;
  const store = openS3Anchors(anchor);
  return { anchorer: createAnchorer({ checkpoints, store, every: anchor.every, onFault }), store };
}
