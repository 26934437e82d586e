import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { createPool } from '#/adapters/postgres/pool.ts';
import { startPostgres, type PostgresServer } from '../harness/postgres.ts';
import { StrandBuilder, verifyLedger } from './ledger-rows.ts';
import { connect } from './ledger-subjects.ts';

let server: PostgresServer;
let ledger: PostgresLedger;
beforeAll(async () => {
  server = await startPostgres({ control: true, fsync: true });
  ledger = await openPostgresLedger({ connectionString: server.url });
});
afterAll(async () => {
  await ledger.close();
  await server.stop();
});

test('a server that is killed while rows are written: the same batch is sent again, nothing is lost or double', async () => {
  const strand = new StrandBuilder();
  const acknowledged: number[] = [];
  let rejected = 0;
  let stop = false;
  const writing = (async () => {
    while (!stop) {
      const rows = strand.sealMany(25);
      for (let written = false; !written;) {
        written = await ledger.append(rows).then(
          () => true,
          () => false,
        );
        if (!written) rejected += 1;
        if (!written) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      acknowledged.push(rows.at(-1)!.sequence);
    }
  })();
  for (let round = 0; round < 3; round++) {
    const before = acknowledged.length;
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(before + 5);
    await server.kill();
    await expect.poll(() => rejected, { timeout: 20_000 }).toBeGreaterThan(round);
    await expect(ledger.ping()).rejects.toThrow(Error);
    await server.restart();
  }
  const before = acknowledged.length;
  await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(before + 5);
  stop = true;
  await writing;
  await ledger.ping();
  const report = await verifyLedger(ledger);
  expect(report).toMatchObject({ intact: true, superseded: 0, rows: acknowledged.at(-1) });
  expect(await ledger.spendDifferences()).toEqual([]);
});

test('a server that acknowledges before the disk has it is refused', async () => {
  const url = await server.createDatabase();
  const client = await connect(url);
  await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
  await client.end();
  await expect(openPostgresLedger({ connectionString: url })).rejects.toThrow('synchronous_commit');
});

test('a server that is not there: opening it rejects, and leaves nothing running', async () => {
  await expect(openPostgresLedger({ connectionString: 'postgres://postgres@127.0.0.1:1/none' })).rejects.toThrow(
    'ECONNREFUSED',
  );
});

test('one who may only read can read', async () => {
  const url = await server.createDatabase();
  const owner = await openPostgresLedger({ connectionString: url });
  await owner.append(new StrandBuilder().sealMany(3));
  const client = await connect(url);
  await client.query('CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader');
  const asReader = new URL(url);
  asReader.username = 'reader';
  const reader = await openPostgresLedger({ connectionString: asReader.href, readOnly: true });
  expect(await verifyLedger(reader)).toMatchObject({ intact: true, rows: 3 });
  await expect(reader.append(new StrandBuilder().sealMany(1))).rejects.toMatchObject({ code: '42501' });
  await Promise.all([reader.close(), owner.close(), client.end()]);
});

test('a server that is killed within a transaction: the next statement rejects, and the process lives on', async () => {
  const pool = createPool({ connectionString: server.url });
  const client = await pool.connect();
  await client.query('BEGIN');
  const ended = new Promise((resolve) => client.once('end', resolve));
  await server.kill();
  await ended;
  await expect(client.query('COMMIT')).rejects.toThrow('not queryable');
  client.release(true);
  await server.restart();
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
});
