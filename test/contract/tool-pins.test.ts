import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresPins, type PostgresPins } from '#/adapters/postgres/tool-pins.ts';
import type { PinChange, PinnedServer, PutPin, ServerPins, ToolPin, ToolPins } from '#/ports/tool-pins.ts';
import { MemoryPins } from '../harness/memory-pins.ts';
import { LEDGER_SUBJECTS } from './ledger-subjects.ts';

const NOW = Date.UTC(2026, 10, 27, 12, 0, 0, 123);
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const pin = (tool: string, text = tool, more: Partial<PutPin> = {}): PutPin => ({
  tool,
  sha256: sha(text),
  state: 'accepted',
  since: NOW,
  by: 'gateway:first-list',
  definition: JSON.stringify({ text }),
  ...more,
});
const kept = ({ tool, sha256, state, since, by }: PutPin): ToolPin => ({ tool, sha256, state, since, by });
const byTool = (pins: readonly ToolPin[]): ToolPin[] =>
  pins.toSorted((a, b) => (a.tool + a.sha256 < b.tool + b.sha256 ? -1 : 1));
const aServer = (): PinnedServer => ({ organization: 'team/acme', server: `team/${randomUUID()}` });
const change = (of: PinnedServer, more: Partial<PinChange> = {}): PinChange => ({
  ...of,
  mode: 'pin',
  version: 0,
  put: [],
  drop: [],
  ...more,
});

interface Subject {
  readonly name: string;
  /** Two gateways' access to the same pins. */
  open(): Promise<{ readonly stores: readonly [ToolPins, ToolPins]; close(): Promise<void> }>;
}

const MEMORY: Subject = {
  name: 'memory',
  open() {
    const store = new MemoryPins();
    return Promise.resolve({ stores: [store, store], close: () => Promise.resolve() });
  },
};

const DATABASES: readonly Subject[] = LEDGER_SUBJECTS.map((subject) => ({
  name: subject.name,
  async open() {
    const home = await subject.home();
    const stores: [PostgresPins, PostgresPins] = [
      await openPostgresPins({ connectionString: home.url }),
      await openPostgresPins({ connectionString: home.url }),
    ];
    const close = async (): Promise<void> => {
      await Promise.all(stores.map((store) => store.close()));
      await home.close();
    };
    return { stores, close };
  },
}));

describe.each([...DATABASES, MEMORY])('pins of tools in $name', (subject) => {
  let opened: Awaited<ReturnType<Subject['open']>>;
  let store: ToolPins;
  let other: ToolPins;
  beforeAll(async () => {
    opened = await subject.open();
    [store, other] = opened.stores;
  });
  afterAll(() => opened.close());

  const pinsOf = async (of: PinnedServer): Promise<ServerPins> => {
    const found = await other.read(of);
    if (found === undefined || found === 'unchanged') throw new Error('nothing is known of the server');
    return { ...found, pins: byTool(found.pins) };
  };

  test('are known to every gateway, of their organization and server only', async () => {
    const of = aServer();
    expect(await other.read(of)).toBeUndefined();
    const put = [pin('find'), pin('büro «x»', 'b', { state: 'quarantined', by: 'Ada "L"' }), pin('long')];
    expect(await store.change(change(of, { put }))).toBe(true);
    expect(await pinsOf(of)).toEqual({ mode: 'pin', version: 1, pins: byTool(put.map(kept)) });
    expect(await other.read({ ...of, organization: 'team/rival' })).toBeUndefined();
    expect(await other.read({ ...of, server: 'team/other' })).toBeUndefined();
  });

  test('are not sent again while their version is the same', async () => {
    const of = aServer();
    await store.change(change(of, { put: [pin('find')] }));
    expect(await other.read(of, 1)).toBe('unchanged');
    expect(await other.read(of, 7)).toMatchObject({ version: 1 });
    await store.change(change(of, { version: 1, mode: 'record' }));
    expect(await other.read(of, 1)).toMatchObject({ mode: 'record', version: 2, pins: [kept(pin('find'))] });
  });

  test('of a server without tools are known too', async () => {
    const of = aServer();
    await store.change(change(of, { put: [pin('find')] }));
    await store.change(change(of, { version: 1, drop: [pin('find')] }));
    expect(await pinsOf(of)).toEqual({ mode: 'pin', version: 2, pins: [] });
  });

  test('change their state, and keep the definition that is not sent again', async () => {
    const of = aServer();
    const before = pin('find', 'old');
    await store.change(change(of, { put: [before, pin('other')] }));
    const held = pin('find', 'new', { state: 'quarantined' });
    await store.change(change(of, { version: 1, put: [held] }));
    const { definition, ...silent } = held;
    const accepted: PutPin = { ...silent, state: 'accepted', since: NOW + 5, by: 'ada' };
    expect(await store.change(change(of, { version: 2, put: [accepted], drop: [before] }))).toBe(true);
    expect((await pinsOf(of)).pins).toEqual(byTool([accepted, kept(pin('other'))]));
    expect(await other.definitions(of, 'find')).toEqual([{ ...accepted, definition }]);
  });

  test('of one tool are found with their definitions, the accepted one first', async () => {
    const of = aServer();
    const text = JSON.stringify({ name: 'find', description: 'ü\u202e"\\ \u0007' });
    const [good, held] = [pin('find', 'a', { definition: text }), kept(pin('find', 'b', { state: 'quarantined' }))];
    await store.change(change(of, { put: [held, good, pin('else')] }));
    expect(await other.definitions(of, 'find')).toEqual([good, held]);
    expect(await other.definitions(of, 'nothing')).toEqual([]);
  });

  test('of two who decide on the same version, one is first', async () => {
    const of = aServer();
    const lists = Array.from({ length: 8 }, (_, index) => [pin('find', `text ${index}`), pin(`own ${index}`)]);
    const race = async (version: number): Promise<number> => {
      const won = await Promise.all(
        lists.map((put, index) => [store, other][index % 2]!.change(change(of, { version, put }))),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      return won.indexOf(true);
    };
    const first = await race(0);
    expect((await pinsOf(of)).pins).toEqual(byTool(lists[first]!.map(kept)));
    const second = await race(1);
    const { version, pins } = await pinsOf(of);
    expect(version).toBe(2);
    expect(pins).toEqual(
      byTool([...new Map([...lists[first]!, ...lists[second]!].map((one) => [one.sha256, kept(one)])).values()]),
    );
    for (const old of [0, 1, 3]) expect(await store.change(change(of, { version: old, drop: pins }))).toBe(false);
    expect((await pinsOf(of)).pins).toHaveLength(pins.length);
  });

  test('hold a thousand tools, and count them by state', async () => {
    const of = { organization: 'team/counted', server: aServer().server };
    const states = ['accepted', 'quarantined', 'removed'] as const;
    const put = Array.from({ length: 1000 }, (_, index) =>
      pin(`tool-${index}`, `${index}`, { state: states[index % 3]! }),
    );
    await store.change(change(of, { put, mode: 'declared' }));
    expect((await pinsOf(of)).pins).toEqual(byTool(put.map(kept)));
    const empty = { organization: 'team/counted', server: 'team/' };
    await store.change(change(empty));
    const counted = (await other.servers()).filter(({ organization }) => organization === 'team/counted');
    expect(counted).toEqual([
      { ...empty, mode: 'pin', accepted: 0, quarantined: 0, removed: 0 },
      { ...of, mode: 'declared', accepted: 334, quarantined: 333, removed: 333 },
    ]);
  });
});
