import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresObjects, type PostgresObjects } from '#/adapters/postgres/kept-objects.ts';
import type { KeptObject, KeptQuery } from '#/ports/kept-objects.ts';
import { LEDGER_SUBJECTS, type LedgerHome } from './ledger-subjects.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const object = (more: Partial<KeptObject> = {}): KeptObject => ({
  provider: 'team/openai',
  id: `file-${randomUUID()}`,
  kind: 'file',
  organization: 'team/acme',
  workload: 'team/app',
  credential: 'main',
  madeAt: NOW,
  expiresAt: NOW + 1000,
  ...more,
});

describe.each(LEDGER_SUBJECTS)('records of kept objects in $name', (subject) => {
  let home: LedgerHome;
  let store: PostgresObjects;
  let other: PostgresObjects;
  beforeAll(async () => {
    home = await subject.home();
    store = await openPostgresObjects({ connectionString: home.url });
    other = await openPostgresObjects({ connectionString: home.url });
  });
  afterAll(async () => {
    await store.close();
    await other.close();
    await home.close();
  });

  test('are found by every gateway, at their provider only', async () => {
    const [one, two] = [object({ id: 'ö~/:"\\', workload: 'team/«app»', credential: '' }), object()];
    await store.record([one, two]);
    await store.record([]);
    const found = await other.find('team/openai', [two.id, one.id, 'file-never'], NOW);
    expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([two, one]);
    expect(await other.find('team/elsewhere', [one.id, two.id], NOW)).toEqual([]);
    expect(await other.find('team/openai', [], NOW)).toEqual([]);
  });

  test('stay with the first who recorded them, also in one batch', async () => {
    const mine = object();
    const theirs = { ...mine, organization: 'team/rival', workload: 'team/spy', madeAt: NOW + 1 };
    await store.record([mine]);
    await other.record([theirs, object()]);
    expect(await store.find(mine.provider, [mine.id], NOW)).toEqual([mine]);
    const both = object();
    await store.record([{ ...both, workload: 'team/spy', madeAt: NOW + 5 }, both]);
    expect(await store.find(both.provider, [both.id], NOW)).toEqual([both]);
  });

  test('are nobody’s once they have expired, or were forgotten', async () => {
    const [old, gone] = [object({ expiresAt: NOW + 10 }), object()];
    await store.record([old, gone]);
    expect(await store.find(old.provider, [old.id], NOW + 9)).toEqual([old]);
    expect(await store.find(old.provider, [old.id], NOW + 10)).toEqual([]);
    await store.forget(gone.provider, gone.id);
    await store.forget(gone.provider, gone.id);
    expect(await store.find(gone.provider, [gone.id], NOW)).toEqual([]);
    const again = { ...old, workload: 'team/next', madeAt: NOW + 10, expiresAt: NOW + 99 };
    await store.record([again]);
    expect(await store.find(old.provider, [old.id], NOW + 10)).toEqual([again]);
  });

  test('are listed page by page, those of one workload and kind, either way round', async () => {
    const workload = `team/${randomUUID()}`;
    const made = Array.from({ length: 5 }, (_, index) => object({ workload, madeAt: NOW + Math.floor(index / 2) }));
    const ordered = made.toSorted((a, b) => a.madeAt - b.madeAt || (a.id < b.id ? -1 : 1));
    const foreign = object({ workload, organization: 'team/rival' });
    await store.record([...made, object(), foreign, object({ workload, kind: 'video' })]);
    const query: KeptQuery = {
      provider: 'team/openai',
      kind: 'file',
      organization: 'team/acme',
      workload,
      order: 'asc',
      limit: 2,
    };
    const pages = async (order: KeptQuery['order']): Promise<readonly KeptObject[]> => {
      const all: KeptObject[] = [];
      for (;;) {
        const page = await other.list({ ...query, order, after: all.at(-1)?.id }, NOW);
        if (page.length === 0) return all;
        all.push(...page);
      }
    };
    expect(await pages('asc')).toEqual(ordered);
    expect(await pages('desc')).toEqual(ordered.toReversed());
    expect(await other.list({ ...query, after: foreign.id }, NOW)).toEqual([]);
    expect(await other.list(query, NOW + 1000)).toEqual([]);
  });

  test('removes what has expired, in any number', async () => {
    const past = Date.UTC(2020, 0, 1);
    await store.record(Array.from({ length: 5200 }, () => object({ madeAt: past - 1, expiresAt: past })));
    const young = object({ madeAt: past, expiresAt: past + 2 });
    await store.record([young]);
    expect(await store.expire(past + 1)).toBe(5200);
    expect(await store.find(young.provider, [young.id], past)).toEqual([young]);
  });
});
