import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { startPostgres, type PostgresServer } from '../harness/postgres.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { openLink, type Link } from './link.ts';
import { startProvider, type Provider } from './provider.ts';
import { sharedResources, tenantsOf, type Tenants } from './tenants.ts';

/** Where one gateway stands: its data folder, clock and links stay when the process is replaced. */
export interface Slot {
  readonly index: number;
  readonly redis: Link;
  readonly postgres: Link;
  readonly dataDir: string;
  /** The process that runs now; undefined between a kill and the next start. */
  life: Life | undefined;
  /** How wrong its wall clock is, in milliseconds. */
  wrongBy: number;
}

/** One gateway process. */
export interface Life {
  readonly gateway: GatewayProcess;
  /** We have ended it, or are about to: its connections may break. */
  ending: boolean;
  /** It was stopped for longer than calls may take. */
  stoodStill: boolean;
}

/** Everything that can fail, each a real process. */
export interface World extends AsyncDisposable {
  readonly slots: readonly Slot[];
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  /** The database as the checks reach it: past the links. */
  readonly databaseUrl: string;
  readonly provider: Provider;
  readonly batches: readonly Tenants[];
  /** Every process that ever ran. */
  readonly lives: readonly Life[];
  start(slot: Slot): Promise<void>;
  kill(slot: Slot): Promise<void>;
  setClock(slot: Slot, wrongBy: number): void;
}

const GATEWAYS = 3;
const CLOCK = new URL('./clock.ts', import.meta.url).href;

export async function startWorld(batchCount: number): Promise<World> {
  await using cleanup = new AsyncDisposableStack();
  const redis = await startRedis({ control: true, appendOnly: true });
  cleanup.defer(() => redis.stop());
  const postgres = await startPostgres({ control: true });
  cleanup.defer(() => postgres.stop());
  const databaseUrl = await postgres.createDatabase();
  const provider = await startProvider();
  cleanup.defer(() => provider.upstream.close());
  const batches = Array.from({ length: batchCount }, (_, index) => tenantsOf(index));
  const resources = [...sharedResources(provider.upstream.url), ...batches.flatMap((batch) => batch.resources)];
  const slots = await Promise.all(
    Array.from({ length: GATEWAYS }, async (_, index): Promise<Slot> => {
      const dataDir = mkdtempSync(join(tmpdir(), 'gatewarden-chaos-'));
      cleanup.defer(() => rmSync(dataDir, { recursive: true, force: true }));
      const links = [await openLink(redis.port), await openLink(Number(new URL(databaseUrl).port))] as const;
      for (const link of links) cleanup.defer(() => link.close());
      return { index, redis: links[0], postgres: links[1], dataDir, life: undefined, wrongBy: 0 };
    }),
  );
  const lives: Life[] = [];
  const all = cleanup.move();
  const setClock = (slot: Slot, wrongBy: number): void => {
    slot.wrongBy = wrongBy;
    writeFileSync(clockFile(slot), String(wrongBy));
    if (slot.life) process.kill(slot.life.gateway.pid, 'SIGUSR2');
  };
  const world: World = {
    slots,
    redis,
    postgres,
    databaseUrl,
    provider,
    batches,
    lives,
    setClock,
    async start(slot) {
      const database = new URL(databaseUrl);
      database.port = String(slot.postgres.port);
      const gateway = await startGateway({
        resources,
        redisUrl: `redis://127.0.0.1:${slot.redis.port}`,
        databaseUrl: database.href,
        dataDir: slot.dataDir,
        env: { NODE_OPTIONS: `--import=${CLOCK}`, CHAOS_CLOCK: clockFile(slot), GW_DRAIN_SECONDS: '5' },
      });
      slot.life = { gateway, ending: false, stoodStill: false };
      lives.push(slot.life);
      all.defer(() => gateway.kill());
      setClock(slot, slot.wrongBy);
    },
    async kill(slot) {
      if (!slot.life) return;
      const { life } = slot;
      life.ending = true;
      slot.life = undefined;
      await life.gateway.kill();
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
  await Promise.all(slots.map((slot) => world.start(slot)));
  return world;
}

function clockFile(slot: Slot): string {
  return join(slot.dataDir, 'clock');
}
