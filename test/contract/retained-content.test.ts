import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresContent, type PostgresContent } from '#/adapters/postgres/retained-content.ts';
import type { RetainedItem } from '#/ports/retained-content.ts';
import { callIdAt } from './ledger-rows.ts';
import { LEDGER_SUBJECTS, type LedgerHome } from './ledger-subjects.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const item = (more: Partial<RetainedItem> = {}): RetainedItem => ({
  callId: callIdAt(NOW),
  organization: 'team/acme',
  expiresAt: NOW + 1000,
  encrypted: randomBytes(100),
  ...more,
});

describe.each(LEDGER_SUBJECTS)('retained content in $name', (subject) => {
  let home: LedgerHome;
  let store: PostgresContent;
  beforeAll(async () => {
    home = await subject.home();
    store = await openPostgresContent({ connectionString: home.url });
  });
  afterAll(async () => {
    await store.close();
    await home.close();
  });

  test('gives back what was put, as it was', async () => {
    const items = [
      item({ encrypted: Buffer.from([0, 255, 10]), organization: 'ö/«"\\' }),
      item({ encrypted: Buffer.alloc(0) }),
      item({ encrypted: randomBytes(2_000_000), expiresAt: NOW + 123 }),
    ];
    await store.put(items);
    for (const one of items) expect(await store.find(one.callId)).toEqual(one);
    expect(await store.find(callIdAt(NOW))).toBeUndefined();
    await store.put([]);
  });

  test('leaves an item as it is when its call comes again', async () => {
    const first = item();
    await store.put([first]);
    await store.put([{ ...first, encrypted: randomBytes(5) }, item()]);
    expect(await store.find(first.callId)).toEqual(first);
  });

  test('erases one organization and no other', async () => {
    const [mine, yours] = [item({ organization: 'team/mine' }), item({ organization: 'team/yours' })];
    await store.put([mine, yours, item({ organization: 'team/mine' })]);
    expect(await store.erase('team/mine')).toBe(2);
    expect(await store.erase('team/mine')).toBe(0);
    expect(await store.find(mine.callId)).toBeUndefined();
    expect(await store.find(yours.callId)).toEqual(yours);
  });

  test('removes what has expired, in any number', async () => {
    const past = Date.UTC(2020, 0, 1);
    const old = Array.from({ length: 5200 }, () => item({ expiresAt: past, encrypted: Buffer.from('x') }));
    const young = item({ expiresAt: past + 2 });
    await store.put([...old, young]);
    expect(await store.expire(past + 1)).toBe(5200);
    expect(await store.find(old[0]!.callId)).toBeUndefined();
    expect(await store.find(young.callId)).toEqual(young);
  });
});
