import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { openPostgresContent } from '#/adapters/postgres/retained-content.ts';
import { createContentWriter } from '#/seal/content/content-writer.ts';
import { createContentCipher } from '#/seal/content/content-cipher.ts';
import { chat, cutOff, echo } from '../harness/answers.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { startPostgres } from '../harness/postgres.ts';
import { startStack, type Stack } from './stack.ts';

/** What is kept of calls, who can read it, and that it goes when it should. */

let stack: Stack | undefined;
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const RETAINED = { contentRetention: 'Enabled', contentRetentionDays: 7 };
const CACHED = { ...RETAINED, caching: { responseCache: { mode: 'Enabled' } } };
const PERSONAL = { messages: [{ role: 'user', content: 'Write to ada@example.com' }] };

const EMPTY = {
  v: 1,
  surface: 'chat',
  wire_format: 'chat',
  provider: 'p',
  model: 'm',
  stream: false,
  same_as: null,
  tags: {},
  truncated: [],
} as const;

interface Kept {
  readonly request: string;
  readonly answer: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly same_as: string | null;
  readonly expires: string;
}

function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'keys');
  writeFileSync(file, `k1:${randomBytes(32).toString('base64')}\n`);
  return file;
}

const gwctl = (env: Readonly<Record<string, string>>, ...args: readonly string[]) => runGwctl(args, { env });

async function start(policy: object) {
  const file = keyFile();
  stack = await startStack({ policy, env: { GW_CONTENT_KEY_FILE: file } });
  const { databaseUrl, redis } = stack;
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, GW_CONTENT_KEY_FILE: file };
  const kept = async (): Promise<number> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM retained_content');
    await client.end();
    return rows[0]!.count;
  };
  const id = async (answering: Promise<Response>): Promise<string> => {
    const answer = await answering;
    await answer.text();
    return answer.headers.get('x-request-id')!;
  };
  const show = async (callId: string): Promise<Kept> => {
    await expect.poll(async () => (await gwctl(env, 'content', 'show', callId)).status, { interval: 50 }).toBe(0);
    return JSON.parse((await gwctl(env, 'content', 'show', callId)).out) as Kept;
  };
  return { ...stack, env, kept, id, show };
}

test('keeps what the provider saw and said, sealed, and what its tags stand for', async () => {
  const { ask, upstream, env, id, show, databaseUrl } = await start(RETAINED);
  upstream.respond(echo());
  const callId = await id(ask({ ...PERSONAL, stream: true }));
  const content = await show(callId);
  expect(content.request).toBe(upstream.requests[0]!.body);
  expect(content.answer).toContain('Write to «EMAIL_1»');
  expect(content.tags).toEqual({ '«EMAIL_1»': 'ada@example.com' });
  const days = (Date.parse(content.expires) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThan(7.1);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ sealed: Buffer }>('SELECT sealed FROM retained_content');
  await client.end();
  expect(rows).toHaveLength(1);
  expect(rows[0]!.sealed.includes('EMAIL')).toBe(false);
  const wrong = await gwctl({ ...env, GW_CONTENT_KEY_FILE: keyFile() }, 'content', 'show', callId);
  expect(wrong).toMatchObject({ status: 2, out: '' });
  expect(wrong.err).toContain('cannot be decrypted with these keys');
}, 60_000);

test('keeps nothing without the opt-in, and nothing of a call that was not sent', async () => {
  const { ask, kept, id, databaseUrl } = await start({ dlp: { mode: 'Block' } });
  await rowOf(databaseUrl, await id(ask()));
  expect(await kept()).toBe(0);
  await stack!.gateway.stop();
  await stack![Symbol.asyncDispose]();
  const other = await start({ ...RETAINED, dlp: { mode: 'Block' } });
  const refused = await other.id(other.ask(PERSONAL));
  expect(await rowOf(other.databaseUrl, refused)).toMatchObject({ outcome: 'refused' });
  await other.show(await other.id(other.ask()));
  expect(await other.kept()).toBe(1);
}, 60_000);

test('keeps what was sent to a provider that failed, and what came of a stream that broke', async () => {
  const { ask, upstream, id, show } = await start(RETAINED);
  upstream.respond(cutOff());
  expect(await show(await id(ask()))).toMatchObject({ answer: '', request: upstream.requests[0]!.body });
  upstream.respond(chat({ content: ['early', 'late'], ending: 'reset', finishReason: null, done: false }));
  expect((await show(await id(ask({ stream: true })))).answer).toContain('early');
}, 60_000);

test('of an answer from the cache: whose it is, and its own tags', async () => {
  const { ask, upstream, id, show } = await start(CACHED);
  upstream.respond(echo());
  const first = await id(ask(PERSONAL));
  const second = await id(ask({ messages: [{ role: 'user', content: 'Write to bob@example.org' }] }));
  expect(await show(first)).toMatchObject({ same_as: null, tags: { '«EMAIL_1»': 'ada@example.com' } });
  expect(await show(second)).toMatchObject({
    same_as: first,
    request: '',
    answer: '',
    tags: { '«EMAIL_1»': 'bob@example.org' },
  });
  expect(upstream.requests).toHaveLength(1);
}, 60_000);

test('erases an organization: its content and its cached answers, and no audit row', async () => {
  const { ask, upstream, env, id, show, kept, databaseUrl } = await start(CACHED);
  const callId = await id(ask());
  await show(callId);
  expect(await gwctl(env, 'content', 'erase', '--organization', 'default/rival')).toMatchObject({
    status: 0,
    out: '0 cached answers erased\ncontent of 0 calls erased\n',
  });
  expect(await kept()).toBe(1);
  expect(await gwctl(env, 'content', 'erase', '--organization', 'default/acme')).toMatchObject({
    status: 0,
    out: '1 cached answers erased\ncontent of 1 calls erased\n',
  });
  expect(await gwctl(env, 'content', 'show', callId)).toMatchObject({ status: 1, out: '' });
  expect((await ask()).headers.get('x-gw-cache')).toBe('miss');
  expect(upstream.requests).toHaveLength(2);
  expect(await rowOf(databaseUrl, callId)).toMatchObject({ outcome: 'served' });
  expect(await gwctl(env, 'audit', 'verify')).toMatchObject({ status: 0 });
}, 60_000);

test('a database that is gone keeps no call waiting: content queues up to a bound, and is written once it is back', async () => {
  const server = await startPostgres({ control: true });
  cleanup.defer(() => server.stop());
  const store = await openPostgresContent({ connectionString: server.url });
  cleanup.defer(() => store.close());
  const dropped: string[] = [];
  let faults = 0;
  const cipher = createContentCipher([{ id: 'k', secret: randomBytes(32) }]);
  const writer = createContentWriter({
    store,
    cipher,
    onFault: () => void faults++,
    onDropped: (callId) => void dropped.push(callId),
    maxPending: 10_000,
  });
  cleanup.defer(() => writer.stop());
  const ids = Array.from({ length: 12 }, () => randomUUID());
  await server.kill();
  for (const callId of ids) {
    const content = { ...EMPTY, request: 'r'.repeat(900), answer: callId };
    writer.enqueue({ callId, organization: 'o', expiresAt: Date.now(), content });
  }
  expect(dropped).toEqual(ids.slice(10));
  await expect.poll(() => faults).toBeGreaterThan(0);
  expect(await writer.drain(1)).toBe(false);
  await server.restart();
  expect(await writer.drain(20_000)).toBe(true);
  for (const callId of ids.slice(0, 10)) {
    const item = await store.find(callId);
    const opened = item && cipher.decrypt({ organization: 'o', purpose: 'content', name: callId }, item.encrypted);
    expect(JSON.parse(String(opened))).toMatchObject({ answer: callId });
  }
  expect(await store.find(ids[11]!)).toBeUndefined();
}, 60_000);

test.each([
  [['content', 'show'], 'give the id of one call'],
  [['content', 'show', 'x'], 'is not the id of a call'],
  [['content', 'erase'], '--organization takes'],
  [['content', 'erase', '--organization', 'a/b', '--database-url', 'mysql://x'], 'takes a postgres:// URL'],
])('gwctl %j ends with 2', async (args, reason) => {
  const answer = await gwctl({ GW_CONTENT_KEY_FILE: keyFile() }, ...args);
  expect(answer).toMatchObject({ status: 2, out: '' });
  expect(answer.err).toContain(reason);
});
