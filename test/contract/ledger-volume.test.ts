import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { LARGE_ORGANIZATION, loadLedger } from '../bench/ledger-load.ts';
import { startPostgres, type PostgresServer } from '../harness/postgres.ts';
import { verifyLedger } from './ledger-rows.ts';
import { connect } from './ledger-subjects.ts';

const ROWS = 100_000;
const DAY_MS = 86_400_000;
const UNTIL = Date.UTC(2026, 10, 21);

let server: PostgresServer;
let ledger: PostgresLedger;
let client: pg.Client;
beforeAll(async () => {
  server = await startPostgres({ control: true });
  ledger = await openPostgresLedger({ connectionString: server.url });
  client = await connect(server.url);
  await ledger.maintain(UNTIL - 60 * DAY_MS);
  await loadLedger(client, { rows: ROWS, from: UNTIL - 60 * DAY_MS, until: UNTIL });
}, 600_000);
afterAll(async () => {
  await client.end();
  await ledger.close();
  await server.stop();
});

const instants = (days: number, offset: number): string[] =>
  Array.from({ length: days + 1 }, (_, day) => new Date(Date.UTC(2026, 9, 1 + day) - offset).toISOString());

test.each([
  ['UTC', 0],
  ['an hour before it', 60],
  ['five and three quarter hours before it', 345],
])('a month by workload, model and day of %s is read from sums alone, by index', async (_, minutes) => {
  const sql = readFileSync(new URL('../../src/adapters/postgres/statements/usage.sql', import.meta.url), 'utf8');
  const midnights = instants(31, 0);
  const [bounds, edges] = [instants(31, minutes * 60_000), instants(31, Math.floor(minutes / 30) * 1_800_000)];
  const values = [LARGE_ORGANIZATION, null, bounds, true, true, edges, midnights, true];
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, values);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('audit_usage_days');
  expect(plan).not.toContain('audit_rows');
  expect(plan).toContain('audit_usage_edges_pkey');
  expect(plan).not.toMatch(/Seq Scan on audit_usage(?!_days)/);
});

test('what was loaded verifies, and its sums are those of its rows', async () => {
  expect(await verifyLedger(ledger)).toMatchObject({ intact: true, rows: ROWS });
  expect(await ledger.usageDifferences()).toEqual([]);
  expect(await ledger.spendDifferences()).toEqual([]);
});
