import { expect, test, vi } from 'vitest';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { ToolListing } from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { ServerLists, type ListEvent } from './server-lists.ts';

/** A clock that tests set, and a server that answers as they say. */
function world(ttlMs?: number) {
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const events: ListEvent[] = [];
  const state = { asked: 0, fails: false, bytes: 100 };
  const list = async (): Promise<ToolListing> => {
    state.asked += 1;
    if (state.fails) throw new UpstreamFault('connect', 'gone');
    return { tools: [], leftOut: 0, bytes: state.bytes, ttlMs, version: '2026-07-28' };
  };
  const lists = new ServerLists(
    { kind: 'tools', ask: list, count: ({ tools }) => tools.length, mostBytes: 32 * 1024 * 1024 },
    (event) => events.push(event),
  );
  return { lists, state, events, pass: (ms: number) => (now += ms) };
}

const SERVER = { id: 'a/b', url: 'http://x', auth: { type: 'none' } } as unknown as McpServerConfig;
const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

test('a list is kept for half a minute, used once more while it is renewed, and asked for once by many', async () => {
  const { lists, state, pass } = world();
  const [first, second] = await Promise.all([lists.of(SERVER), lists.of(SERVER)]);
  expect(first).toBe(second);
  pass(29_000);
  expect(await lists.of(SERVER)).toBe(first);
  expect(state.asked).toBe(1);
  pass(2000);
  expect(await lists.of(SERVER)).toBe(first);
  await settled();
  expect(state.asked).toBe(2);
  expect(await lists.of(SERVER)).not.toBe(first);
});

test('a server says how long its list is kept, up to a minute', async () => {
  const { lists, state, pass } = world(3_600_000);
  await lists.of(SERVER);
  pass(59_000);
  await lists.of(SERVER);
  expect(state.asked).toBe(1);
  pass(2000);
  await lists.of(SERVER);
  expect(state.asked).toBe(2);
});

test('a server that is down keeps its last list for ten minutes, and delays nothing', async () => {
  const { lists, state, events, pass } = world();
  const first = await lists.of(SERVER);
  state.fails = true;
  pass(120_000);
  expect(await lists.of(SERVER)).toBe(first);
  const { asked } = state;
  expect(await lists.of(SERVER)).toBe(first);
  expect(state.asked).toBe(asked);
  pass(500_000);
  expect(await lists.of(SERVER)).toBeUndefined();
  await settled();
  expect(events.filter(({ kind }) => kind === 'tools.unlisted').map((one) => 'isNew' in one && one.isNew)).toEqual([
    true,
    false,
  ]);
});

test('for a tool that is not listed a server is asked again, every two seconds at most', async () => {
  const { lists, state, pass } = world();
  await lists.of(SERVER);
  await lists.renewed(SERVER);
  expect(state.asked).toBe(1);
  pass(2100);
  await lists.renewed(SERVER);
  expect(state.asked).toBe(2);
});

test('a server that lets its list be kept for no time is asked every two seconds at most', async () => {
  const { lists, state, pass } = world(0);
  for (let call = 0; call < 100; call++) {
    await lists.of(SERVER);
    await settled();
    pass(10);
  }
  expect(state.asked).toBe(1);
  pass(1500);
  await lists.of(SERVER);
  expect(state.asked).toBe(2);
});

test('lists are kept up to a number of bytes: the longest unused are asked for again', async () => {
  const { lists, state } = world();
  state.bytes = 1024 * 1024;
  const servers = Array.from({ length: 40 }, (_, at) => ({ ...SERVER, id: `a/${at}` }));
  for (const server of servers) await lists.of(server);
  expect(state.asked).toBe(40);
  await lists.of(servers.at(-1)!);
  expect(state.asked).toBe(40);
  await lists.of(servers[0]!);
  expect(state.asked).toBe(41);
});
