import { randomUUID } from 'node:crypto';
import type { ResponseCache } from '#/ports/response-cache.ts';
import { kindOf, openClient, type ConnectionOptions } from './connection.ts';
import { answersKey, checkPrefix, KEY_PREFIX } from './keys.ts';
import { load, type Script } from './scripts.ts';

export interface RedisCacheOptions extends ConnectionOptions {
  /** Put before every key; without braces. Default `gw:`. */
  readonly keyPrefix?: string;
  /** Most bytes an organization may keep; answers that expire first make room. Default 64 MiB. */
  readonly maxBytesPerOrganization?: number;
}

/** A response cache in Redis, shared by every gateway that uses the same server and key prefix. */
export interface RedisResponseCache extends ResponseCache {
  /** Rejects unless the store answers within the command timeout, connecting included. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** A call waits no longer for its answer to be found than finding it could save. */
const COMMAND_TIMEOUT_MS = 250;
const ERASED_AT_ONCE = 1000;

/** What get-answer.lua answers. */
type Found = readonly [epoch: Buffer, at?: number, encrypted?: Buffer, ttlMs?: number];

/**
 * Connects to Redis (7.0 or newer), standalone or Cluster, with a connection of its own: large answers must not keep
 * holds waiting. Without a connection, calls reject at once, with only the kind of the fault.
 */
export function openRedisCache(options: RedisCacheOptions): RedisResponseCache {
  const { keyPrefix: prefix = KEY_PREFIX, maxBytesPerOrganization = MAX_BYTES } = options;
  checkPrefix(prefix);
  const get = load('epoch', 'get-answer');
  const put = load('put-answer');
  const erase = load('erase-answers');
  const epochOf = load('epoch', 'answer-epoch');
  const timeout = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const client = openClient({ ...options, commandTimeoutMs: timeout }, [get, put, erase, epochOf]);
  const run = (script: Script, organization: string, ...args: readonly (string | Buffer)[]): Promise<unknown> =>
    guarded(() => client.run(script, answersKey(prefix, organization), args, null));
  return {
    async get(organization, names) {
      const reply = (await run(get, organization, randomUUID(), ...names)) as Found;
      const [epoch, at, encrypted, ttlMs] = reply;
      const name = at === undefined ? undefined : names[at];
      const entry = name !== undefined && encrypted && ttlMs !== undefined ? { name, encrypted, ttlMs } : undefined;
      return { entry, epoch: epoch.toString('latin1') };
    },
    async put(organization, name, encrypted, ttlSeconds, epoch) {
      const content = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.length);
      await run(put, organization, name, content, String(ttlSeconds), String(maxBytesPerOrganization), epoch);
    },
    async erase(organization) {
      let erased = 0;
      for (let count = ERASED_AT_ONCE; count >= ERASED_AT_ONCE; erased += count) {
        count = Number(await run(erase, organization, randomUUID()));
      }
      return erased;
    },
    async epoch(organization) {
      return ((await run(epochOf, organization, randomUUID())) as Buffer).toString('latin1');
    },
    ping: () => guarded(() => client.ping()),
    async close() {
      client.redis.disconnect();
    },
  };
}

/** The client's errors carry commands with their arguments: only the kind of the fault is kept. */
async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new Error(`the response cache cannot be reached: ${kindOf(error)}`);
  }
}
