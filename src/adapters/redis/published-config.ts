import type { Cluster, Redis } from 'ioredis';
import type {
  ConfigFeed,
  ConfigPublisher,
  GatewayReport,
  Publication,
  PublishedHead,
} from '#/config/published/config-store.ts';
import { kindOf, openClient, type ConnectionOptions } from './connection.ts';
import { load, type Script } from './scripts.ts';
import type { Send } from './sender.ts';

/** Published configuration in Redis: for gateways, which read it, and for the controller, which writes it. */
export interface RedisPublishedConfig extends ConfigFeed, ConfigPublisher {
  /** Rejects unless the store answers within the command timeout, connecting included. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Of all keys of the configuration, which so are in one slot of a cluster. */
const PREFIX = '{gwcfg}:';
const HEAD = `${PREFIX}current`;
const REPORTS = `${PREFIX}gateways`;
const CHANNEL = `${PREFIX}published`;
/** Longer than a publication needs to come into force. */
const UNUSED_SECONDS = 600;
const REPORT_SECONDS = 30;
const COMMAND_TIMEOUT_MS = 5000;
const AT_ONCE = 64;

/**
 * Connects to Redis (7.0 or newer), standalone or Cluster, with connections of its own. Without a connection, calls
 * reject at once with only the kind of the fault.
 */
export function openPublishedConfig(options: ConnectionOptions): RedisPublishedConfig {
  const publish = load('publish-config');
  const report = load('report-config');
  const reports = load('config-reports');
  const timeout = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const { redis, send, ...client } = openClient({ ...options, commandTimeoutMs: timeout }, [publish, report, reports]);
  const subscribers: (Redis | Cluster)[] = [];
  const run = (script: Script, key: string, ...args: readonly string[]): Promise<unknown> =>
    guarded(() => client.run(script, key, args, 'utf8'));
  return {
    head: () =>
      guarded(async () => toHead(await send('hmget', [HEAD, 'epoch', 'seq', 'manifest', 'signature'], 'utf8'))),
    segments: (digests) => guarded(() => readSegments(send, digests)),
    follow(changed) {
      const { redis: subscriber } = openClient({ ...options, commandTimeoutMs: timeout }, []);
      subscribers.push(subscriber);
      // Publications during a lost connection are not announced again.
      subscriber.on('ready', () => void subscriber.subscribe(CHANNEL).then(changed, () => {}));
      subscriber.on('message', changed);
    },
    async report(gateway, told) {
      await run(report, REPORTS, gateway, JSON.stringify(told));
    },
    async leave(gateway) {
      await guarded(() => send('hdel', [REPORTS, gateway], 'utf8'));
    },
    async put(segments) {
      for (const batch of batches([...segments])) {
        const put = ([digest, bytes]: readonly [string, Uint8Array]) =>
          send('set', [segmentKey(digest), Buffer.from(bytes), 'EX', String(UNUSED_SECONDS)], 'utf8');
        await guarded(() => Promise.all(batch.map(put)));
      }
    },
    async publish({ epoch, seq, manifest, signature }) {
      return toPublication(await run(publish, HEAD, String(epoch), String(seq), manifest, signature));
    },
    async gateways() {
      const found = (await run(reports, REPORTS, String(REPORT_SECONDS))) as readonly string[];
      const gateways = new Map<string, GatewayReport>();
      for (let index = 0; index + 1 < found.length; index += 2) {
        gateways.set(found[index]!, JSON.parse(found[index + 1]!) as GatewayReport);
      }
      return gateways;
    },
    ping: () => guarded(() => client.ping()),
    async close() {
      for (const one of [redis, ...subscribers]) one.disconnect();
    },
  };
}

function segmentKey(digest: string): string {
  return `${PREFIX}seg:${digest}`;
}

async function readSegments(send: Send, digests: readonly string[]) {
  const found = new Map<string, Uint8Array>();
  for (const batch of batches(digests)) {
    const values = (await send('mget', batch.map(segmentKey), null)) as readonly (Buffer | null)[];
    for (const [index, digest] of batch.entries()) {
      const value = values[index];
      if (value) found.set(digest, value);
    }
  }
  return found;
}

/** Little enough at a time that others are answered in between. */
function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += AT_ONCE) yield items.slice(from, from + AT_ONCE);
}

function toHead(reply: unknown): PublishedHead | undefined {
  const [epoch, seq, manifest, signature] = reply as readonly (string | null)[];
  if (!epoch || !seq || !manifest || !signature) return undefined;
  return { epoch: Number(epoch), seq: Number(seq), manifest, signature };
}

/** What publish-config.lua answers. */
function toPublication(reply: unknown): Publication {
  const [kind, ...rest] = reply as readonly [string, ...(readonly (string | number)[])];
  if (kind === 'missing') return { kind, digests: rest.map(String) };
  const at = { epoch: Number(rest[0]), seq: Number(rest[1]) };
  if (kind === 'fenced' || kind === 'stale') return { kind, at };
  return { kind: 'published', over: at.epoch === 0 ? undefined : at };
}

/** The client's errors carry commands with their arguments: only the kind of the fault is kept. */
async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new Error(`published configuration cannot be reached: ${kindOf(error)}`);
  }
}
