import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { periodsAt } from '#/meter/limits/periods.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import type { OpenHold, PeriodTotals } from '#/ports/limit-counters.ts';
import { callIdAt, StrandBuilder } from './ledger-rows.ts';
import { LEDGER_SUBJECTS, openHome, type OpenHome } from './ledger-subjects.ts';

/** Zones whose clocks do something out of the ordinary; instants near where they did it. */
const ZONES: Readonly<Record<string, readonly string[]>> = {
  UTC: ['2024-02-29T23:59:59.999Z', '2026-01-01T00:00:00.000Z'],
  'Europe/Berlin': ['2026-03-29T01:00:00Z', '2025-10-26T01:00:00Z', '2025-12-31T23:00:00Z'],
  'America/New_York': ['2026-03-08T07:00:00Z', '2025-11-02T06:00:00Z'],
  // Midnight comes twice: clocks go back from 01:00 to 00:00.
  'America/Havana': ['2025-11-02T05:00:00Z', '2025-11-02T04:00:00Z', '2025-03-09T05:00:00Z'],
  // Clocks went back from 00:00 to 23:00, and forward from 00:00 to 01:00: no midnight.
  'America/Sao_Paulo': ['2018-02-18T02:00:00Z', '2018-11-04T03:00:00Z'],
  'Asia/Beirut': ['2025-03-29T22:00:00Z', '2025-10-25T21:00:00Z'],
  'Africa/Cairo': ['2025-04-24T22:00:00Z', '2025-10-30T21:00:00Z'],
  // 30 December 2011 did not happen.
  'Pacific/Apia': ['2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
  // Half an hour of summer time; offsets of quarters of an hour.
  'Australia/Lord_Howe': ['2026-04-04T15:00:00Z', '2025-10-04T15:30:00Z'],
  'Asia/Kathmandu': ['2026-01-31T18:15:00Z'],
  'Pacific/Chatham': ['2026-04-04T14:00:00Z', '2025-12-31T10:15:00Z'],
  'Pacific/Kiritimati': ['2025-12-31T10:00:00Z'],
  'America/St_Johns': ['2026-01-01T03:30:00Z'],
  'Asia/Tehran': ['2022-03-21T20:30:00Z', '2022-09-21T19:30:00Z'],
  // Rules that changed lately: not every server's time zone data knows them.
  'America/Vancouver': ['2026-11-22T08:00:00Z', '2026-11-22T07:00:00Z'],
  'Africa/Casablanca': ['2026-11-22T00:00:00Z', '2026-11-21T23:00:00Z'],
  // Names that PostgreSQL takes for an abbreviation with a fixed offset.
  CET: ['2025-07-31T22:00:00Z'],
  EST5EDT: ['2025-07-01T04:00:00Z'],
  'Etc/GMT-14': ['2025-06-30T10:00:00Z'],
};

const HOUR = 3_600_000;
const STEPS = [-49, -25, -24, -2, -1, -0.5, 0, 0.5, 1, 2, 24, 25, 49].flatMap((hours) => [
  hours * HOUR - 1,
  hours * HOUR,
]);

const sum = (rows: readonly SealedRow[]): bigint => rows.reduce((total, { cost }) => total + cost, 0n);

function expected(rows: readonly SealedRow[], zone: string, now: number): PeriodTotals {
  const today = periodsAt(now, zone);
  return {
    total: sum(rows),
    day: sum(rows.filter(({ at }) => periodsAt(at, zone).day === today.day)),
    month: sum(rows.filter(({ at }) => periodsAt(at, zone).month === today.month)),
  };
}

function openHold({
  callId,
  organization,
  workload,
  at,
}: Pick<SealedRow, 'callId' | 'organization' | 'workload' | 'at'>): OpenHold {
  const periods = { day: '', month: '' };
  return { callId, owner: 'gateway', organization, workload, at, periods, amount: 10n ** 12n, tokens: 0, draft: '{}' };
}

describe.each(LEDGER_SUBJECTS)('totals of the ledger in $name', (subject) => {
  let home: OpenHome;
  beforeAll(async () => {
    home = await openHome(subject);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test.each(Object.entries(ZONES))('agree with periodsAt in %s', async (zone, instants) => {
    const strand = new StrandBuilder();
    const times = instants.flatMap((instant) => STEPS.map((step) => Date.parse(instant) + step));
    const rows = times.map((at, index) =>
      strand.seal({ at, organization: zone, workload: `w${index % 3}`, cost: 3n ** BigInt(index % 30) }),
    );
    await home.ledger.append(rows);
    for (const now of times) {
      const totals = await home.ledger.totals(zone, zone, now, []);
      expect(totals.periods, new Date(now).toISOString()).toEqual(periodsAt(now, zone));
      expect(totals.organization, new Date(now).toISOString()).toEqual(expected(rows, zone, now));
      expect(totals.workloads).toEqual(
        new Map(
          ['w0', 'w1', 'w2'].map((name) => [
            name,
            expected(
              rows.filter(({ workload }) => workload === name),
              zone,
              now,
            ),
          ]),
        ),
      );
    }
  });

  test('agree with periodsAt at any time, and leave out the calls that are open', async () => {
    const organization = 'any';
    const now = Date.UTC(2025, 9, 26, 1);
    const strand = new StrandBuilder();
    const spread = fc.sample(
      fc.tuple(fc.integer({ min: -40 * 24 * 60, max: 3 * 24 * 60 }), fc.bigInt({ min: 0n, max: 2n ** 60n })),
      {
        numRuns: 400,
        seed: 1,
      },
    );
    const rows = spread.map(([minutes, cost], index) =>
      strand.seal({ at: now + minutes * 60_000, organization, workload: `w${index % 4}`, cost }),
    );
    const others = rows.slice(0, 5).map(() => strand.seal({ at: now, organization: 'another', cost: 999n }));
    await home.ledger.append([...rows, ...others]);
    const subset = fc.uniqueArray(fc.nat(rows.length - 1), { maxLength: 40 });
    const instant = fc.integer({ min: -45 * 24 * 60, max: 10 * 24 * 60 }).map((minutes) => now + minutes * 60_000);
    await fc.assert(
      fc.asyncProperty(subset, instant, fc.constantFrom(...Object.keys(ZONES)), async (indexes, asked, zone) => {
        const open = [
          ...indexes.map((index) => openHold(rows[index]!)),
          // Neither a hold without a row nor one of another organization counts for anything.
          openHold({ callId: callIdAt(asked), organization, workload: 'w0', at: asked }),
          ...others.map((row) => openHold(row)),
        ];
        const counted = rows.filter((_, index) => !indexes.includes(index));
        const totals = await home.ledger.totals(organization, zone, asked, open);
        expect(totals.periods).toEqual(periodsAt(asked, zone));
        expect(totals.organization).toEqual(expected(counted, zone, asked));
        for (const [name, spent] of totals.workloads) {
          expect(spent).toEqual(
            expected(
              counted.filter(({ workload }) => workload === name),
              zone,
              asked,
            ),
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  test('hold sums that go beyond 64 bits', async () => {
    const strand = new StrandBuilder();
    const most = 2n ** 63n - 1n;
    await home.ledger.append(strand.sealMany(3, () => ({ organization: 'rich', cost: most })));
    const totals = await home.ledger.totals('rich', 'UTC', Date.UTC(2026, 10, 21), []);
    expect(totals.organization).toEqual({ total: 3n * most, day: 3n * most, month: 3n * most });
  });

  test('of a workload whose every call is open are zero', async () => {
    const row = new StrandBuilder().seal({ organization: 'open', workload: 'w' });
    await home.ledger.append([row]);
    const nothing = { total: 0n, day: 0n, month: 0n };
    const totals = await home.ledger.totals('open', 'UTC', row.at, [openHold(row)]);
    expect(totals.organization).toEqual(nothing);
    expect([...totals.workloads.values()].every((spent) => spent.total === 0n)).toBe(true);
  });

  test('are the same after old sums were shortened, and sums and rows agree', async () => {
    await using own = await openHome(subject);
    const now = Date.UTC(2026, 10, 21, 9);
    const [a, b] = [new StrandBuilder(), new StrandBuilder()];
    const rows = Array.from({ length: 300 }, (_, index) => {
      const at = now - index * 11 * HOUR - (index % 7) * 60_000;
      return (index % 3 === 0 ? b : a).seal({
        at,
        organization: 'old',
        workload: `w${index % 2}`,
        cost: BigInt(index) ** 5n,
      });
    });
    await own.ledger.append(rows.slice(0, 200));
    const open = [openHold(rows[3]!), openHold(rows[180]!)];
    const ask = (at: number) => own.ledger.totals('old', 'Asia/Kathmandu', at, open);
    const sums = async () =>
      (await own.client.query<{ count: number }>('SELECT count(*)::int FROM audit_spend')).rows[0]!.count;
    const [before, beforeSums] = [await ask(now), await sums()];
    await own.ledger.maintain(now);
    await own.ledger.maintain(now);
    expect(await sums()).toBeLessThan(beforeSums);
    expect(await ask(now)).toEqual(before);
    // Rows of long ago that come late, while sums are shortened again and again.
    await Promise.all([
      ...[200, 225, 250, 275].map((from) => own.ledger.append(rows.slice(from, from + 25))),
      own.ledger.maintain(now),
      own.ledger.maintain(now),
    ]);
    await own.ledger.maintain(now);
    const counted = rows.filter((_, index) => index !== 3 && index !== 180);
    expect((await ask(now)).organization).toEqual(expected(counted, 'Asia/Kathmandu', now));
    expect(await own.ledger.spendDifferences()).toEqual([]);
    await own.client.query(
      "UPDATE audit_spend SET cost_nano_eur = cost_nano_eur + 1 WHERE workload = 'w0' AND quarter = (SELECT max(quarter) FROM audit_spend WHERE workload = 'w0')",
    );
    expect(await own.ledger.spendDifferences()).toMatchObject([{ organization: 'old', workload: 'w0' }]);
    await own.client.query(
      "UPDATE audit_spend SET cost_nano_eur = cost_nano_eur - 1 WHERE workload = 'w0' AND quarter = (SELECT max(quarter) FROM audit_spend WHERE workload = 'w0')",
    );
    expect(await own.ledger.spendDifferences()).toEqual([]);
    // Moved to another day, with every total of the workload as it was.
    await own.client.query(
      "UPDATE audit_spend SET quarter = quarter - interval '1 day' WHERE ctid = (SELECT ctid FROM audit_spend WHERE workload = 'w0' AND cost_nano_eur > 0 ORDER BY quarter LIMIT 1)",
    );
    expect((await own.ledger.spendDifferences()).map(({ workload }) => workload)).toEqual(['w0', 'w0']);
  });
});
