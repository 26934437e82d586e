import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { CountersUnavailable } from '#/ports/limit-counters.ts';
import type { Script } from './scripts.ts';
import { sendingOn, type Encoding, type Send } from './sender.ts';

export interface ConnectionOptions {
  /** `redis://` or `rediss://`, with credentials and database if need be. */
  readonly url: string;
  /** How long the store may take to answer one command. Default 1000. */
  readonly commandTimeoutMs?: number;
  /** The address is one of a Redis Cluster's nodes. */
  readonly cluster?: boolean;
  /** Told whenever the connection is made. */
  readonly onReady?: () => void;
}

/** One connection to the store. It reconnects by itself; until then, and on every fault, calls reject at once. */
export interface Connection {
  /** Whether a command would be sent now. */
  readonly isReady: boolean;
  /** Number of connections so far: the server behind a new one may be another one. */
  readonly times: number;
  /** Runs a script. Rejects with CountersUnavailable. */
  run(script: Script, key: string, args: readonly string[]): Promise<unknown>;
  /** Rejects unless the store answers within the command timeout, connecting included. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const COMMAND_TIMEOUT_MS = 1000;
const MOST_BACKOFF_MS = 2000;

/** `scripts` are loaded whenever a connection is made: one lost to a timeout could not be sent again with its source. */
export function openConnection(options: ConnectionOptions, scripts: readonly Script[]): Connection {
  const client = openClient(options, scripts);
  const { redis } = client;
  let times = 0;
  redis.on('ready', () => {
    times++;
    options.onReady?.();
  });

  return {
    get isReady() {
      return redis.status === 'ready';
    },
    get times() {
      return times;
    },
    async run(script, key, args) {
      try {
        return await client.run(script, key, args, 'utf8');
      } catch (error) {
        throw unavailable(error);
      }
    },
    async ping() {
      try {
        await client.ping();
      } catch (error) {
        throw unavailable(error);
      }
    },
    async close() {
      redis.disconnect();
    },
  };
}

/** A client, and the ways to ask with it that keep to the command timeout: those of its own wait while the connection stands. */
export interface Client {
  readonly redis: Redis | Cluster;
  readonly send: Send;
  /** Runs a script by its hash; by its source where the store does not know it. */
  run(script: Script, key: string, args: readonly (string | Buffer)[], encoding: Encoding): Promise<unknown>;
  /** Rejects unless the store answers within the command timeout, connecting included. */
  ping(): Promise<void>;
}

/**
 * A client that reconnects by itself and loads `scripts` whenever it has. Until then, and on every fault, commands
 * reject at once, with the client's errors, which carry their arguments: not to be shown.
 */
export function openClient(options: ConnectionOptions, scripts: readonly Script[]): Client {
  const timeout = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const redis = options.cluster
    ? new Cluster([options.url], {
        redisOptions: nodeOptions(timeout),
        enableOfflineQueue: false,
        clusterRetryStrategy: backoff,
      })
    : new Redis(options.url, { ...nodeOptions(timeout), enableOfflineQueue: false, retryStrategy: backoff });
  redis.on('error', () => {}); // every call reports its own
  redis.on('ready', () => loadInto(redis, scripts));
  const send = sendingOn(redis, timeout);
  return {
    redis,
    send,
    async run(script, key, args, encoding) {
      try {
        return await send('evalsha', [script.sha, '1', key, ...args], encoding);
      } catch (error) {
        if (!isScriptMissing(error)) throw error;
      }
      return send('eval', [script.source, '1', key, ...args], encoding);
    },
    async ping() {
      await ready(redis, timeout);
      await send('ping', [], 'utf8');
    },
  };
}

/** No queue while disconnected and nothing sent twice: a call that fails must not take effect when it is forgotten. */
function nodeOptions(timeout: number) {
  return {
    connectTimeout: 2 * timeout,
    // A peer that vanished without a word: give the connection up rather than wait for TCP to.
    socketTimeout: 3 * timeout,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // After a failover the address may lead to the new primary.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions;
}

function backoff(attempt: number): number {
  return Math.min(MOST_BACKOFF_MS, 25 * 2 ** Math.min(attempt, 8)) + Math.random() * 50;
}

function loadInto(client: Redis | Cluster, scripts: readonly Script[]): void {
  const nodes = client instanceof Redis ? [client] : client.nodes('master');
  for (const node of nodes) {
    for (const { source } of scripts) node.script('LOAD', source).catch(() => {}); // `run` sends missing scripts
  }
}

/** Resolves once commands would be sent; rejects when that takes longer. */
function ready(client: Redis | Cluster, timeout: number): Promise<void> {
  if (client.status === 'ready') return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      client.off('ready', onReady);
      reject(new Error('not connected'));
    }, timeout);
    const onReady = (): void => {
      clearTimeout(timer);
      resolve();
    };
    client.once('ready', onReady);
  });
}

/** The server does not know a script by its hash. */
function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** The client's errors carry commands with their arguments: only the kind of the fault is kept. */
function unavailable(error: unknown): CountersUnavailable {
  return new CountersUnavailable(`the limit counters cannot be reached: ${kindOf(error)}`);
}

/** The error's code, never its text, which may quote data. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code =
    'code' in error && typeof error.code === 'string' ? error.code : /^[A-Z]{3,}(?= )/.exec(error.message)?.[0];
  if (code) return code;
  return error.message === 'Command timed out' ? 'timeout' : 'not connected';
}
