import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresCredit } from '#/adapters/postgres/credit.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import { compile } from '#/config/compile/compile.ts';
import { hold, type Hold, type MeterDeps } from '#/meter/meter.ts';
import { createPriceBook } from '#/meter/pricing/price-book.ts';
import { meterMemory } from '#/meter/meter-memory.ts';
import { createRestorer } from '#/meter/counter-rebuild.ts';
import type { CallContext } from '#/call/call.ts';
import { newCallId } from '#/call/call-id.ts';
import type { LimitCounters, OpenHold, Settlement } from '#/ports/limit-counters.ts';
import type { CreditEntries } from '#/ports/credit.ts';
import type { Ledger } from '#/ports/ledger.ts';
import { createProviders } from '#/providers/registry.ts';
import { createTransport } from '#/providers/http/transport.ts';
import type { Target } from '#/call/target.ts';
import { CallRecord } from '#/seal/call-record.ts';
import { createLedgerWriter, type LedgerWriter } from '#/seal/ledger-writer.ts';
import { newKey } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { measure, type Measure } from './measures.ts';
import { prompt } from './prompts.ts';
import { costOf, type Sides } from './sides.ts';
import { governedResources } from './resources.ts';

/** CPU microseconds of the thread that serves, a call, by step. The stores' own are not in it. */
interface MoneyCost {
  /** Price, worst case, and the debit in Redis. */
  readonly hold: number;
  /** The audit row, its link, and its share of a batch in PostgreSQL. */
  readonly seal: number;
  readonly settle: number;
}

/** Calls before anything is measured: V8 compiles hot functions. */
const WARM_UP = 10_000;
const IN_FLIGHT = 64;
/** As many calls as are open at once in a busy gateway: what is held for longer costs the collector more than it would. */
const OPEN_AT_ONCE = 500;
/** Two thousand calls end a second: the ledger writer makes its batches of them as it does under load. */
const PER_TICK = 10;
const TICK_MS = 5;

/**
 * What metering and sealing cost a gateway: the corridor's own steps on a real Redis and a real PostgreSQL, each step for
 * all calls before the next, so that its CPU can be told.
 */
async function measureMoney(redisUrl: string, databaseUrl: string, calls: number): Promise<MoneyCost> {
  await using stores = new AsyncDisposableStack();
  const counters = openRedisCounters({ url: redisUrl, keyPrefix: `bench-${randomUUID()}:` });
  stores.defer(() => counters.close());
  const ledger = await openPostgresLedger({ connectionString: databaseUrl });
  stores.defer(() => ledger.close());
  await counters.ping();
  const credit = await openPostgresCredit({ connectionString: databaseUrl });
  stores.defer(() => credit.close());
  const bench = createBench(counters, ledger, credit);
  await counters.takeOver([bench.organization], bench.deps.owner, 600_000);
  await bench.round(WARM_UP);
  return await bench.round(calls);
}

function createBench(counters: LimitCounters, ledger: Ledger, credit: CreditEntries) {
  const key = newKey();
  const compiled = compile(asDocuments(governedResources('http://127.0.0.1:9', key, newKey())), { usdToEur: '0.92' });
  if (!compiled.snapshot) throw new Error(compiled.faults.map(({ message }) => message).join('\n'));
  const { snapshot } = compiled;
  const caller = snapshot.keys.get(hash('sha256', key, 'hex'))!;
  const { organization } = caller.workload;
  const provider = createProviders(createTransport())([...organization.providers.values()][0]!)!;
  const target = { provider, model: 'static', family: 'chat', settings: undefined } as unknown as Target;
  const open = new Map<string, OpenHold>();
  const restorer = createRestorer({ counters, ledger, credit, open, onRestored: () => {} });
  const deps: MeterDeps = {
    counters,
    prices: createPriceBook({ usdToEur: '0.92' }),
    restorer,
    ...meterMemory(),
    onRefused: () => {},
    lease: { fresh: () => true, ensure: async () => {} },
    owner: randomUUID(),
    open,
  };
  /** Batch by batch, as the rows became durable. */
  const settlements: (readonly Settlement[])[] = [];
  const writer = createLedgerWriter({
    ledger,
    strand: randomUUID(),
    fence: {
      fresh: () => true,
      reclaim: async (drafts) => drafts,
      settleWritten: (durable) => void settlements.push(durable),
    },
    onDropped: () => {},
    onFault: (error) => {
      throw error;
    },
    onJournalFault: () => {},
    onReplay: () => {},
    onRefused: () => {},
  });
  const { signal } = new AbortController();
  const debit = async (): Promise<readonly [CallContext, Hold]> => {
    const startedAt = Date.now();
    const id = newCallId(startedAt);
    const context: CallContext = { id, startedAt, key: caller, snapshot, surface: 'chat', headers: {}, signal };
    const bounds = {
      ceiling: { inputTokens: 2200, outputTokens: 256 },
      quantities: ['tokens'] as const,
      reservedTokens: 800,
    };
    return [context, await hold(context, { model: 'upstream/static', stream: false }, [target], bounds, deps)];
  };
  const round = async (calls: number): Promise<MoneyCost> => {
    const spent = { hold: 0, seal: 0, settle: 0 };
    const rounds = Math.ceil(calls / OPEN_AT_ONCE);
    for (let each = 0; each < rounds; each++) {
      const held: (readonly [CallContext, Hold])[] = [];
      spent.hold += await cpuOf(() => inFlight(OPEN_AT_ONCE, async () => void held.push(await debit())));
      spent.seal += await cpuOf(() => sealAll(held, target, writer));
      spent.seal -= await cpuOf(() => sealAll([], target, writer, OPEN_AT_ONCE));
      spent.settle += await cpuOf(() => settleAll(settlements, counters));
    }
    const all = rounds * OPEN_AT_ONCE;
    return { hold: spent.hold / all, seal: spent.seal / all, settle: spent.settle / all };
  };
  return { organization: organization.id, deps, round };
}

/** Rows end a few at a time, as they do under load. With fewer calls held than `calls`, it costs what waiting does. */
async function sealAll(
  held: readonly (readonly [CallContext, Hold])[],
  target: Target,
  writer: LedgerWriter,
  calls = held.length,
): Promise<void> {
  for (let at = 0; at < calls; at += PER_TICK) {
    for (const [context, debited] of held.slice(at, at + PER_TICK)) {
      const record = new CallRecord(context, 'chat');
      const { slug } = target.provider.config;
      record.merge({ asked: { model: 'upstream/static', stream: false }, findings: { EMAIL: 1, PHONE: 1 } });
      record.merge({ route: ['upstream/static: asked'], hold: debited });
      record.merge({
        target: { provider: slug, model: target.model, jurisdiction: 'EU', family: 'chat' },
        attempts: [{ provider: slug, model: target.model, status: 200, duration_ms: 12 }],
        usage: { input: 600, output: 80, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, reasoning: 0 },
        isServed: true,
      });
      writer.enqueue(record.draft());
    }
    await sleep(TICK_MS);
  }
  if (!(await writer.drain(30_000))) throw new Error('rows were not written in time');
}

async function settleAll(batches: (readonly Settlement[])[], counters: LimitCounters): Promise<void> {
  for (const batch of batches.splice(0)) {
    const results = await counters.settle(batch);
    if (results.some((result) => result !== 'settled')) throw new Error('a hold was not there to be settled');
  }
}

async function inFlight(calls: number, one: () => Promise<void>): Promise<void> {
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

/** Microseconds. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

function asDocuments(resources: readonly object[]) {
  return resources.map((value, index) => ({ file: 'bench', index, value }));
}

/** Of each step the microseconds it was given, on a machine that took the middle of 86 to 150 for a bare call. */
const GIVEN: MoneyCost = { hold: 25, seal: 18, settle: 5 };
const GIVEN_CALL = 118;

/**
 * What metering and sealing cost a call. In the place of `bare` stands their budget: of each step the microseconds it was
 * given, as so many parts of what a bare call takes here and now.
 */
export async function moneyAgainstBudget(sides: Sides, rounds: number): Promise<Measure[]> {
  const costs: MoneyCost[] = [];
  const bareCosts: number[] = [];
  for (let round = 0; round < rounds; round++) {
    bareCosts.push((await costOf(sides.client, sides.bare, prompt(2048), IN_FLIGHT, 4000)).cpu);
    costs.push(await measureMoney(sides.redisUrl, await createDatabase(sides.databaseUrl), 4000));
  }
  const against = (name: string, of: (cost: MoneyCost) => number): Measure => {
    const given = bareCosts.map((cost) => (cost * of(GIVEN)) / GIVEN_CALL);
    return measure(`${name}, against what it was given: CPU`, 'µs/call', given, costs.map(of));
  };
  return [
    against('hold', (cost) => cost.hold),
    against('seal', (cost) => cost.seal),
    against('settle', (cost) => cost.settle),
    against('metering and sealing', (cost) => cost.hold + cost.seal + cost.settle),
  ];
}
