import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  openEmbeddedPostgres,
  reachEmbeddedPostgres,
  type EmbeddedPostgres,
} from '#/adapters/pglite/embedded-postgres.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { StrandBuilder, verifyLedger } from './ledger-rows.ts';
import { connect, embeddedDataDir, temporaryFolder } from './ledger-subjects.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function dataDir(): Promise<string> {
  const folder = await embeddedDataDir();
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function open(folder: string): Promise<string> {
  const database = await openEmbeddedPostgres({ dataDir: folder });
  cleanUps.push(() => database.close());
  return database.connectionString;
}

async function client(url: string): Promise<pg.Client> {
  const connected = await connect(url);
  cleanUps.push(() => connected.end().catch(() => {}));
  return connected;
}

/** Starts the appending process; `lines` are what it acknowledged. */
function startChild(folder: string): { child: ChildProcess; lines: AsyncIterator<string>; ended: Promise<unknown> } {
  const script = fileURLToPath(new URL('./ledger-embedded-child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUps.push(() => child.kill('SIGKILL'));
  return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator](), ended: once(child, 'exit') };
}

describe('a folder without a database', () => {
  test('gets one, also where making one was cut short, and no other file is touched', async () => {
    const folder = await temporaryFolder();
    cleanUps.push(() => rm(folder, { recursive: true, force: true }));
    const half = join(folder, 'ledger/data.new-a1b2c3');
    await mkdir(half, { recursive: true });
    writeFileSync(join(half, 'PG_VERSION'), '17');
    const database = await client(await open(folder));
    expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(existsSync(half)).toBe(false);
    expect(statSync(join(folder, 'ledger/data')).mode & 0o777).toBe(0o700);
  });

  test('is left alone where files of something else are in the way', async () => {
    const folder = await temporaryFolder();
    cleanUps.push(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, 'ledger/data'), { recursive: true });
    writeFileSync(join(folder, 'ledger/data/letter'), 'kept');
    await expect(openEmbeddedPostgres({ dataDir: folder })).rejects.toThrow('ENOTEMPTY');
    expect(readFileSync(join(folder, 'ledger/data/letter'), 'utf8')).toBe('kept');
  });
});

describe('a process that is killed', () => {
  test('has lost no row that it had acknowledged, time after time', { timeout: 120_000 }, async () => {
    const folder = await dataDir();
    const acknowledged = new Map<string, number>();
    for (const batches of [1, 7, 40]) {
      const { child, lines, ended } = startChild(folder);
      for (let line = 0; line <= batches; line++) {
        const [strand, sequence] = String((await lines.next()).value).split(' ');
        if (sequence) acknowledged.set(strand!, Number(sequence));
      }
      child.kill('SIGKILL');
      // What it had written before it died counts as well.
      for (let line = await lines.next(); !line.done; line = await lines.next()) {
        const [strand, sequence] = line.value.split(' ');
        if (sequence) acknowledged.set(strand!, Number(sequence));
      }
      await ended;
    }
    expect(acknowledged.size).toBe(3);
    const ledger = await openPostgresLedger({ connectionString: await open(folder) });
    const found = new Map<string, number>();
    for await (const row of ledger.rows()) found.set(row.strand, row.sequence);
    for (const [strand, sequence] of acknowledged) expect(found.get(strand)).toBeGreaterThanOrEqual(sequence);
    expect(await verifyLedger(ledger)).toMatchObject({ intact: true });
    expect(await ledger.spendDifferences()).toEqual([]);
    await ledger.close();
  });

  test('leaves its lock and its socket, and neither is in the way', async () => {
    const folder = await dataDir();
    const { child, lines, ended } = startChild(folder);
    await lines.next();
    child.kill('SIGKILL');
    await ended;
    expect(existsSync(join(folder, 'ledger', 'lock'))).toBe(true);
    expect(existsSync(join(folder, 'ledger', '.s.PGSQL.5432'))).toBe(true);
    const connected = await client(await open(folder));
    expect((await connected.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

describe('a second process on a data directory', () => {
  test('is told which process has it, and reaches it through its socket', async () => {
    const folder = await dataDir();
    const { child, lines } = startChild(folder);
    await lines.next();
    const refused = openEmbeddedPostgres({ dataDir: folder });
    await expect(refused).rejects.toMatchObject({ name: 'DataDirectoryInUse', pid: child.pid });
    await expect(refused).rejects.toThrow(`open in process ${child.pid}`);
    const reached = await reachEmbeddedPostgres({ dataDir: folder });
    const ledger = await openPostgresLedger({ connectionString: reached.connectionString, readOnly: true });
    const own = new StrandBuilder();
    await ledger.append(own.sealMany(10));
    expect(await verifyLedger(ledger)).toMatchObject({ intact: true, strands: 2 });
    await ledger.close();
    await reached.close();
    // It goes on after the visitor has left.
    expect((await lines.next()).done).toBe(false);
  });

  test('is refused in the same process too, and let in once it was closed', async () => {
    const folder = await dataDir();
    const first = await openEmbeddedPostgres({ dataDir: folder });
    await expect(openEmbeddedPostgres({ dataDir: folder })).rejects.toMatchObject({ pid: process.pid });
    await first.close();
    await first.close();
    expect(existsSync(join(folder, 'ledger', 'lock'))).toBe(false);
    await client(await open(folder));
  });

  test('of several that start together, exactly one is let in', async () => {
    const folder = await dataDir();
    writeFileSync(join(folder, 'ledger', 'lock'), staleLock());
    const opened = await Promise.allSettled([1, 2, 3, 4].map(() => openEmbeddedPostgres({ dataDir: folder })));
    const winners = opened.filter((result) => result.status === 'fulfilled');
    expect(winners).toHaveLength(1);
    for (const result of opened) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ name: 'DataDirectoryInUse' });
    }
    await winners[0]!.value.close();
  });

  test.each([
    ['a process that is gone', staleLock()],
    ['a process that had our id, as in a container started anew', lockOf({ started: '1' })],
    ['a machine that was started anew since', lockOf({ boot: 'another' })],
    ['a machine that went down while it was written', ''],
    ['nobody', '{"pid":-1}'],
  ])('takes over the lock of %s', async (_, lock) => {
    const folder = await dataDir();
    writeFileSync(join(folder, 'ledger', 'lock'), lock);
    const connected = await client(await open(folder));
    expect((await connected.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  test('respects a lock from another container on the same volume: its socket answers', async () => {
    const folder = await dataDir();
    const url = await open(folder);
    writeFileSync(join(folder, 'ledger', 'lock'), lockOf({ started: '1' }));
    await expect(openEmbeddedPostgres({ dataDir: folder })).rejects.toMatchObject({ name: 'DataDirectoryInUse' });
    await client(url);
  });
});

describe('the data directory', () => {
  test('is entered by its owner only, and so is the socket', async () => {
    const folder = await dataDir();
    await open(folder);
    expect(statSync(join(folder, 'ledger')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'ledger', '.s.PGSQL.5432')).mode & 0o777).toBe(0o600);
  });

  test('with a path too long for a socket is refused at once', async () => {
    const folder = join(await temporaryFolder(), 'x'.repeat(100));
    await expect(openEmbeddedPostgres({ dataDir: folder })).rejects.toThrow('too long');
    expect(existsSync(folder)).toBe(false);
    rmSync(join(folder, '..'), { recursive: true });
  });

  test('is not made by one who wants to reach it', async () => {
    const folder = await temporaryFolder();
    cleanUps.push(() => rm(folder, { recursive: true }));
    await expect(reachEmbeddedPostgres({ dataDir: folder })).rejects.toThrow('no embedded database');
    expect(existsSync(join(folder, 'ledger'))).toBe(false);
  });

  test('that cannot be a database ends in an error, and is free again', async () => {
    const folder = await temporaryFolder();
    cleanUps.push(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'ledger'));
    symlinkSync('/dev/null', join(folder, 'ledger', 'data'));
    await expect(openEmbeddedPostgres({ dataDir: folder })).rejects.toThrow('the embedded database has');
    expect(existsSync(join(folder, 'ledger', 'lock'))).toBe(false);
  });

  test('writes through to the disk', async () => {
    const connected = await client(await open(await dataDir()));
    const { rows } = await connected.query(
      "SELECT current_setting('fsync') AS fsync, current_setting('wal_sync_method') AS method, current_setting('full_page_writes') AS pages",
    );
    expect(rows).toEqual([{ fsync: 'on', method: 'fsync', pages: 'on' }]);
  });
});

describe('clients at the same time', () => {
  let folder: string;
  let url: string;
  let database: EmbeddedPostgres;
  beforeAll(async () => {
    folder = await embeddedDataDir();
    database = await openEmbeddedPostgres({ dataDir: folder });
    url = database.connectionString;
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('do not see one another’s prepared statements', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => client(url)));
    const run = async (own: pg.Client, id: number): Promise<void> => {
      for (let round = 0; round < 100; round++) {
        const text = `SELECT $1::int + ${id} AS value`;
        const { rows } = await own.query<{ value: number }>({ name: 'same', text, values: [round] });
        expect(rows).toEqual([{ value: round + id }]);
        const unnamed = await own.query<{ value: number }>(`SELECT $1::int * ${id} AS value`, [round]);
        expect(unnamed.rows).toEqual([{ value: round * id }]);
      }
    };
    await Promise.all(clients.map((own, index) => run(own, index + 1)));
  });

  test('wait for a transaction to end, and see all of it or nothing', async () => {
    const [a, b] = await Promise.all([client(url), client(url)]);
    await a.query('CREATE TABLE seen (n int)');
    await a.query('BEGIN');
    await a.query('INSERT INTO seen VALUES (1)');
    const order: string[] = [];
    const reading = b.query<{ n: number }>('SELECT count(*)::int AS n FROM seen').then(({ rows }) => {
      order.push('read');
      return rows;
    });
    await a.query('INSERT INTO seen VALUES (2)');
    order.push('commit');
    await a.query('COMMIT');
    expect(await reading).toEqual([{ n: 2 }]);
    expect(order).toEqual(['commit', 'read']);
  });

  test('are not harmed by one that leaves in the middle of a transaction', async () => {
    const [a, b] = await Promise.all([client(url), client(url)]);
    await a.query('CREATE TABLE undone (n int)');
    await a.query('BEGIN');
    await a.query('INSERT INTO undone VALUES (1)');
    const reading = b.query('SELECT count(*)::int AS n FROM undone');
    socketOf(a).destroy();
    expect((await reading).rows).toEqual([{ n: 0 }]);
  });

  test('are not harmed by one that leaves in the middle of a failed cycle', async () => {
    const [a, b] = await Promise.all([client(url), client(url)]);
    const failed = once(protocolOf(a), 'errorMessage');
    protocolOf(a).parse({ name: '', text: 'not SQL', types: [] });
    protocolOf(a).flush();
    await failed;
    const reading = b.query('SELECT 1 AS one');
    socketOf(a).destroy();
    expect((await reading).rows).toEqual([{ one: 1 }]);
  });

  test('leave no prepared statements behind', async () => {
    const [a, b] = await Promise.all([client(url), client(url)]);
    await a.query({ name: 'left_behind', text: 'SELECT 1' });
    const names = async () =>
      (await b.query<{ name: string }>("SELECT name FROM pg_prepared_statements WHERE name LIKE '%left_behind'")).rows;
    expect(await names()).toHaveLength(1);
    socketOf(a).destroy();
    await expect.poll(names).toEqual([]);
  });

  test('are not harmed by one that asks for what does not work here', async () => {
    const [a, b] = await Promise.all([client(url), client(url)]);
    await a.query('CREATE TABLE copied (n int)');
    await expect(a.query('COPY copied FROM STDIN')).rejects.toMatchObject({ code: '57014' });
    await expect(a.query({ text: 'COPY copied FROM STDIN', values: [] })).rejects.toMatchObject({ code: '57014' });
    await expect(a.query('SELECT 1/0')).rejects.toMatchObject({ code: '22012' });
    for (const own of [a, b]) expect((await own.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  test.each([
    ['no protocol at all', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a start-up of gigabytes', Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0])],
    ['a start-up shorter than its head', Buffer.from([0, 0, 0, 4, 0, 3, 0, 0])],
    ['half a start-up', Buffer.from([0, 0, 0, 80, 0, 3, 0, 0])],
    ['a message of negative length', Buffer.concat([startup(), Buffer.from([0x51, 0xff, 0xff, 0xff, 0xff])])],
    ['a message of a gigabyte', Buffer.concat([startup(), Buffer.from([0x51, 0x40, 0, 0, 0])])],
    ['messages of no known type', Buffer.concat([startup(), Buffer.from([0x21, 0, 0, 0, 4, 0x53, 0, 0, 0, 4])])],
  ])('are not harmed by one that sends %s', async (_, bytes) => {
    const ledger = await openPostgresLedger({ connectionString: url });
    const hostile = connectSocket(join(folder, 'ledger', '.s.PGSQL.5432'));
    hostile.on('error', () => {});
    hostile.resume();
    const closed = once(hostile, 'close');
    hostile.write(bytes);
    const rows = new StrandBuilder().sealMany(3);
    await ledger.append(rows);
    hostile.end();
    await closed;
    expect(await ledger.find(rows.map(({ callId }) => callId))).toHaveLength(3);
    await ledger.close();
  });

  test('are not harmed by messages of known types with anything in them', async () => {
    const honest = await client(url);
    const garbage = fc.array(fc.tuple(fc.constantFrom(...'QPBDECSHdcf'.split('')), fc.uint8Array({ maxLength: 24 })), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(garbage, async (messages) => {
        const hostile = connectSocket(join(folder, 'ledger', '.s.PGSQL.5432'));
        hostile.on('error', () => {});
        hostile.resume();
        const closed = once(hostile, 'close');
        hostile.write(
          Buffer.concat([startup(), ...messages.map(([type, body]) => messageOf(type, body)), messageOf('S', [])]),
        );
        expect((await honest.query({ name: 'one', text: 'SELECT 1 AS one' })).rows).toEqual([{ one: 1 }]);
        hostile.end();
        await closed;
      }),
      { numRuns: 200 },
    );
  });

  test('beyond the twentieth are turned away with a reason', async () => {
    await expect.poll(() => connect(url).then((one) => one.end())).toBeUndefined();
    await Promise.all(Array.from({ length: 20 }, () => client(url)));
    await expect(connect(url)).rejects.toMatchObject({ code: '53300' });
  });
});

test('libpq finds the socket by its name', async () => {
  const folder = await dataDir();
  const url = await open(folder);
  expect(decodeURIComponent(url)).toBe(`postgresql://postgres@/postgres?host=${join(folder, 'ledger')}`);
  expect(readFileSync(join(folder, 'ledger', 'lock'), 'utf8')).toContain(`"pid":${process.pid}`);
});

function lockOf(changes: { readonly started?: string; readonly boot?: string }): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return JSON.stringify({ pid: process.pid, started: '1', boot, ...changes });
}

/** Of a process id that no system gives. */
function staleLock(): string {
  return JSON.stringify({ ...(JSON.parse(lockOf({})) as object), pid: 2 ** 22 + 1 });
}

function startup(): Buffer {
  const body = Buffer.from('\0\0\0\0\0\x03\0\0user\0postgres\0database\0postgres\0\0');
  body.writeInt32BE(body.length, 0);
  return body;
}

function messageOf(type: string, body: Iterable<number>): Buffer {
  const bytes = Buffer.from([type.charCodeAt(0), 0, 0, 0, 0, ...body]);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

interface Protocol extends NodeJS.EventEmitter {
  parse(statement: { name: string; text: string; types: number[] }): void;
  flush(): void;
  readonly stream: { destroy(): void };
}

/** The wire under a client, to do what no client does. */
function protocolOf(own: pg.Client): Protocol {
  return (own as unknown as { connection: Protocol }).connection;
}

function socketOf(own: pg.Client): { destroy(): void } {
  return protocolOf(own).stream;
}
