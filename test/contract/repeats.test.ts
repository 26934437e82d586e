import { expect, test } from 'vitest';
import { openMemoryCache } from '#/adapters/memory/response-cache.ts';
import type { CallRequest } from '#/call/call.ts';
import { HotCache, type Repeat } from '#/dispatch/cache/hot-cache.ts';

/** What a process remembers of calls that it answered from the cache: for how long, and how much. */

const key = {
  id: 'default/key',
  workload: { organization: { id: 'default/acme' }, policy: { responseCache: { enabled: true } } },
};
const snapshot = {};
const ingress = (text: string, more: Partial<CallRequest> = {}): [CallRequest, string] => [
  { key, snapshot, surface: 'chat', headers: {}, ...more } as unknown as CallRequest,
  text,
];
const repeat = (text: string): Repeat => ({ row: {} as Repeat['row'], headers: {}, text, content: undefined });

async function open(maxBytes?: number) {
  const store = openMemoryCache();
  const faults: unknown[] = [];
  const found: true[] = [];
  const repeats = new HotCache({
    store,
    onFault: (error) => faults.push(error),
    onFound: () => found.push(true),
    ...(maxBytes !== undefined && { maxBytes }),
  });
  const epoch = await store.epoch('default/acme');
  return { store, repeats, faults, found, stored: { ttlMs: 600_000, epoch } };
}

test('a call is known by its bytes, surface, key, configuration and the headers that count', async () => {
  const { repeats, stored, found } = await open();
  repeats.note(...ingress('a', { headers: { 'anthropic-beta': 'x', accept: '*/*' } }), repeat('answer'), stored);
  const like = (more: Partial<CallRequest>, text = 'a') =>
    repeats.find(...ingress(text, { headers: { 'anthropic-beta': 'x' }, ...more }));
  expect((await like({}))?.text).toBe('answer');
  expect((await like({ headers: { 'anthropic-beta': 'x', 'user-agent': 'me' } }))?.text).toBe('answer');
  expect(found).toHaveLength(2);
  expect(await like({}, 'b')).toBeUndefined();
  expect(await like({ surface: 'messages' })).toBeUndefined();
  expect(await like({ headers: {} })).toBeUndefined();
  expect(await like({ headers: { 'anthropic-beta': 'y' } })).toBeUndefined();
  expect(await like({ headers: { 'anthropic-beta': 'x', 'x-gw-dlp': 'off' } })).toBeUndefined();
  expect(await like({ key: { ...key, id: 'default/other' } as unknown as CallRequest['key'] })).toBeUndefined();
  expect(await like({ snapshot: { ...snapshot } as CallRequest['snapshot'] })).toBeUndefined();
  expect(found).toHaveLength(2);
});

test('what the store keeps no longer is not known, nor what it has erased', async () => {
  const { repeats, stored, store } = await open();
  repeats.note(...ingress('over'), repeat('answer'), { ...stored, ttlMs: 0 });
  expect(await repeats.find(...ingress('over'))).toBeUndefined();
  repeats.note(...ingress('erased'), repeat('answer'), stored);
  await store.erase('default/acme');
  // Nobody has asked for the epoch before: it is asked for now.
  expect(await repeats.find(...ingress('erased'))).toBeUndefined();
  repeats.note(...ingress('erased'), repeat('new'), { ...stored, epoch: await store.epoch('default/acme') });
  expect((await repeats.find(...ingress('erased')))?.text).toBe('new');
});

test('nothing is known while the store cannot be asked', async () => {
  const faults: unknown[] = [];
  const repeats = new HotCache({
    store: { epoch: () => Promise.reject(new Error('gone')) },
    onFault: (error) => faults.push(error),
    onFound: () => {},
  });
  repeats.note(...ingress('a'), repeat('answer'), { ttlMs: 600_000, epoch: 'any' });
  const asked = await Promise.all([repeats.find(...ingress('a')), repeats.find(...ingress('a'))]);
  expect(asked).toEqual([undefined, undefined]);
  expect(faults).toHaveLength(1);
});

test('no more is kept than there is room for, and nothing of more than a mebibyte', async () => {
  const { repeats, stored } = await open(2_500_000);
  const long = 'x'.repeat(400_000);
  for (const text of ['first', 'second', 'third', 'fourth']) repeats.note(...ingress(text), repeat(long), stored);
  expect(await repeats.find(...ingress('first'))).toBeUndefined();
  expect((await repeats.find(...ingress('fourth')))?.text).toBe(long);
  repeats.note(...ingress('huge'), repeat('x'.repeat(600_000)), stored);
  expect(await repeats.find(...ingress('huge'))).toBeUndefined();
});
