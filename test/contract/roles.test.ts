import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgresCredit } from '#/adapters/postgres/credit.ts';
import { openPostgresJobs } from '#/adapters/postgres/document-jobs.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { openPostgresContent } from '#/adapters/postgres/retained-content.ts';
import { chat } from '../harness/answers.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';
import { expectBooksToAgree, startStack } from '../failure/stack.ts';
import { callIdAt, StrandBuilder } from './ledger-rows.ts';
import { connect } from './ledger-subjects.ts';

/** A gateway under a database role that cannot change the schema (ADR 0038), in a real PostgreSQL. */

const FORBIDDEN = '42501';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TABLES = `SELECT relname AS name, relispartition AS part, pg_get_userbyid(relowner) AS owner, oid FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`;

/** A role and a database that nobody has migrated yet. */
async function place() {
  const server = inject('databaseUrl');
  const ownerUrl = await createDatabase(server);
  const owner = await connect(ownerUrl);
  const role = `Gate way ${randomBytes(4).toString('hex')}`;
  const password = randomBytes(8).toString('hex');
  // Before PostgreSQL 15, everybody could make tables in public.
  await owner.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await owner.query(`CREATE ROLE "${role}" LOGIN PASSWORD '${password}'`);
  const url = new URL(ownerUrl);
  url.username = encodeURIComponent(role);
  url.password = password;
  return {
    owner,
    ownerUrl,
    role,
    url: url.href,
    migrate: (...args: readonly string[]) => gwctl({ DATABASE_URL: ownerUrl }, 'migrate', ...args),
    async [Symbol.asyncDispose]() {
      await owner.end();
      await dropDatabase(server, ownerUrl);
      const client = await connect(server);
      await client.query(`DROP ROLE "${role}"`);
      await client.end();
    },
  };
}

const gwctl = (env: Readonly<Record<string, string>>, ...args: readonly string[]) => runGwctl(args, { env });

const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);
const partitionOf = (at: number): string => `audit_rows_${monthOf(at).replace('-', '_')}`;
const monthsAhead = (count: number): number => {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + count, 1);
};

async function whereIs(client: pg.Client, callId: string): Promise<string | undefined> {
  const sql = 'SELECT tableoid::regclass::text AS name FROM audit_rows WHERE call_id = $1';
  return (await client.query<{ name: string }>(sql, [callId])).rows[0]?.name;
}

test('gwctl migrate makes this month and the next two, and grants nothing unless asked', async () => {
  await using own = await place();
  expect(await own.migrate()).toMatchObject({ status: 0, out: 'the schema is up to date\n' });
  const names = (await own.owner.query<{ name: string }>(TABLES)).rows.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([0, 1, 2].map((count) => partitionOf(monthsAhead(count)))));
  await expect(openPostgresLedger({ connectionString: own.url })).rejects.toMatchObject({ code: FORBIDDEN });
});

test('a gateway that may not bring the schema up to date says who should', async () => {
  await using own = await place();
  await expect(openPostgresLedger({ connectionString: own.url })).rejects.toThrow(
    /lacks audit-ledger, .*cannot change it: run gwctl migrate --grant-to with the name of this user, as the owner of the schema/,
  );
});

test('nothing is granted to a role that could change the schema all the same', async () => {
  await using own = await place();
  const refusal = async (role: string): Promise<string> => {
    const { status, err } = await own.migrate('--grant-to', role);
    expect(status).toBe(2);
    return err;
  };
  expect(await refusal('no such role')).toContain('there is no database role no such role');
  expect(await refusal('')).toContain('--grant-to takes');
  const { rows } = await own.owner.query<{ me: string }>('SELECT current_user AS me');
  expect(await refusal(rows[0]!.me)).toContain('owns the audit ledger');
  await own.owner.query(`GRANT CREATE ON SCHEMA public TO "${own.role}"`);
  expect(await refusal(own.role)).toContain('may create tables in the schema public');
  const { rows: rights } = await own.owner.query('SELECT FROM information_schema.table_privileges WHERE grantee = $1', [
    own.role,
  ]);
  expect(rights).toEqual([]);
});

describe('a role that gwctl migrate granted what gateways need', () => {
  let own: Awaited<ReturnType<typeof place>>;
  let role: pg.Client;
  beforeAll(async () => {
    own = await place();
    await own.migrate('--grant-to', own.role);
    role = await connect(own.url);
  });
  afterAll(async () => {
    await role.end();
    await own[Symbol.asyncDispose]();
  });

  test('is granted it as often as one likes', async () => {
    const out = `the schema is up to date\n${own.role} may run gateways\n`;
    expect(await own.migrate('--grant-to', own.role)).toEqual({ status: 0, out, err: '' });
  });

  test('serves calls, seals them, keeps content and writes checkpoints, in months that it has made itself', async () => {
    for (const count of [0, 1, 2]) await own.owner.query(`DROP TABLE ${partitionOf(monthsAhead(count))}`);
    const folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
    try {
      const keys = join(folder, 'keys');
      writeFileSync(keys, `k1:${randomBytes(32).toString('base64')}\n`);
      const env = { GW_CONTENT_KEY_FILE: keys };
      await using stack = await startStack({ databaseUrl: own.url, policy: { contentRetention: 'Enabled' }, env });
      stack.upstream.respond(chat({}));
      const calls: string[] = [];
      for (let call = 0; call < 3; call++) {
        const answer = await stack.ask();
        expect(answer.status).toBe(200);
        await answer.text();
        calls.push(answer.headers.get('x-request-id')!);
      }
      const rows = await Promise.all(calls.map((call) => rowOf(own.url, call)));
      expect(rows.map(({ outcome }) => outcome)).toEqual(['served', 'served', 'served']);
      expect(await whereIs(own.owner, calls[0]!)).toBe(partitionOf(Date.parse(rows[0]!.at)));
      await expectBooksToAgree(stack, 3);
      const connection = { DATABASE_URL: own.url, REDIS_URL: stack.redis.url };
      await expect
        .poll(async () => (await gwctl({ ...connection, ...env }, 'content', 'show', calls[0]!)).status)
        .toBe(0);
      const reconciled = await gwctl({ ...connection, GW_CONFIG_DIR: stack.gateway.configDir }, 'reconcile');
      expect(reconciled).toMatchObject({ status: 0, err: '' });
      expect(await stack.gateway.stop()).toBe(0);
      expect(stack.gateway.log.filter((line) => /permission denied|must be owner|"level":[56]0/.test(line))).toEqual(
        [],
      );
      const { rows: checkpoints } = await role.query('SELECT number FROM checkpoints');
      expect(checkpoints.length).toBeGreaterThan(0);
      expect(await gwctl(connection, 'audit', 'verify')).toMatchObject({ status: 0, err: '' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('crosses into new months, whose tables belong to the owner', async () => {
    const ledger = await openPostgresLedger({ connectionString: own.url });
    try {
      const now = monthsAhead(7);
      expect(await ledger.maintain(now)).toEqual([7, 8, 9].map((count) => monthOf(monthsAhead(count))));
      expect(await ledger.maintain(now)).toEqual([]);
      const strand = new StrandBuilder();
      // The second month has rows of its own in the default partition when it is made; the third waited on disk.
      const late = monthsAhead(10) + DAY;
      const [inTime, before, left] = [now, late, now + DAY].map((at) => strand.seal({ at, callId: callIdAt(at) }));
      await ledger.append([inTime!]);
      await ledger.append([before!]);
      await ledger.append([left!], 'left');
      expect(await whereIs(own.owner, before!.callId)).toBe('audit_rows_default');
      expect(await ledger.maintain(monthsAhead(8))).toEqual([monthOf(late)]);
      expect(await whereIs(own.owner, inTime!.callId)).toBe(partitionOf(now));
      expect(await whereIs(own.owner, left!.callId)).toBe(partitionOf(now));
      expect(await whereIs(own.owner, before!.callId)).toBe(partitionOf(late));
      // Written again by another strand, and folded.
      await ledger.append([new StrandBuilder().seal({ callId: inTime!.callId, at: now })]);
      for (const later of [now + 5 * HOUR, now + 80 * DAY]) await ledger.maintain(later);
      await ledger.countEarlierUsage();
      expect([await ledger.spendDifferences(), await ledger.usageDifferences()]).toEqual([[], []]);
      // Quarters and edges of long ago are forgotten.
      await ledger.maintain(now + 420 * DAY);
    } finally {
      await ledger.close();
    }
    const { rows } = await own.owner.query<{ name: string; owner: string }>(TABLES);
    expect(rows.filter(({ owner }) => owner === own.role)).toEqual([]);
  });

  test('keeps jobs and content, and reads credit', async () => {
    const options = { connectionString: own.url };
    await using opened = new AsyncDisposableStack();
    const jobs = opened.adopt(await openPostgresJobs(options), (store) => store.close());
    const content = opened.adopt(await openPostgresContent(options), (store) => store.close());
    const credit = opened.adopt(await openPostgresCredit(options), (store) => store.close());
    const owners = opened.adopt(await openPostgresCredit({ connectionString: own.ownerUrl }), (store) => store.close());
    const id = randomUUID();
    const job = { organization: 'team/acme', workload: 'team/app', key: 'team/key', order: Buffer.from('x') };
    const bounds = { waiting: 3, storedBytes: 1000 };
    expect(await jobs.book.enter({ ...job, id, createdAt: Date.now(), inputBytes: 1 }, bounds)).toBe('entered');
    const file = { job: id, part: 'input' } as const;
    for (const bytes of ['one', 'two']) await jobs.files.put(file, Buffer.from(bytes));
    await jobs.book.queue(id);
    const taken = (await jobs.queue.take(randomUUID(), HOUR, 5))!;
    expect(await jobs.queue.keep(taken, HOUR, { progress: { phase: 'reading', pages: 1, pagesDone: 1 } })).toBe('kept');
    expect(await jobs.queue.end(taken, { state: 'cancelled' })).toBe(true);
    const leftovers = await jobs.queue.leftovers();
    expect(leftovers).toEqual([file]);
    await jobs.files.remove(file);
    await jobs.queue.cleared(leftovers);
    expect(await jobs.files.get(file)).toBeUndefined();
    const item = { callId: callIdAt(Date.now()), organization: 'team/acme', expiresAt: 1, encrypted: Buffer.from('x') };
    await content.put([item]);
    await content.expire(Date.now());
    expect(await content.find(item.callId)).toBeUndefined();
    const entry = { organization: 'team/acme', amount: 5n, reference: 'invoice 1', note: '', actor: 'ada' };
    await expect(credit.add(entry)).rejects.toMatchObject({ code: FORBIDDEN });
    await owners.add(entry);
    expect((await credit.standings(['team/acme'])).get('team/acme')).toMatchObject({ sum: 5n });
  });

  test('is refused every change of what is written, and of the schema', async () => {
    const partition = partitionOf(monthsAhead(0));
    const changes = [
      ...['audit_rows', partition, 'audit_rows_default', 'audit_superseded', 'audit_withheld', 'checkpoints'].flatMap(
        (table) => [
          `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
          `ALTER TABLE ${table} ADD COLUMN more text`,
          `DROP TABLE ${table} CASCADE`,
          `DELETE FROM ${table}`,
          `TRUNCATE ${table} CASCADE`,
        ],
      ),
      'UPDATE audit_rows SET cost_nano_eur = 0',
      `UPDATE ${partition} SET cost_nano_eur = 0`,
      "UPDATE checkpoints SET statement = ''",
      'UPDATE credit_entries SET amount_nano_eur = 1',
      `ALTER TABLE audit_rows DETACH PARTITION ${partition}`,
      'DROP TRIGGER refuse_change ON audit_rows',
      'SET session_replication_role = replica',
      "SELECT add_audit_partition('2044-01-01')",
      'ALTER FUNCTION make_audit_partition(timestamp) SECURITY INVOKER',
      'DROP FUNCTION make_audit_partition(timestamp)',
      'CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
      'CREATE TABLE public.mine (a int)',
      "UPDATE schema_migrations SET sha256 = ''",
    ];
    for (const sql of changes) await expect(role.query(sql), sql).rejects.toMatchObject({ code: FORBIDDEN });
    for (const month of ['2044-01-15', 'infinity', '1969-12-01', '9999-12-31'])
      await expect(role.query('SELECT make_audit_partition($1)', [month]), month).rejects.toMatchObject({
        code: '22023',
      });
  });

  test('has no table made under names of its own', async () => {
    await role.query('CREATE TEMPORARY TABLE audit_rows_default (call_id uuid)');
    await role.query('CREATE SCHEMA AUTHORIZATION CURRENT_USER').catch(() => {});
    await role.query('SET search_path = pg_temp, public');
    await role.query("SELECT make_audit_partition('2045-01-01')");
    const { rows } = await own.owner.query(
      "SELECT inhparent::regclass::text AS parent FROM pg_inherits WHERE inhrelid = 'public.audit_rows_2045_01'::regclass",
    );
    expect(rows).toEqual([{ parent: 'audit_rows' }]);
  });

  test('may read every table that there is, but through their parents only those of months', async () => {
    const { rows } = await own.owner.query<{ name: string; part: boolean; reads: boolean }>(
      `SELECT name, part, has_table_privilege($1, oid, 'SELECT') AS reads FROM (${TABLES}) AS tables`,
      [own.role],
    );
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(({ part, reads }) => part === reads)).toEqual([]);
  });
});
