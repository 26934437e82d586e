import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { callIdAt, collect, StrandBuilder, verifyLedger } from './ledger-rows.ts';
import { connect, LEDGER_SUBJECTS, openHome, type OpenHome } from './ledger-subjects.ts';

const BERLIN = 'Europe/Berlin';
const NOW = Date.UTC(2026, 10, 21, 12);

describe.each(LEDGER_SUBJECTS)('the ledger in $name', (subject) => {
  let home: OpenHome;
  beforeAll(async () => {
    home = await openHome(subject);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  const ofStrand = async (strand: string): Promise<SealedRow[]> =>
    (await collect(home.ledger.rows())).filter((row) => row.strand === strand);

  describe('append', () => {
    test('keeps rows as they are', async () => {
      const strand = new StrandBuilder();
      const rows = [
        strand.seal({
          cost: 2n ** 63n - 1n,
          organization: 'ö/«"\\\t',
          workload: "it's, {a} \n NULL",
          model: '\u0000 🦊 \\N',
        }),
        strand.seal({ cost: 0n, at: Date.UTC(1999, 11, 31, 23, 59, 59, 999) }),
        strand.seal({ cost: -5n, at: Date.UTC(2199, 0, 1), organization: '', workload: '' }),
        strand.seal({ cost: 9_007_199_254_740_993n, model: 'x'.repeat(100_000) }),
      ];
      await home.ledger.append(rows);
      expect(await ofStrand(strand.strand)).toEqual(rows);
      const found = await home.ledger.find([rows[3]!.callId, rows[0]!.callId, callIdAt(NOW)]);
      expect(found.toSorted((a, b) => a.sequence - b.sequence)).toEqual([rows[0], rows[3]]);
    });

    test('of nothing, and finding nothing, does nothing', async () => {
      await home.ledger.append([]);
      expect(await home.ledger.find([])).toEqual([]);
    });

    test('of a batch a second time changes nothing', async () => {
      const strand = new StrandBuilder();
      const rows = strand.sealMany(5, () => ({ organization: 'again' }));
      await home.ledger.append(rows.slice(0, 3));
      await home.ledger.append(rows);
      await home.ledger.append(rows);
      expect(await ofStrand(strand.strand)).toEqual(rows);
      expect((await home.ledger.totals('again', 'UTC', NOW, [])).organization.total).toBe(15_000n);
    });

    test('leaves a row as it was when its call comes again with other contents', async () => {
      const rows = new StrandBuilder().sealMany(2, () => ({ organization: 'kept' }));
      await home.ledger.append(rows);
      await home.ledger.append([{ ...rows[0]!, cost: 1n, row: '{}' }]);
      expect(await home.ledger.find([rows[0]!.callId])).toEqual([rows[0]]);
      expect((await home.ledger.totals('kept', 'UTC', NOW, [])).organization.total).toBe(3_000n);
    });

    test('of the same rows on two connections at once keeps them once', async () => {
      const rows = new StrandBuilder().sealMany(500);
      const other = await openPostgresLedger({ connectionString: home.url });
      await Promise.all([home.ledger.append(rows), other.append(rows), home.ledger.append(rows), other.append(rows)]);
      await other.close();
      expect(await ofStrand(rows[0]!.strand)).toEqual(rows);
    });

    test('keeps a row whose call another strand has sealed, without counting it', async () => {
      const [first, second] = [new StrandBuilder(), new StrandBuilder()];
      const sealed = first.seal({ organization: 'twice', cost: 7n });
      await home.ledger.append([sealed]);
      const late = second.sealMany(3, (index) => ({
        organization: 'twice',
        cost: 100n,
        ...(index === 1 && { callId: sealed.callId }),
      }));
      for (let attempt = 0; attempt < 2; attempt++) await home.ledger.append(late);
      expect(await ofStrand(second.strand)).toEqual([late[0], { ...late[1], superseded: true }, late[2]]);
      expect(await home.ledger.find([sealed.callId])).toEqual([sealed]);
      expect((await home.ledger.totals('twice', 'UTC', NOW, [])).organization.total).toBe(207n);
      expect(await verifyLedger(home.ledger)).toMatchObject({ intact: true, superseded: 1 });
    });

    test('keeps both rows of a call that one batch holds twice, and counts the first', async () => {
      const strand = new StrandBuilder();
      const callId = callIdAt(NOW);
      const rows = strand.sealMany(2, (index) => ({ callId, organization: 'one-batch', cost: BigInt(index + 1) }));
      await home.ledger.append(rows);
      expect(await ofStrand(strand.strand)).toEqual([rows[0], { ...rows[1], superseded: true }]);
      expect((await home.ledger.totals('one-batch', 'UTC', NOW, [])).organization.total).toBe(1n);
    });

    test.each([
      ['a cost beyond 64 bits', { cost: 2n ** 63n }, 'out of range'],
      ['a call id that is none', { callId: 'not-a-uuid' }, 'hexadecimal'],
      ['a link that is too short', { link: 'ab' }, 'hexadecimal'],
      ['a number that is none', { sequence: 0 }, 'check constraint'],
    ])('rejects a batch with %s, all of it', async (_, bad, reason) => {
      const rows: SealedRow[] = new StrandBuilder().sealMany(3);
      await expect(home.ledger.append(rows.with(2, { ...rows[2]!, ...bad }))).rejects.toThrow(reason);
      expect(await ofStrand(rows[0]!.strand)).toEqual([]);
    });
  });

  test('ping resolves', async () => {
    await expect(home.ledger.ping()).resolves.toBeUndefined();
  });

  test("does not touch the process' own type parsers", async () => {
    const { rows } = await home.client.query("SELECT 5::bigint AS big, '\\x01'::bytea AS bytes");
    expect(rows).toEqual([{ big: '5', bytes: Buffer.from([1]) }]);
    const parse = pg.types.getTypeParser(20) as (text: string) => unknown;
    expect(parse('5')).toBe('5');
  });

  describe('rows', () => {
    test(
      'come strand by strand in order, however they were written, in constant memory',
      { timeout: 120_000 },
      async () => {
        await using own = await openHome(subject);
        const strands = [new StrandBuilder(), new StrandBuilder(), new StrandBuilder()];
        for (let batch = 0; batch < 100; batch++) {
          const month = Date.UTC(2026, 9 + (batch % 3), 3);
          await own.ledger.append(strands[batch % 3]!.sealMany(500, (index) => ({ at: month + index })));
        }
        const collectGarbage = garbageCollector();
        const heap: number[] = [];
        let count = 0;
        let before: SealedRow | undefined;
        for await (const row of own.ledger.rows()) {
          if (before && before.strand === row.strand) expect(row.sequence).toBe(before.sequence + 1);
          else expect(row.sequence).toBe(1);
          if (before) expect(row.strand >= before.strand).toBe(true);
          before = row;
          count += 1;
          if (count % 5_000 !== 0) continue;
          collectGarbage();
          heap.push(process.memoryUsage().heapUsed);
        }
        expect(count).toBe(50_000);
        // The rows take 80 MB.
        expect(Math.max(...heap) - Math.min(...heap)).toBeLessThan(20_000_000);
        expect(await verifyLedger(own.ledger)).toMatchObject({ intact: true, rows: 50_000, strands: 3 });
      },
    );

    test('that share a place are all there, even more than a page of them', async () => {
      await using own = await openHome(subject);
      const { strand } = new StrandBuilder();
      const alike = Array.from({ length: 2_300 }, () => new StrandBuilder(strand).seal());
      const after = new StrandBuilder(strand).sealMany(2)[1]!;
      await own.ledger.append([...alike, after]);
      const rows = await collect(own.ledger.rows());
      expect(new Set(rows.map((row) => row.callId)).size).toBe(2_301);
      expect(rows.at(-1)).toEqual(after);
    });

    test('can be left early', async () => {
      await using own = await openHome(subject);
      await own.ledger.append(new StrandBuilder().sealMany(1_500));
      for await (const row of own.ledger.rows()) {
        expect(row.sequence).toBe(1);
        break;
      }
      await own.ledger.ping();
    });
  });

  describe('refuses', () => {
    const changes = [
      ['UPDATE %t SET cost_nano_eur = 0', ['audit_rows', 'audit_superseded']],
      ['UPDATE %t SET call_id = gen_random_uuid()', ['audit_rows']],
      ['DELETE FROM %t', ['audit_rows', 'audit_superseded', 'checkpoints', 'checkpoint_heads']],
      ['TRUNCATE %t CASCADE', ['audit_rows', 'audit_superseded', 'checkpoints', 'checkpoint_heads']],
      [
        'INSERT INTO %t SELECT * FROM audit_rows LIMIT 1 ON CONFLICT (call_id) DO UPDATE SET cost_nano_eur = 1',
        ['audit_rows'],
      ],
    ] as const;

    test('every change of what is written, also past the parent table', async () => {
      await using own = await openHome(subject);
      const first = new StrandBuilder();
      const rows = [first.seal({ at: Date.now() }), first.seal({ at: Date.UTC(1999, 0, 1) })];
      await own.ledger.append([...rows, new StrandBuilder().seal({ callId: rows[0]!.callId })]);
      const { heads } = await own.ledger.heads();
      await own.ledger.saveCheckpoint({ ...CHECKPOINT, heads });
      const partitions = await own.client.query<{ name: string }>(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_rows'::regclass",
      );
      const names = partitions.rows.map(({ name }) => name);
      expect(names).toHaveLength(4);
      for (const [sql, tables] of changes) {
        const places = sql.startsWith('INSERT')
          ? tables
          : tables.flatMap((table) => (table === 'audit_rows' ? [table, ...names] : [table]));
        for (const table of places) {
          // Row triggers have nothing to refuse in an empty partition.
          const { rows: found } = await own.client.query(`SELECT FROM ${table} LIMIT 1`);
          if (found.length === 0 && !sql.startsWith('TRUNCATE')) continue;
          await expect(own.client.query(sql.replace('%t', table)), `${sql} ${table}`).rejects.toMatchObject({
            code: '23001',
          });
        }
      }
      expect(await collect(own.ledger.rows())).toHaveLength(3);
    });
  });

  describe('checkpoints', () => {
    test('are made of the strands that grew since the last', async () => {
      await using own = await openHome(subject);
      const [a, b] = [new StrandBuilder(), new StrandBuilder()].toSorted((x, y) => (x.strand < y.strand ? -1 : 1)) as [
        StrandBuilder,
        StrandBuilder,
      ];
      const head = ({ strand, sequence, link }: SealedRow) => ({ strand, sequence, link });
      expect(await own.ledger.heads()).toEqual({ last: undefined, heads: [] });
      const [rowsOfA, rowsOfB] = [a.sealMany(3), b.sealMany(1)];
      await own.ledger.append([...rowsOfB, ...rowsOfA]);
      const first = await own.ledger.heads();
      expect(first).toEqual({ last: undefined, heads: [head(rowsOfA[2]!), head(rowsOfB[0]!)] });
      await own.ledger.saveCheckpoint({ ...CHECKPOINT, heads: first.heads });
      const saved = { ...CHECKPOINT, heads: first.heads };
      expect(await own.ledger.heads()).toEqual({ last: saved, heads: [] });
      const more = b.seal();
      await own.ledger.append([more]);
      expect(await own.ledger.heads()).toEqual({ last: saved, heads: [head(more)] });
      const taken = own.ledger.saveCheckpoint({ ...CHECKPOINT, heads: [head(more)] });
      await expect(taken).rejects.toMatchObject({ code: '23505' });
      expect(await collect(own.ledger.checkpoints())).toEqual([saved]);
      expect(await own.ledger.heads()).toEqual({ last: saved, heads: [head(more)] });
    });

    test('come in order, page after page, also without heads', async () => {
      await using own = await openHome(subject);
      for (let number = 1_203; number > 0; number--) await own.ledger.saveCheckpoint({ ...CHECKPOINT, number });
      const numbers = (await collect(own.ledger.checkpoints())).map((checkpoint) => checkpoint.number);
      expect(numbers).toEqual(Array.from({ length: 1_203 }, (_, index) => index + 1));
    });
  });

  describe('the schema', () => {
    test('is made once by many processes that start together', async () => {
      const own = await subject.home();
      const ledgers = await Promise.all(
        Array.from({ length: 6 }, () => openPostgresLedger({ connectionString: own.url, maxConnections: 2 })),
      );
      await Promise.all(ledgers.map((ledger) => ledger.append(new StrandBuilder().sealMany(3))));
      const client = await connect(own.url);
      const { rows } = await client.query('SELECT number FROM schema_migrations ORDER BY number');
      const migrations = readdirSync(new URL('../../src/adapters/postgres/migrations', import.meta.url));
      expect(rows).toEqual(migrations.sort().map((file) => ({ number: Number(file.slice(0, 4)) })));
      expect(await verifyLedger(ledgers[0]!)).toMatchObject({ intact: true, rows: 18, strands: 6 });
      await client.end();
      await Promise.all(ledgers.map((ledger) => ledger.close()));
      await own.close();
    });

    test('of a newer version is used as it is; of another making, refused', async () => {
      await using own = await openHome(subject);
      await own.client.query("INSERT INTO schema_migrations VALUES (9000, 'from-the-future', 'ab')");
      await (await openPostgresLedger({ connectionString: own.url })).close();
      await own.client.query("UPDATE schema_migrations SET sha256 = 'cd' WHERE number = 1");
      await expect(openPostgresLedger({ connectionString: own.url })).rejects.toMatchObject({ name: 'SchemaMismatch' });
    });

    test('is not made by one who only reads', async () => {
      const own = await subject.home();
      await expect(openPostgresLedger({ connectionString: own.url, readOnly: true })).rejects.toMatchObject({
        code: '42P01',
      });
      const client = await connect(own.url);
      expect((await client.query("SELECT FROM pg_class WHERE relname = 'schema_migrations'")).rows).toEqual([]);
      await client.end();
      await own.close();
    });
  });

  describe('partitions', () => {
    const monthOf = async (callId: string, client: pg.Client): Promise<unknown> =>
      (await client.query('SELECT tableoid::regclass::text AS name FROM audit_rows WHERE call_id = $1', [callId]))
        .rows[0];

    test('hold the calls of a month, to the millisecond', async () => {
      await using own = await openHome(subject);
      const start = Date.UTC(2031, 1, 1);
      expect(await own.ledger.maintain(start)).toEqual(['2031-02', '2031-03', '2031-04']);
      expect(await own.ledger.maintain(start)).toEqual([]);
      expect(await own.ledger.maintain(Date.UTC(2031, 2, 1) - 1)).toEqual([]);
      expect(await own.ledger.maintain(Date.UTC(2031, 2, 1))).toEqual(['2031-05']);
      const strand = new StrandBuilder();
      const times = [start - 1, start, Date.UTC(2031, 2, 1) - 1, Date.UTC(2031, 2, 1)];
      const rows = times.map((at) => strand.seal({ at }));
      await own.ledger.append(rows);
      const names: unknown[] = [];
      for (const { callId } of rows) names.push(await monthOf(callId, own.client));
      const expected = ['audit_rows_default', 'audit_rows_2031_02', 'audit_rows_2031_02', 'audit_rows_2031_03'];
      expect(names).toEqual(expected.map((name) => ({ name })));
      expect(await collect(own.ledger.rows())).toEqual(rows);
    });

    // The embedded database has one transaction at a time.
    describe.each([subject].filter(({ name }) => name === 'PostgreSQL'))('in $name', () => {
      test('are made without keeping writers waiting behind a reader', async () => {
        await using own = await openHome(subject);
        await own.client.query('BEGIN; SELECT FROM audit_rows LIMIT 1');
        const strand = new StrandBuilder();
        let maintained: readonly string[] | undefined;
        const maintaining = own.ledger.maintain(Date.UTC(2035, 0, 1)).then((made) => (maintained = made));
        for (let batch = 0; batch < 20 || maintained === undefined; batch++)
          await own.ledger.append(strand.sealMany(5, () => ({ at: Date.UTC(2035, 0, 2) })));
        // The reader is still there: they were given up, and come the next time, with the rows that came meanwhile.
        expect(await maintaining).toEqual([]);
        await own.client.query('COMMIT');
        expect(await own.ledger.maintain(Date.UTC(2035, 0, 1))).toEqual(['2035-01', '2035-02', '2035-03']);
        const first = (await collect(own.ledger.rows()))[0]!;
        expect(await monthOf(first.callId, own.client)).toEqual({ name: 'audit_rows_2035_01' });
        expect(await verifyLedger(own.ledger)).toMatchObject({ intact: true, faulty: 0 });
      });
    });

    test('are made at the start for this month and the two after it', async () => {
      await using own = await openHome(subject);
      const row = new StrandBuilder().seal({ at: Date.now() });
      await own.ledger.append([row]);
      const month = new Date().toISOString().slice(0, 7).replace('-', '_');
      expect(await monthOf(row.callId, own.client)).toEqual({ name: `audit_rows_${month}` });
    });

    test('are made for a month whose calls came before its partition: these move into it, unchanged', async () => {
      await using own = await openHome(subject);
      const strand = new StrandBuilder();
      const early = strand.seal({ at: Date.UTC(2040, 5, 15) });
      await own.ledger.append([early]);
      const farther = strand.seal({ at: Date.UTC(2099, 0, 1) });
      await own.ledger.append([farther]);
      expect(await own.ledger.maintain(Date.UTC(2040, 4, 1))).toEqual(['2040-05', '2040-06', '2040-07']);
      const late = strand.seal({ at: Date.UTC(2040, 5, 16) });
      await own.ledger.append([early, late]);
      expect(await collect(own.ledger.rows())).toEqual([early, farther, late]);
      for (const { callId } of [early, late])
        expect(await monthOf(callId, own.client)).toEqual({ name: 'audit_rows_2040_06' });
      expect(await monthOf(farther.callId, own.client)).toEqual({ name: 'audit_rows_default' });
      // Moving has counted nothing twice, and left nothing unguarded.
      expect(await own.ledger.usageDifferences()).toEqual([]);
      for (const table of ['audit_rows_default', 'audit_rows_2040_06'])
        await expect(own.client.query(`DELETE FROM ${table}`)).rejects.toMatchObject({ code: '23001' });
    });
  });

  test('an organization that never spent has periods and nothing else', async () => {
    const nothing = { total: 0n, day: 0n, month: 0n };
    expect(await home.ledger.totals('nobody', BERLIN, Date.UTC(2026, 10, 30, 23), [])).toEqual({
      periods: { day: '2026-12-01', month: '2026-12' },
      organization: nothing,
      workloads: new Map(),
    });
  });

  test('a time zone that does not exist is refused', async () => {
    await expect(home.ledger.totals('nobody', 'Mars/Olympus', NOW, [])).rejects.toThrow(RangeError);
  });
});

const CHECKPOINT = {
  number: 1,
  at: Date.UTC(2026, 10, 21, 9),
  root: 'a'.repeat(64),
  heads: [],
  previous: '0'.repeat(64),
  statement: `{"at":"2026-11-21T09:00:00.000Z","heads":0,"number":1,"previous":"${'0'.repeat(64)}","root":"${'a'.repeat(64)}","v":1}`,
  key: 'b'.repeat(64),
  signature: 'c'.repeat(128),
};

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
