import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createPool, openConnections } from '#/adapters/postgres/pool.ts';
import { openPostgresCredit } from '#/adapters/postgres/credit.ts';
import { openPostgresJobs } from '#/adapters/postgres/document-jobs.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { openPostgresContent } from '#/adapters/postgres/retained-content.ts';
import { createDatabase } from '../harness/postgres.ts';

let shared: ReturnType<typeof createPool>;
beforeAll(async () => {
  shared = createPool({ connectionString: await createDatabase(inject('databaseUrl')), maxConnections: 4 });
});
afterAll(() => shared.end());

test('a share has no more connections than it may, and keeps nobody else waiting', async () => {
  const { connections } = openConnections({ shared }, 2);
  const held = [await connections.connect(), await connections.connect()];
  let asked = 0;
  const third = connections.connect().then((client) => {
    asked++;
    return client;
  });
  const fourth = connections.query('SELECT 4 AS four').then(({ rows }) => {
    asked++;
    return rows as unknown;
  });
  // Others are answered all the while.
  for (let at = 0; at < 5; at++) await shared.query('SELECT 1');
  expect([asked, shared.totalCount]).toEqual([0, 3]);
  held[0]?.release();
  (await third).release();
  expect(await fourth).toEqual([{ four: 4 }]);
  held[1]?.release(new Error('broken'));
  expect(await Promise.all([1, 2, 3].map(() => connections.query('SELECT 1')))).toHaveLength(3);
});

test('what fails gives its place back', async () => {
  const { connections } = openConnections({ shared }, 1);
  for (let at = 0; at < 3; at++) await expect(connections.query('SELECT nothing')).rejects.toThrow('nothing');
  const client = await connections.connect();
  client.release();
  expect(() => client.release()).toThrow('already been released');
  await connections.query('SELECT 1');
});

test('stores that share a pool leave it open when they are closed', async () => {
  const ledger = await openPostgresLedger({ shared });
  for (const store of [
    await openPostgresContent({ shared }),
    await openPostgresCredit({ shared }),
    await openPostgresJobs({ shared }),
  ])
    await store.close();
  await ledger.ping();
  await ledger.close();
  expect((await shared.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});
