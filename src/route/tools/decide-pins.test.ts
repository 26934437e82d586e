import { describe, expect, test } from 'vitest';
import assert from 'node:assert';
import type { ToolDefinitionsConfig } from '#/config/snapshot.ts';
import type { PinState, ServerPins } from '#/ports/tool-pins.ts';
import { decidePins, type PinDecision } from './decide-pins.ts';
import { readDefinitions, type ReadDefinition } from './definitions.ts';

const NOW = 1000;
const list = (tools: Readonly<Record<string, string>>): readonly ReadDefinition[] =>
  readDefinitions(Object.entries(tools).map(([name, description]) => ({ name, definition: { name, description } })))
    .read;
const shaOf = (name: string, description: string): string => list({ [name]: description })[0]!.sha256;
const PIN: ToolDefinitionsConfig = { mode: 'pin', declared: new Map() };
const RECORD: ToolDefinitionsConfig = { mode: 'record', declared: new Map() };
const declaring = (tools: Readonly<Record<string, string>>): ToolDefinitionsConfig => ({
  mode: 'declared',
  declared: new Map(list(tools).map(({ name, sha256 }) => [name, sha256])),
});

/** One server over time: its lists, and its pins. */
class Server {
  pins: ServerPins | undefined;
  last: PinDecision = { states: new Map(), news: new Map() };

  list(tools: Readonly<Record<string, string>>, config = PIN, now = NOW): Readonly<Record<string, PinState>> {
    const before = this.pins;
    this.last = decidePins({ config, listed: list(tools), known: before, now });
    const { change } = this.last;
    if (change) {
      const gone = new Set([...change.put, ...change.drop].map(({ tool, sha256 }) => tool + sha256));
      assert.equal(gone.size, change.put.length + change.drop.length);
      const kept = (before?.pins ?? []).filter(({ tool, sha256 }) => !gone.has(tool + sha256));
      const put = change.put.map(({ tool, sha256, state, since, by }) => ({ tool, sha256, state, since, by }));
      this.pins = { mode: change.mode, version: (before?.version ?? 0) + 1, pins: [...kept, ...put] };
    }
    // A decision that is written leaves nothing to write.
    const again = decidePins({ config, listed: list(tools), known: this.pins, now: now + 1 });
    assert.equal(again.change, undefined);
    assert.equal(again.news.size, 0);
    assert.deepEqual(again.states, this.last.states);
    for (const pins of Map.groupBy(this.pins?.pins ?? [], ({ tool }) => tool).values()) {
      assert.ok(pins.filter(({ state }) => state !== 'quarantined').length <= 1);
      assert.ok(pins.filter(({ state }) => state === 'quarantined').length <= 1);
    }
    return Object.fromEntries(this.last.states);
  }

  kept(): readonly string[] {
    return (this.pins?.pins ?? []).map(({ tool, sha256, state, by }) => `${tool} ${sha256.slice(0, 4)} ${state} ${by}`);
  }
}

describe('mode Pin', () => {
  test('accepts the first list, and quarantines a new name and a changed definition', () => {
    const server = new Server();
    expect(server.list({ a: '1', b: '1' })).toEqual({ a: 'accepted', b: 'accepted' });
    expect([...server.last.news]).toEqual([['pinned', ['a', 'b']]]);
    expect(server.list({ a: '2', b: '1', c: '1' })).toEqual({ a: 'quarantined', b: 'accepted', c: 'quarantined' });
    expect([...server.last.news]).toEqual([['quarantined', ['a', 'c']]]);
    expect(server.last.change!.put).toMatchObject([{ tool: 'a', by: 'gateway:pin', since: NOW }, { tool: 'c' }]);
    expect(server.last.change!.put[0]!.definition).toBe('{"description":"2","name":"a"}');
  });

  test('offers the accepted definition again when it comes back, and forgets the other', () => {
    const server = new Server();
    server.list({ a: '1' });
    const pins = server.kept();
    server.list({ a: '2' });
    expect(server.list({ a: '3' })).toEqual({ a: 'quarantined' });
    expect(server.list({ a: '1' })).toEqual({ a: 'accepted' });
    expect(server.kept()).toEqual(pins);
  });

  test('keeps the pin of a removed tool: the same definition comes back, another one does not', () => {
    const server = new Server();
    server.list({ a: '1', b: '1' });
    expect(server.list({ b: '1' }, PIN, NOW + 7)).toEqual({ a: 'removed', b: 'accepted' });
    expect([...server.last.news]).toEqual([['removed', ['a']]]);
    expect(server.list({ a: '2', b: '1' })).toEqual({ a: 'quarantined', b: 'accepted' });
    server.list({ b: '1' });
    expect(server.list({ a: '1', b: '1' }, PIN, NOW + 9)).toEqual({ a: 'accepted', b: 'accepted' });
    expect([...server.last.news]).toEqual([['returned', ['a']]]);
    expect(server.pins!.pins.find(({ tool }) => tool === 'a')).toMatchObject({
      state: 'accepted',
      since: NOW,
      by: 'gateway:first-list',
    });
  });

  test('a rename is a new name, whatever else stays the same', () => {
    const server = new Server();
    server.list({ find: 'finds' });
    expect(server.list({ find_all: 'finds' })).toEqual({ find: 'removed', find_all: 'quarantined' });
  });

  test('an empty list is not the first one; a list that became empty is still known', () => {
    const server = new Server();
    server.list({});
    expect(server.pins).toBeUndefined();
    expect(server.list({ a: '1' })).toEqual({ a: 'accepted' });
    server.list({});
    expect(server.list({ b: '1' })).toEqual({ a: 'removed', b: 'quarantined' });
  });

  test('a server that lists other tools each time is kept within bounds', () => {
    const server = new Server();
    const tools = (round: number): Readonly<Record<string, string>> =>
      Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`t${round}-${index}`, 'x']));
    for (let round = 0; round < 5; round++) server.list(tools(round), PIN, NOW + round);
    expect(server.pins!.pins).toHaveLength(800);
    const other = new Server();
    for (let round = 0; round < 5; round++) other.list(tools(round), RECORD, NOW + round);
    expect(other.pins!.pins).toHaveLength(1400);
    expect(other.pins!.pins.filter(({ tool }) => tool.startsWith('t0-'))).toEqual([]);
  });

  test('a long definition is pinned by its hash alone', () => {
    const server = new Server();
    server.list({ a: 'x'.repeat(70_000) });
    expect(server.last.change!.put[0]).not.toHaveProperty('definition');
    expect(server.list({ a: 'y'.repeat(70_000) })).toEqual({ a: 'quarantined' });
  });
});

describe('mode Record', () => {
  test('offers everything, and remembers the latest', () => {
    const server = new Server();
    server.list({ a: '1' }, RECORD);
    expect(server.list({ a: '2', b: '1' }, RECORD)).toEqual({ a: 'accepted', b: 'accepted' });
    expect([...server.last.news]).toEqual([['changed', ['a', 'b']]]);
    expect(server.kept()).toHaveLength(2);
    expect(server.list({ a: '2', b: '1' })).toEqual({ a: 'accepted', b: 'accepted' });
    expect(server.pins!.mode).toBe('pin');
    expect(server.list({ a: '1', b: '1' })).toEqual({ a: 'quarantined', b: 'accepted' });
  });

  test('accepts definitions that were quarantined in another mode', () => {
    const server = new Server();
    server.list({ a: '1' });
    server.list({ a: '2' });
    expect(server.list({ a: '2' }, RECORD)).toEqual({ a: 'accepted' });
    expect(server.kept()).toEqual([`a ${shaOf('a', '2').slice(0, 4)} accepted gateway:record`]);
  });
});

describe('mode Declared', () => {
  test('offers declared definitions, from the first list on', () => {
    const server = new Server();
    const config = declaring({ a: '1', b: '1', absent: '1' });
    expect(server.list({ a: '1', b: '2', c: '1' }, config)).toEqual({
      a: 'accepted',
      b: 'quarantined',
      c: 'quarantined',
    });
    expect(server.list({ a: '1', b: '1' }, config)).toEqual({ a: 'accepted', b: 'accepted' });
  });

  test('a definition that is no longer declared is no longer accepted, in any mode', () => {
    const server = new Server();
    server.list({ a: '1', b: '1', c: '1' });
    expect(server.list({ a: '1', b: '2' }, declaring({ a: '2', b: '2' }))).toEqual({ a: 'quarantined', b: 'accepted' });
    expect(server.list({ a: '1', b: '1', c: '1' })).toEqual({ a: 'quarantined', b: 'quarantined', c: 'quarantined' });
  });
});
