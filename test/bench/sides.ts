import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from 'undici';
import { freePort } from '../harness/free-port.ts';
import { newKey, startGateway } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { inspectorAt, type Inspector } from './inspector.ts';
import { closedLoop, createClient, type Target } from './load.ts';
import { cpuMicroseconds, startProgram } from './processes.ts';
import { governedResources } from './resources.ts';

/** The bare proxy or the gateway, as a process. */
export interface Side extends Target {
  readonly name: 'bare' | 'governed';
  readonly pid: number;
  /** Of a side that was started to be looked into. */
  readonly inspector: Inspector | undefined;
  stop(): Promise<void>;
}

/** How a side is started. */
export interface SideOptions {
  /** Of Node.js; without them, as in service. */
  readonly flags?: readonly string[];
  /** Opens its inspector. */
  readonly inspect?: boolean;
}

/** A bare proxy and a gateway with everything on, before the same upstream. */
export interface Sides extends AsyncDisposable {
  readonly bare: Side;
  readonly governed: Side;
  /** The gateway, and a key whose answers are cached. */
  readonly cached: Side;
  readonly client: Agent;
  /** What both stand before. */
  readonly upstreamUrl: string;
  readonly redisUrl: string;
  readonly databaseUrl: string;
  /** Both once more, as fresh processes. */
  another(options: SideOptions): Promise<Pair>;
}

export interface Pair extends AsyncDisposable {
  readonly bare: Side;
  readonly governed: Side;
}

/** As its image and `make run` start it. */
const SERVICE = ['--max-semi-space-size=32'];

/** Starts the upstream and both sides. The caller owns the servers. */
export async function openSides(redisUrl: string, databaseUrl: string, options: SideOptions = {}): Promise<Sides> {
  const key = newKey();
  const cachedKey = newKey();
  await using things = new AsyncDisposableStack();
  const upstream = await startProgram('./upstream.ts');
  things.defer(() => upstream.stop());
  const origin = `http://127.0.0.1:${upstream.port}`;
  const resources = governedResources(origin, key, cachedKey);
  const pair = async (how: SideOptions): Promise<Pair> => {
    const bare = await startBare(origin, key, how);
    const governed = await startGoverned(
      resources,
      key,
      { redisUrl, databaseUrl: await createDatabase(databaseUrl) },
      how,
    );
    return {
      bare,
      governed,
      [Symbol.asyncDispose]: async () => void (await Promise.all([bare.stop(), governed.stop()])),
    };
  };
  const first = things.use(await pair(options));
  const client = createClient();
  things.defer(() => client.destroy());
  const kept = things.move();
  return {
    bare: first.bare,
    governed: first.governed,
    cached: { ...first.governed, key: cachedKey },
    client,
    upstreamUrl: origin,
    redisUrl,
    databaseUrl,
    another: pair,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function startBare(origin: string, key: string, { flags = [], inspect }: SideOptions): Promise<Side> {
  const port = inspect ? await freePort() : undefined;
  const program = await startProgram('./bare.ts', [origin], [...flags, ...inspectFlag(port)]);
  const inspector = port === undefined ? undefined : await inspectorAt(port);
  return {
    name: 'bare',
    origin: `http://127.0.0.1:${program.port}`,
    key,
    pid: program.pid,
    inspector,
    stop: async () => {
      inspector?.close();
      program.stop();
    },
  };
}

async function startGoverned(
  resources: readonly object[],
  key: string,
  stores: { readonly redisUrl: string; readonly databaseUrl: string },
  { flags = SERVICE, inspect }: SideOptions,
): Promise<Side> {
  const port = inspect ? await freePort() : undefined;
  const gateway = await startGateway({
    resources,
    ...stores,
    flags: [...flags, ...inspectFlag(port)],
    // Kept code takes heap, which a gateway in service does not have.
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  });
  const inspector = port === undefined ? undefined : await inspectorAt(port);
  return {
    name: 'governed',
    origin: gateway.url,
    key,
    pid: gateway.pid,
    inspector,
    stop: async () => {
      inspector?.close();
      await gateway.stop();
    },
  };
}

const inspectFlag = (port: number | undefined): readonly string[] =>
  port === undefined ? [] : [`--inspect=127.0.0.1:${port}`];

/** Results of both sides, in pairs. */
export interface InTurns<T> {
  readonly bare: T[];
  readonly governed: T[];
}

/** Runs both sides in turns after once to warm up. Who goes first changes, so that what one leaves behind falls on both. */
export async function inTurns<T>(
  pair: Omit<Pair, keyof AsyncDisposable>,
  rounds: number,
  run: (side: Side) => Promise<T>,
): Promise<InTurns<T>> {
  await run(pair.bare);
  await run(pair.governed);
  const results = { bare: [] as T[], governed: [] as T[] };
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (['bare', 'governed'] as const) : (['governed', 'bare'] as const);
    for (const name of order) results[name].push(await run(pair[name]));
  }
  return results;
}

/** Longer than rows and settlements wait to be written together. */
export const SETTLED_MS = 400;

/** CPU of a side for so many requests, each after another's answer: microseconds a request. */
export async function costOf(
  client: Agent,
  side: Side,
  body: string | (() => string),
  connections: number,
  requests: number,
): Promise<{ readonly cpu: number; readonly rate: number }> {
  const before = cpuMicroseconds(side.pid);
  const result = await closedLoop(client, side, body, connections, requests);
  await sleep(SETTLED_MS);
  refuseFailures(side, result.failures);
  return { cpu: (cpuMicroseconds(side.pid) - before) / requests, rate: requests / result.seconds };
}

export function refuseFailures({ name }: Side, failures: number): void {
  if (failures > 0) throw new Error(`${failures} requests to ${name} failed; a benchmark of failures says nothing`);
}
