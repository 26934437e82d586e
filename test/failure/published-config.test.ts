import { gunzipSync } from 'node:zlib';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { openPublishedConfig, type RedisPublishedConfig } from '../../src/adapters/redis/published-config.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { configKeys, newConfigKey, openTestPublisher, type TestPublisher } from '../harness/published-config.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

let all: AsyncDisposableStack;
let redis: RedisServer;
let upstream: Upstream;
let publisher: TestPublisher;
let store: RedisPublishedConfig;
let folder: string;
let databaseUrl: string;
const key = newKey();

beforeEach(async () => {
  all = new AsyncDisposableStack();
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-published-'));
  all.defer(() => rmSync(folder, { recursive: true, force: true }));
  redis = await startRedis({ control: true });
  all.defer(() => redis.stop());
  upstream = all.use(await startUpstream());
  databaseUrl = await createDatabase(inject('databaseUrl'));
  publisher = all.use(await openTestPublisher(redis.url, configKeys(newConfigKey(), join(folder, 'unused'))));
  store = openPublishedConfig({ url: redis.url });
  all.defer(() => store.close());
  await store.ping();
});
afterEach(() => all.disposeAsync());

/** However busy the machine is. */
const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 60_000 });

const SECRET = 'sk-canary-0123456789';

/** Everything that there is, with a provider that needs a secret. */
function resources(changes: { readonly workload?: object; readonly revoked?: boolean } = {}): object[] {
  const provider = {
    credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
  };
  const made = tenant({
    upstreamUrl: upstream.url,
    key,
    provider,
    ...(changes.workload && { workload: changes.workload }),
  });
  return [
    ...(made as { kind: string; spec: object }[]).map((one) =>
      one.kind === 'VirtualKey' ? { ...one, spec: { ...one.spec, revoked: changes.revoked ?? false } } : one,
    ),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'default' },
      data: { main: Buffer.from(SECRET).toString('base64') },
    },
  ];
}

/** A gateway and who publishes for it, with a key of their own. */
async function start(options: { readonly dataDir?: string; readonly keyText?: string } = {}): Promise<GatewayProcess> {
  const keyFile = join(folder, 'config-keys');
  const text = options.keyText ?? newConfigKey();
  publisher = all.use(await openTestPublisher(redis.url, configKeys(text, keyFile)));
  return startAnother(keyFile, options.dataDir ?? join(folder, 'data'));
}

async function startAnother(keyFile = join(folder, 'config-keys'), dataDir = join(folder, 'data')) {
  const env = { GW_CONFIG_KEY_FILE: keyFile, GW_GATEWAY_NAME: 'gateway-0' };
  const gateway = await startGateway({ redisUrl: redis.url, databaseUrl, dataDir, env });
  all.defer(() => gateway.kill());
  return gateway;
}

const ask = (gateway: GatewayProcess, secret = key): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'Hello' }] }),
  });
const statusOf = async (gateway: GatewayProcess, secret?: string): Promise<number> =>
  (await ask(gateway, secret)).status;
const codeOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { error: { code: string } }).error.code;
const readiness = async (gateway: GatewayProcess): Promise<number> =>
  (await fetch(`${gateway.adminUrl}/readyz`)).status;
const metric = async (gateway: GatewayProcess, name: string): Promise<number | undefined> => {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
};
const eventsOf = ({ log }: GatewayProcess, name: string) =>
  log.filter((line) => line.includes(`"event":"${name}"`)).map((line) => JSON.parse(line) as Record<string, unknown>);

test('a gateway waits for its first configuration, takes it over when told, and reports it', async () => {
  const gateway = await start();
  expect(await readiness(gateway)).toBe(503);
  const early = await ask(gateway);
  expect([early.status, await codeOf(early)]).toEqual([503, 'auth_unavailable']);
  const head = await publisher.publish(resources());
  await eventually(() => readiness(gateway)).toBe(200);
  expect(await statusOf(gateway)).toBe(200);
  expect(upstream.requests[0]!.headers['authorization']).toBe(`Bearer ${SECRET}`);
  const stranger = await ask(gateway, newKey());
  expect([stranger.status, await codeOf(stranger)]).toEqual([401, 'invalid_api_key']);
  await eventually(async () => (await store.gateways()).get('gateway-0')).toMatchObject({
    epoch: 1,
    seq: head.seq,
    broken: [],
  });
  expect(await metric(gateway, 'gw_config_age_seconds')).toBeLessThan(30);
});

test('a key that is revoked is refused by the next call, and one that is new is taken', async () => {
  const gateway = await start();
  await publisher.publish(resources());
  await eventually(() => statusOf(gateway)).toBe(200);
  await publisher.publish(resources({ revoked: true }));
  await eventually(() => statusOf(gateway)).toBe(401);
  const other = newKey();
  const [, , virtualKey] = tenant({ upstreamUrl: upstream.url, key: other });
  const second = { ...(virtualKey as object), metadata: { name: 'second', namespace: 'default' } };
  await publisher.publish([...resources(), second]);
  await eventually(() => statusOf(gateway, other)).toBe(200);
  expect(await statusOf(gateway)).toBe(200);
});

test('secrets are nowhere in the store or on the disk', async () => {
  const gateway = await start();
  await publisher.publish(resources());
  await eventually(() => statusOf(gateway)).toBe(200);
  const texts: string[] = [];
  for (const name of await publisher.redis.keys('{gwcfg}:seg:*')) {
    texts.push(gunzipSync((await publisher.redis.getBuffer(name))!).toString('utf8'));
  }
  expect(texts.join()).toContain('"secretKeyRef"');
  const kept = join(folder, 'data', 'config');
  const { readFileSync } = await import('node:fs');
  // A draft becomes one of the others, or is gone by now.
  for (const name of readdirSync(kept).filter((one) => !one.endsWith('.draft'))) {
    const bytes = readFileSync(join(kept, name));
    texts.push(name === 'head.json' ? bytes.toString('utf8') : gunzipSync(bytes).toString('utf8'));
  }
  for (const text of texts) {
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(Buffer.from(SECRET).toString('base64'));
  }
  expect(gateway.log.join('\n')).not.toContain(SECRET);
});

test('Redis flushed: what was in force stays, and what is published next is taken over', async () => {
  const gateway = await start();
  await publisher.publish(resources());
  await eventually(() => statusOf(gateway)).toBe(200);
  const before = eventsOf(gateway, 'config.not_taken').length;
  await publisher.redis.flushall();
  // Until the counters are rebuilt calls are refused; the key is known all the while.
  await eventually(() => statusOf(gateway)).toBe(200);
  expect(await readiness(gateway)).toBe(200);
  await eventually(() => eventsOf(gateway, 'config.not_taken').length).toBe(before + 1);
  expect(eventsOf(gateway, 'config.not_taken').at(-1)).toMatchObject({ why: 'missing' });
  const taken = eventsOf(gateway, 'config.taken_again').length;
  await publisher.publish(resources({ revoked: true }));
  await eventually(() => statusOf(gateway)).toBe(401);
  await eventually(() => eventsOf(gateway, 'config.taken_again').length).toBe(taken + 1);
});

test('a gateway that starts while Redis is away serves by its copy, and calls no key unknown', async () => {
  const first = await start();
  await publisher.publish(resources());
  await eventually(() => statusOf(first)).toBe(200);
  await eventually(() => readdirSync(join(folder, 'data', 'config'))).toContain('head.json');
  await first.stop();
  await redis.kill();
  const gateway = await startAnother();
  expect(await readiness(gateway)).toBe(200);
  const known = await ask(gateway);
  expect([known.status, await codeOf(known)]).toEqual([503, 'limits_unavailable']);
  const stranger = await ask(gateway, newKey());
  expect([stranger.status, await codeOf(stranger)]).toEqual([503, 'auth_unavailable']);
  expect(stranger.headers.get('retry-after')).toBe('5');
  await redis.restart({ empty: true });
  await publisher.publish(resources());
  await eventually(() => statusOf(gateway, newKey())).toBe(401);
});

test('a copy that was changed is not believed', async () => {
  const first = await start();
  await publisher.publish(resources());
  await eventually(() => statusOf(first)).toBe(200);
  const kept = join(folder, 'data', 'config');
  // The copy is written after the configuration is in force.
  await eventually(() => readdirSync(kept)).toContain('head.json');
  await first.stop();
  await redis.kill();
  const [segment] = readdirSync(kept).filter((name) => name !== 'head.json');
  writeFileSync(join(kept, segment!), 'something else');
  const gateway = await startAnother();
  expect(await readiness(gateway)).toBe(503);
  expect(await statusOf(gateway)).toBe(503);
  await redis.restart({ empty: true });
  await publisher.publish(resources());
  await eventually(() => readiness(gateway)).toBe(200);
});

test('a broken segment leaves the last good configuration in force, is reported, and mended', async () => {
  const gateway = await start();
  await publisher.publish(resources());
  await eventually(() => statusOf(gateway)).toBe(200);
  // Broken between being written and being read: the digest of the workload's segment, known beforehand.
  const manifestOf = async () => {
    const { segments } = JSON.parse((await store.head())!.manifest) as { segments: Record<string, string> };
    return segments;
  };
  const before = await manifestOf();
  redis.pause();
  const published = publisher.publish(resources({ revoked: true })).catch(() => undefined);
  redis.resume();
  await published;
  await eventually(() => statusOf(gateway)).toBe(401);
  const [name] = Object.keys(await manifestOf()).filter((one) => one.startsWith('keys-'));
  const good = (await store.segments([(await manifestOf())[name!]!])).get((await manifestOf())[name!]!)!;
  await publisher.publish(resources());
  await eventually(() => statusOf(gateway)).toBe(200);
  expect((await manifestOf())[name!]).toBe(before[name!]);
  // The revoked state again, but its segment is not what its name says.
  const digest = (await import('node:crypto')).createHash('sha256').update(gunzipSync(good)).digest('hex');
  await publisher.redis.set(`{gwcfg}:seg:${digest}`, 'not a segment');
  await publisher.publish(resources({ revoked: true }));
  await eventually(async () => (await store.gateways()).get('gateway-0')?.broken).toEqual([digest]);
  expect(await statusOf(gateway)).toBe(200);
  // At least once: a gateway tries again by itself.
  expect(await metric(gateway, 'gw_config_not_taken_total{why="broken"}')).toBeGreaterThanOrEqual(1);
  await store.put(new Map([[digest, good]]));
  await eventually(() => statusOf(gateway)).toBe(401);
  // The report follows what is in force.
  await eventually(async () => (await store.gateways()).get('gateway-0')?.broken).toEqual([]);
});

test('an older controller is fenced, and a head that it wrote past the fence is ignored', async () => {
  const gateway = await start();
  await publisher.publish(resources(), 5);
  await eventually(() => statusOf(gateway)).toBe(200);
  await expect(publisher.publish(resources({ revoked: true }), 4)).rejects.toThrow('later controller');
  const head = (await store.head())!;
  await publisher.redis.del('{gwcfg}:current');
  await publisher.publish(resources({ revoked: true }), 4);
  await eventually(() => eventsOf(gateway, 'config.not_taken').at(-1)?.['why']).toBe('older');
  expect(await statusOf(gateway)).toBe(200);
  // Whoever can write to Redis, and no more, changes nothing.
  await publisher.redis.hset('{gwcfg}:current', {
    epoch: 9,
    seq: 9,
    manifest: head.manifest,
    signature: head.signature,
  });
  await eventually(() => eventsOf(gateway, 'config.not_taken').at(-1)?.['why']).toBe('forged');
  expect(await statusOf(gateway)).toBe(200);
});

test('a key whose workload is withheld is not called unknown', async () => {
  const gateway = await start();
  const unprotected = resource('Policy', 'strict', {
    targetRefs: [{ kind: 'Workload', name: 'app' }],
    defaults: { dlp: { mode: 'Block', customTerms: [{ label: 'p', secretKeyRef: { name: 'gone', key: 'x' } }] } },
  });
  await publisher.publish([...resources(), unprotected]);
  await eventually(() => readiness(gateway)).toBe(200);
  const answer = await ask(gateway);
  expect([answer.status, await codeOf(answer)]).toEqual([503, 'auth_unavailable']);
  expect(await statusOf(gateway, newKey())).toBe(401);
  expect(upstream.requests).toHaveLength(0);
});
