import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresApprovals, type PostgresApprovals } from '#/adapters/postgres/tool-approvals.ts';
import type { AskedApproval } from '#/ports/tool-approvals.ts';
import { LEDGER_SUBJECTS } from './ledger-subjects.ts';

const NOW = Date.UTC(2026, 10, 27, 12, 0, 0, 123);
const HOUR = 3_600_000;
const MOST = { ofWorkload: 3, ofCaller: 2 };

/** A call of a workload of its own. */
const asked = (more: Partial<AskedApproval> = {}): AskedApproval => ({
  id: randomUUID(),
  binding: randomUUID(),
  organization: 'team/acme',
  workload: `team/${randomUUID()}`,
  key: 'team/bot',
  server: 'team/crm',
  tool: 'büro «x»',
  definition: 'a'.repeat(64),
  shown: '{"to":"«EMAIL_1»","n":9007199254740993}',
  askedAt: NOW,
  endsAt: NOW + HOUR,
  ...more,
});
const again = (one: AskedApproval, later: number): AskedApproval => ({
  ...one,
  id: randomUUID(),
  askedAt: NOW + later,
  endsAt: NOW + later + HOUR,
});
const decision = (id: string, more: object = {}) => ({
  id,
  state: 'approved' as const,
  by: 'Ada «L»',
  now: NOW + 5,
  endsAt: NOW + 1000,
  ...more,
});

describe.each(LEDGER_SUBJECTS)('approvals of tools in $name', (subject) => {
  let stores: readonly [PostgresApprovals, PostgresApprovals];
  let home: Awaited<ReturnType<typeof subject.home>>;
  beforeAll(async () => {
    home = await subject.home();
    const open = () => openPostgresApprovals({ connectionString: home.url });
    stores = [await open(), await open()];
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await home.close();
  });
  const of = (at: number): PostgresApprovals => stores[at % 2]!;

  test('one of those who ask at once enters the request, and all find it', async () => {
    const call = asked();
    const found = await Promise.all(
      Array.from({ length: 10 }, (_one, at) => of(at).ask({ ...call, id: randomUUID() }, MOST)),
    );
    expect(found.filter((one) => one?.isNew)).toHaveLength(1);
    expect(new Set(found.map((one) => one?.id)).size).toBe(1);
    const { binding: _binding, ...kept } = call;
    const id = found[0]!.id;
    expect(await of(1).list({ id })).toEqual([{ ...kept, id, state: 'waiting' }]);
    expect(await of(1).list({ id, organization: 'team/rival' })).toEqual([]);
    expect((await of(1).list({ organization: 'team/acme' })).map((one) => one.id)).toContain(id);
  });

  test('is decided once, before its end, in its organization, and used once', async () => {
    const call = asked();
    await of(0).ask(call, MOST);
    const { id } = call;
    expect(await of(0).use(id, NOW)).toBe(false);
    expect(await of(0).decide(decision(id, { organization: 'team/rival' }))).toBeUndefined();
    expect(await of(0).decide(decision(id, { now: NOW + HOUR }))).toBeUndefined();
    const decided = await Promise.all(
      Array.from({ length: 8 }, (_one, at) => of(at).decide(decision(id, { by: `p${at}`, reason: 'gut' }))),
    );
    expect(decided.filter(Boolean)).toHaveLength(1);
    const [one] = decided.filter((approval) => approval !== undefined);
    expect(one).toMatchObject({ state: 'approved', reason: 'gut', decidedAt: NOW + 5, endsAt: NOW + 1000 });
    expect(await of(1).ask(again(call, 10), MOST)).toEqual({ ...one, isNew: false, followsExpired: false });
    expect(await of(0).use(id, NOW + 1000)).toBe(false);
    const used = await Promise.all(Array.from({ length: 8 }, (_use, at) => of(at).use(id, NOW + 20)));
    expect(used.filter(Boolean)).toHaveLength(1);
    const next = again(call, 30);
    expect(await of(1).ask(next, MOST)).toMatchObject({ id: next.id, isNew: true, followsExpired: false });
    expect(await of(1).list({ id })).toEqual([]);
  });

  test.each(['waiting', 'approved', 'denied'] as const)('a %s request that has ended gives way', async (state) => {
    const call = asked();
    await of(0).ask(call, MOST);
    if (state !== 'waiting') await of(0).decide(decision(call.id, { state, endsAt: NOW + HOUR }));
    expect(await of(1).ask(again(call, HOUR - 1), MOST)).toMatchObject({ id: call.id, state, isNew: false });
    const next = again(call, HOUR);
    expect(await of(1).ask(next, MOST)).toMatchObject({
      ...{ id: next.id, state: 'waiting', isNew: true, followsExpired: true },
    });
    expect(await of(0).use(call.id, NOW)).toBe(false);
  });

  test('a workload has so many that wait, whatever others have', async () => {
    const calls = Array.from({ length: MOST.ofWorkload }, (_one, at) =>
      asked({ workload: 'team/full', person: `p${at}` }),
    );
    for (const call of calls) expect(await of(0).ask(call, MOST)).toMatchObject({ isNew: true });
    const more = asked({ workload: 'team/full' });
    expect(await of(1).ask(more, MOST)).toBeUndefined();
    expect(await of(1).ask(again(calls[0]!, 1), MOST)).toMatchObject({ id: calls[0]!.id });
    expect(await of(1).ask(asked(), MOST)).toMatchObject({ isNew: true });
    await of(1).decide(decision(calls[0]!.id));
    expect(await of(1).ask(more, MOST)).toMatchObject({ isNew: true });
  });

  test('a key and a person have a share of them', async () => {
    const workload = `team/${randomUUID()}`;
    const most = { ofWorkload: 100, ofCaller: 2 };
    const ask = (more: Partial<AskedApproval>) => of(0).ask(asked({ workload, ...more }), most);
    const first = await ask({ person: 'ada' });
    expect(await ask({ person: 'ada' })).toMatchObject({ isNew: true, person: 'ada' });
    expect(await ask({ person: 'ada' })).toBeUndefined();
    for (const other of [{ person: 'eve' }, { person: 'ada', key: 'team/other' }, {}, {}])
      expect(await ask(other)).toMatchObject({ isNew: true });
    expect(await ask({})).toBeUndefined();
    expect(await ask({ key: 'team/other' })).toMatchObject({ isNew: true });
    expect(await of(1).list({ id: first!.id })).toMatchObject([{ person: 'ada' }]);
    expect(await of(1).decide(decision(first!.id))).toMatchObject({ person: 'ada' });
    expect(await ask({ person: 'ada' })).toMatchObject({ isNew: true });
  });

  test('forgets those that ended before', async () => {
    const call = asked({ askedAt: NOW - 9 * HOUR, endsAt: NOW - 8 * HOUR });
    await of(0).ask(call, MOST);
    expect(await of(0).expire(NOW - 8 * HOUR)).toBe(0);
    expect(await of(0).expire(NOW - 8 * HOUR + 1)).toBe(1);
    expect(await of(0).list({ id: call.id })).toEqual([]);
  });
});
