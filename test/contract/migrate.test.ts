import { readdirSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runGwctl } from '../harness/gwctl.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';

const MIGRATIONS = readdirSync(new URL('../../src/adapters/postgres/migrations/', import.meta.url));

const migrate = (args: readonly string[], env: NodeJS.ProcessEnv) => runGwctl(['migrate', ...args], { env });

async function applied(url: string): Promise<readonly { readonly number: number; readonly at: Date }[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const sql = 'SELECT number, at FROM schema_migrations ORDER BY number';
    return (await client.query<{ number: number; at: Date }>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('gwctl migrate', () => {
  let url = '';
  beforeAll(async () => {
    url = await createDatabase(inject('databaseUrl'));
  });
  afterAll(() => dropDatabase(inject('databaseUrl'), url));

  test('brings an empty database up to date, once, whoever is at it', async () => {
    const done = { status: 0, out: 'the schema is up to date\n', err: '' };
    expect(await Promise.all([migrate([], { DATABASE_URL: url }), migrate([], { DATABASE_URL: url })])).toEqual([
      done,
      done,
    ]);
    const rows = await applied(url);
    expect(rows.map(({ number }) => number)).toEqual(
      MIGRATIONS.map((file) => Number(file.slice(0, 4))).sort((a, b) => a - b),
    );
    expect(await migrate(['--database-url', url], {})).toEqual(done);
    expect(await applied(url)).toEqual(rows);
  });

  test.each([
    [[], {}, 'DATABASE_URL'],
    [['--database-url', 'mysql://x'], {}, 'postgres://'],
    [[], { DATABASE_URL: 'postgres://nobody:hidden@127.0.0.1:1/none' }, 'ECONNREFUSED'],
  ])('%j with %j ends with 2 and says why', async (args, env, reason) => {
    const { status, out, err } = await migrate(args, env);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toContain(reason);
    expect(err).not.toContain('hidden');
  });
});
