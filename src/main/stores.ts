import { openMemoryCounters } from '#adapters/memory/limit-counters.ts';
import { openMemoryCache } from '#adapters/memory/response-cache.ts';
import { openPostgresLedger } from '#adapters/postgres/ledger.ts';
import { openRedisCounters } from '#adapters/redis/limit-counters.ts';
import { openRedisCache } from '#adapters/redis/response-cache.ts';
import { openS3Anchors, type S3AnchorStore } from '#adapters/s3/anchor-store.ts';
import type { CheckpointStore } from '#ports/checkpoints.ts';
import type { LimitCounters } from '#ports/limit-counters.ts';
import type { ResponseCache } from '#ports/response-cache.ts';
import { createAnchorer, type Anchorer } from '#seal/anchorer.ts';
import type { Log } from '#telemetry/log.ts';
import type { Settings } from '../settings.ts';

/** Waits for the database: it may start after us. */
export async function openLedger(
  connectionString: string,
  log: Log,
): Promise<Awaited<ReturnType<typeof openPostgresLedger>>> {
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      return await openPostgresLedger({ connectionString });
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

/** Shared counters, or this process' own. Redis may come later: until then calls are refused, not lost. */
export async function openCounters(
  settings: Settings,
  log: Log,
): Promise<LimitCounters & { close(): Promise<void> | void }> {
  if (settings.redisUrl === undefined) return openMemoryCounters({ journal: `${settings.dataDir}/holds.journal` });
  const counters = openRedisCounters({ url: settings.redisUrl, cluster: settings.redisCluster });
  await counters.ping().catch((error: unknown) => log.warn({ event: 'counters.unreachable', err: error }));
  return counters;
}

/** Shared by all gateways, or this process' own. */
export function openCache(settings: Settings): ResponseCache & { close(): Promise<void> | void } {
  const { redisUrl, redisCluster, cacheRedisUrl } = settings;
  if (cacheRedisUrl !== undefined) return openRedisCache({ url: cacheRedisUrl });
  if (redisUrl !== undefined) return openRedisCache({ url: redisUrl, cluster: redisCluster });
  return { ...openMemoryCache(), close: () => {} };
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
