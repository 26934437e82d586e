import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { openMemoryCounters, type MemoryLimitCounters } from '#/adapters/memory/limit-counters.ts';
import { openRedisCounters, type RedisLimitCounters } from '#/adapters/redis/limit-counters.ts';
import type { CreditCounters } from '#/ports/credit.ts';
import type { LimitCounters, Marks, OpenHolds } from '#/ports/limit-counters.ts';

/** Everything that the counters' adapters do. */
export type AllCounters = LimitCounters & OpenHolds & CreditCounters & Marks;

/** An adapter under test: opens empty stores. */
export interface Subject {
  readonly name: string;
  /** What a store that lost its data still has: `holds` when open holds survive it. */
  readonly keeps: 'holds' | 'nothing';
  open(options?: StoreOptions): Promise<Store>;
}

interface StoreOptions {
  readonly pauseMs?: number;
}

/** One store, empty when opened, with a clock that tests turn. */
export interface Store {
  readonly counters: AllCounters;
  /** The same store as another gateway process sees it. */
  another(): Promise<AllCounters>;
  /** Milliseconds since the epoch. */
  now(): number;
  advance(ms: number): void;
  /** Loses what a store of this kind can lose. */
  lose(): Promise<void>;
  close(): Promise<void>;
}

const START = Date.UTC(2026, 10, 21, 12, 0, 0, 250);

function turnableClock(): { now(): number; advance(ms: number): void } {
  let now = START;
  return { now: () => now, advance: (ms) => void (now += ms) };
}

export const memory: Subject = {
  name: 'memory',
  keeps: 'nothing',
  open: async (options) => {
    const clock = turnableClock();
    return inProcess(
      clock,
      () => openMemoryCounters({ ...options, now: () => clock.now() }),
      () => {},
    );
  },
};

export const memoryWithJournal: Subject = {
  name: 'memory with a journal',
  keeps: 'holds',
  open: async (options) => {
    const clock = turnableClock();
    const folder = mkdtempSync(join(tmpdir(), 'gatewarden-journal-'));
    const journal = join(folder, 'holds.journal');
    return inProcess(
      clock,
      () => openMemoryCounters({ ...options, journal, now: () => clock.now() }),
      () => rmSync(folder, { recursive: true }),
    );
  },
};

/** Every test has a key prefix of its own on a server that all share. */
export function redis(name: string, url: () => string, cluster = false): Subject {
  return {
    name,
    keeps: 'nothing',
    async open(options) {
      const clock = turnableClock();
      const keyPrefix = `test-${randomUUID()}:`;
      const opened: RedisLimitCounters[] = [];
      const another = async (): Promise<AllCounters> => {
        const counters = openRedisCounters({ ...options, url: url(), keyPrefix, cluster, clock: () => clock.now() });
        opened.push(counters);
        await counters.ping();
        return counters;
      };
      const counters = await another();
      const raw = cluster ? new Cluster([url()]) : new Redis(url());
      const forgetAll = async (): Promise<void> => {
        const node = raw instanceof Redis ? raw : raw.nodes('master')[0]!;
        for await (const keys of node.scanStream({ match: `${keyPrefix}*`, count: 1000 })) {
          for (const key of keys as string[]) await raw.del(key);
        }
      };
      return {
        ...clock,
        counters,
        another,
        lose: forgetAll,
        async close() {
          await forgetAll();
          raw.disconnect();
          await Promise.all(opened.map((client) => client.close()));
        },
      };
    },
  };
}

function inProcess(
  clock: ReturnType<typeof turnableClock>,
  start: () => MemoryLimitCounters,
  clean: () => void,
): Store {
  let current = start();
  const counters: AllCounters = {
    hold: (request) => current.hold(request),
    settle: (settlements, owner) => current.settle(settlements, owner),
    restore: (organization, own, read, lowers) => current.restore(organization, own, read, lowers),
    view: (organization, closedSince) => current.view(organization, closedSince),
    findHolds: (organization, callIds) => current.findHolds(organization, callIds),
    allHolds: (organization) => current.allHolds(organization),
    putCredit: (organization, credit) => current.putCredit(organization, credit),
    claim: (organization, name, ms) => current.claim(organization, name, ms),
    keep: (organization, name, ms) => current.keep(organization, name, ms),
    takeOver: (organizations, owner, ttlMs) => current.takeOver(organizations, owner, ttlMs),
  };
  return {
    ...clock,
    counters,
    another: async () => counters,
    async lose() {
      await current.close();
      current = start();
    },
    async close() {
      await current.close();
      clean();
    },
  };
}

type Verbs = {
  readonly [V in keyof LimitCounters]: (...args: Parameters<LimitCounters[V]>) => ReturnType<LimitCounters[V]>;
};

/** The verbs of whatever store is open. */
export function forward(store: () => Store): Verbs {
  return {
    hold: (asked) => store().counters.hold(asked),
    settle: (settlements, owner) => store().counters.settle(settlements, owner),
    restore: (organization, own, read, lowers) => store().counters.restore(organization, own, read, lowers),
    view: (organization, closedSince) => store().counters.view(organization, closedSince),
    takeOver: (organizations, owner, ttlMs) => store().counters.takeOver(organizations, owner, ttlMs),
  };
}
