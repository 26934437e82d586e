import { describe, expect, test } from 'vitest';
import type { ToolDefinitionsConfig } from '#/config/snapshot.ts';
import type { PinChange } from '#/ports/tool-pins.ts';
import { MemoryPins } from '../../../test/harness/memory-pins.ts';
import { PinKeeper, type PinEvent, type PinnedTools } from './pin-keeper.ts';

const OF = { organization: 'team/acme', server: 'team/crm' };
const PIN: ToolDefinitionsConfig = { mode: 'pin', declared: new Map() };
const RECORD: ToolDefinitionsConfig = { mode: 'record', declared: new Map() };
const list = (tools: Readonly<Record<string, string>>) =>
  Object.entries(tools).map(([name, description]) => ({ name, definition: { name, description, _meta: { x: 1 } } }));
const offered = ({ offered: tools }: PinnedTools): readonly string[] => tools.map(({ name }) => name);

function gateway(store: MemoryPins) {
  const events: PinEvent[] = [];
  const keeper = new PinKeeper({ store, onEvent: (event) => events.push(event) });
  return { keeper, events, kinds: () => events.map((event) => ('what' in event ? event.what : event.kind)) };
}

test('offers accepted tools in the order of the server, without _meta, each with its pin', async () => {
  const { keeper } = gateway(new MemoryPins());
  const { offered: tools, states } = await keeper.decide(OF, PIN, list({ b: '1', a: '1' }));
  expect(tools).toMatchObject([{ name: 'b', definition: { name: 'b', description: '1' } }, { name: 'a' }]);
  expect(tools[0]!.definition).not.toHaveProperty('_meta');
  expect(tools[0]!.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect([...states]).toEqual([
    ['b', 'accepted'],
    ['a', 'accepted'],
  ]);
});

test('two gateways that see different first lists agree on one of them', async () => {
  for (let round = 0; round < 20; round++) {
    const store = new MemoryPins();
    const [one, two] = [gateway(store), gateway(store)];
    const lists = [list({ a: '1', b: '1' }), list({ a: '2', c: '1' })] as const;
    const tools = await Promise.all([one.keeper.decide(OF, PIN, lists[0]), two.keeper.decide(OF, PIN, lists[1])]);
    expect(new Set(tools.map((each) => offered(each).length))).toEqual(new Set([0, 2]));
    const [first, second] = offered(tools[0]).length > 0 ? [0, 1] : [1, 0];
    for (const { keeper } of [one, two]) {
      expect(offered(await keeper.decide(OF, PIN, lists[first]!))).toHaveLength(2);
      expect(offered(await keeper.decide(OF, PIN, lists[second]!))).toEqual([]);
    }
  }
});

test('another organization has pins of its own', async () => {
  const store = new MemoryPins();
  const { keeper } = gateway(store);
  await keeper.decide(OF, PIN, list({ a: '1' }));
  const theirs = { ...OF, organization: 'team/rival' };
  expect(offered(await keeper.decide(theirs, PIN, list({ a: '2' })))).toEqual(['a']);
  expect(offered(await keeper.decide(OF, PIN, list({ a: '2' })))).toEqual([]);
});

describe('while the store is away', () => {
  test('the last known pins hold, and nothing new is accepted', async () => {
    const store = new MemoryPins();
    const { keeper, kinds } = gateway(store);
    await keeper.decide(OF, PIN, list({ a: '1', b: '1' }));
    store.away = true;
    const { states, ...rest } = await keeper.decide(OF, PIN, list({ a: '1', b: '2', c: '1' }));
    expect(offered({ states, ...rest })).toEqual(['a']);
    expect(states.get('b')).toBe('quarantined');
    expect(kinds()).toEqual(['pinned', 'pins.fault']);
    store.away = false;
    expect(offered(await keeper.decide(OF, PIN, list({ a: '1', b: '1', c: '1' })))).toEqual(['a', 'b']);
  });

  test('a server that was never asked offers nothing, but in mode Record or by declaration', async () => {
    const store = new MemoryPins();
    store.away = true;
    const { keeper } = gateway(store);
    const tools = list({ a: '1', b: '1' });
    expect(offered(await keeper.decide(OF, PIN, tools))).toEqual([]);
    const recorded = await keeper.decide(OF, RECORD, tools);
    expect(offered(recorded)).toEqual(['a', 'b']);
    const declared = new Map([['b', recorded.offered[1]!.sha256]]);
    expect(offered(await keeper.decide(OF, { mode: 'declared', declared }, tools))).toEqual(['b']);
    store.away = false;
    expect(offered(await keeper.decide(OF, PIN, tools))).toEqual(['a', 'b']);
  });

  test('a change that was not written accepts nothing', async () => {
    class Unwritable extends MemoryPins {
      override change(): Promise<boolean> {
        return Promise.reject(new Error('read only'));
      }
    }
    expect(offered(await gateway(new Unwritable()).keeper.decide(OF, PIN, list({ a: '1' })))).toEqual([]);
  });

  test('nor does one that others were always faster than', async () => {
    class Busy extends MemoryPins {
      tries = 0;
      override change(_change: PinChange): Promise<boolean> {
        this.tries++;
        return Promise.resolve(false);
      }
    }
    const store = new Busy();
    expect(offered(await gateway(store).keeper.decide(OF, PIN, list({ a: '1' })))).toEqual([]);
    expect(store.tries).toBe(5);
  });
});

test('says once what happened, and counts tools by state', async () => {
  const store = new MemoryPins();
  const [one, two] = [gateway(store), gateway(store)];
  const tools = list({ a: '1', b: '1', 'no name': '1' });
  for (const { keeper } of [one, two]) await keeper.decide(OF, PIN, tools);
  const changed = list({ a: '2\u202e', 'no name': '1' });
  for (const { keeper } of [one, two, one, two]) await keeper.decide(OF, PIN, changed);
  expect(one.kinds()).toEqual(['pinned', 'tools.unfit', 'quarantined', 'removed']);
  expect(two.kinds()).toEqual(['tools.unfit']);
  expect(one.events[2]).toEqual({ kind: 'tools.changed', ...OF, what: 'quarantined', tools: ['a'], hidden: 1 });
  await one.keeper.decide({ ...OF, organization: 'team/rival' }, PIN, list({ a: '\u200b' }));
  expect(one.keeper.counts('tools')).toEqual([
    ['team/crm', 'accepted', 1],
    ['team/crm', 'quarantined', 1],
    ['team/crm', 'removed', 1],
    ['team/crm', 'unfit', 1],
  ]);
  expect(one.keeper.hidden()).toEqual([['team/crm', 1]]);
});
