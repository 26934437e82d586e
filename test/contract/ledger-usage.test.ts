import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditRow } from '#/seal/row.ts';
import type { UsageDimension } from '#/ports/usage.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { StrandBuilder } from './ledger-rows.ts';
import { connect, LEDGER_SUBJECTS, makeSchemaUntil, openHome, type OpenHome } from './ledger-subjects.ts';
import { added, byKey, dayOf, HOUR, NOW, OLD_APPEND, ORGANIZATION, parametersOf, variedRows } from './usage-rows.ts';

describe.each(LEDGER_SUBJECTS)('usage of the ledger in $name', (subject) => {
  let home: OpenHome;
  beforeAll(async () => {
    home = await openHome(subject);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test('is what its rows come to: fresh, half folded and folded, by days of any time zone', async () => {
    const { rows, said } = variedRows(600, 3 * HOUR);
    const ask = async (zone: string, by: readonly UsageDimension[], from: string, to: string): Promise<void> => {
      const { lines, complete } = await home.ledger.usage({ organization: ORGANIZATION, from, to, timeZone: zone, by });
      expect(complete).toBe(true);
      expect(byKey(lines), `${zone} ${by.join()} ${from} ${to}`).toEqual(
        byKey(added(known, by, zone, from, to).values()),
      );
    };
    const [first, second, last] = [dayOf(NOW - 75 * 24 * HOUR), dayOf(NOW - 31 * 24 * HOUR), dayOf(NOW + 24 * HOUR)];
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Pacific/Auckland',
      'Pacific/Kiritimati',
    ];
    let known: AuditRow[] = [];
    for (const [from, until] of [
      [0, 300],
      [300, 600],
      [600, 600],
    ] as const) {
      await home.ledger.append(rows.slice(from, until));
      known = said.slice(0, until);
      for (const zone of zones) {
        await ask(zone, ['workload', 'model', 'day'], first, last);
        await ask(zone, ['workload', 'model'], second, dayOf(NOW - 2 * 24 * HOUR));
        await ask(zone, ['day'], second, second);
      }
      await ask('UTC', [], first, last);
      expect(await home.ledger.usageDifferences()).toEqual([]);
      await home.ledger.maintain(NOW);
    }
    expect((await home.client.query('SELECT FROM audit_usage_days')).rowCount).toBeGreaterThan(50);
    const kept = await home.client.query(
      "SELECT FROM audit_usage WHERE strand <> '00000000-0000-0000-0000-000000000000'",
    );
    // The last two hours.
    expect(kept.rowCount).toBeLessThan(3);
  });

  test('of one workload leaves out the others; of nobody it is nothing', async () => {
    const range = { from: dayOf(NOW - 30 * 24 * HOUR), to: dayOf(NOW), timeZone: 'UTC', by: ['workload'] as const };
    const { lines } = await home.ledger.usage({ organization: ORGANIZATION, workload: 'team/w1', ...range });
    expect(lines.map(({ workload }) => workload)).toEqual(['team/w1']);
    expect((await home.ledger.usage({ organization: 'nobody', ...range })).lines).toEqual([]);
  });

  test.each([
    ['2026-11-31', '2026-12-01', 'UTC', 'a day must be written'],
    ['2026-12-01', '2026-11-01', 'UTC', 'must not be before'],
    ['2026-11-01', '2026-11-02', 'Mars/Olympus', 'time zone'],
    ['2019-11-01', '2019-11-02', 'Europe/Berlin', 'thirteen months'],
  ])('from %s to %s in %s is refused', async (from, to, timeZone, reason) => {
    const asked = home.ledger.usage({ organization: ORGANIZATION, from, to, timeZone, by: ['day'] });
    await expect(asked).rejects.toThrow(reason);
    await expect(asked).rejects.toBeInstanceOf(RangeError);
  });

  test('that somebody changed is found', async () => {
    await using own = await openHome(subject);
    const { rows } = variedRows(60, 3 * HOUR);
    await own.ledger.append(rows);
    await own.ledger.maintain(NOW);
    expect(await own.ledger.usageDifferences()).toEqual([]);
    for (const [change, undo] of [
      ['UPDATE audit_usage_days SET calls = calls + 1', 'UPDATE audit_usage_days SET calls = calls - 1'],
      ['UPDATE audit_usage_edges SET refused = refused + 1', 'UPDATE audit_usage_edges SET refused = refused - 1'],
      // Its sum is right, but not for that instant.
      [
        'UPDATE audit_usage_edges SET edge = edge + $$1 second$$::interval',
        'UPDATE audit_usage_edges SET edge = edge - $$1 second$$::interval',
      ],
      [
        'UPDATE audit_usage SET output_tokens = output_tokens + 1',
        'UPDATE audit_usage SET output_tokens = output_tokens - 1',
      ],
      [
        'UPDATE audit_usage_days SET cost_nano_eur = cost_nano_eur + 1',
        'UPDATE audit_usage_days SET cost_nano_eur = cost_nano_eur - 1',
      ],
    ] as const) {
      await own.client.query(change);
      expect((await own.ledger.usageDifferences()).length, change).toBeGreaterThan(0);
      await own.client.query(undo);
      expect(await own.ledger.usageDifferences()).toEqual([]);
    }
  });

  test('never keeps a row from being written, whatever its text says', async () => {
    await using own = await openHome(subject);
    const strand = new StrandBuilder();
    const texts = [
      '{}',
      'no JSON at all',
      '[1,2]',
      '{"outcome":"served","provider":"p","usage":{"input":1e400}}',
      '{"outcome":"served","provider":"p","usage":{"input":-5,"output":"seven"}}',
      '{"outcome":"served","provider":"p","usage":{"input":99999999999999999999999}}',
      '{"outcome":"served","usage":{"input":7}}',
      '\\"outcome":"',
      '"outcome":"',
    ];
    const rows = texts.map((row) => ({ ...strand.seal({ at: NOW, organization: ORGANIZATION }), row }));
    for (const row of rows) await own.ledger.append([row]);
    await own.ledger.append(rows.map((row) => ({ ...row, ...strand.seal({ at: NOW }), row: row.row })));
    const { lines } = await own.ledger.usage({
      organization: ORGANIZATION,
      from: dayOf(NOW),
      to: dayOf(NOW),
      timeZone: 'UTC',
      by: [],
    });
    expect(lines).toMatchObject([{ calls: 2 * texts.length }]);
    expect(await own.ledger.usageDifferences()).toEqual([]);
  });

  test('counts a call once that two strands have sealed, and rows that are sent again', async () => {
    await using own = await openHome(subject);
    const [first, second] = [new StrandBuilder(), new StrandBuilder()];
    const sealed = first.sealMany(3, () => ({ at: NOW }));
    await own.ledger.append(sealed);
    await own.ledger.append([...sealed, second.seal({ at: NOW, callId: sealed[0]!.callId })]);
    const question = { organization: ORGANIZATION, from: dayOf(NOW), to: dayOf(NOW), timeZone: 'UTC', by: [] };
    expect((await own.ledger.usage(question)).lines).toMatchObject([{ calls: 3 }]);
  });

  test('is right when sums are folded while rows are written, also rows of long ago', async () => {
    await using own = await openHome(subject);
    const strands = [variedRows(300, 7 * HOUR), variedRows(300, 7 * HOUR), variedRows(300, 7 * HOUR)];
    await Promise.all([
      ...strands.map(async ({ rows }) => {
        for (let from = 0; from < rows.length; from += 20) await own.ledger.append(rows.slice(from, from + 20));
      }),
      (async () => {
        for (let round = 0; round < 8; round++) await own.ledger.maintain(NOW);
      })(),
    ]);
    await own.ledger.maintain(NOW);
    expect(await own.ledger.usageDifferences()).toEqual([]);
  });
});

describe.each(LEDGER_SUBJECTS)('a database of an earlier build in $name', (subject) => {
  test('is brought up to date while a gateway of that build writes on; all of its rows are counted', async () => {
    const home = await subject.home();
    const old = await connect(home.url);
    await makeSchemaUntil(old, 5);
    const { rows, said } = variedRows(400, HOUR);
    let written = 0;
    const writeOld = async (until: number): Promise<void> => {
      for (; written < until; written += 10)
        await old.query(OLD_APPEND, parametersOf(rows.slice(written, written + 10)));
    };
    await writeOld(100);
    // Two gateways of this build start at once, while the old one goes on.
    const [ledger, second] = await Promise.all([
      openPostgresLedger({ connectionString: home.url }),
      openPostgresLedger({ connectionString: home.url }),
      writeOld(300),
    ]);
    const question = { organization: ORGANIZATION, from: dayOf(NOW - 60 * 24 * HOUR), to: dayOf(NOW), timeZone: 'UTC' };
    expect((await ledger.usage({ ...question, by: [] })).complete).toBe(false);
    await Promise.all([ledger.countEarlierUsage(), second.countEarlierUsage(), ledger.maintain(NOW)]);
    await writeOld(400);
    await ledger.append(rows.slice(390));
    const by = ['workload', 'model', 'day'] as const;
    const { lines, complete } = await ledger.usage({ ...question, by });
    expect(complete).toBe(true);
    expect(byKey(lines)).toEqual(byKey(added(said, by, 'UTC', question.from, question.to).values()));
    expect(await ledger.usageDifferences()).toEqual([]);
    expect(await ledger.spendDifferences()).toEqual([]);
    await old.end();
    await Promise.all([ledger.close(), second.close()]);
    await home.close();
  });
});
