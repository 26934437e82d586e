import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditRow } from '#/seal/row.ts';
import type { UsageDimension } from '#/ports/usage.ts';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { localDays } from '#/adapters/postgres/local-periods.ts';
import { connect, LEDGER_SUBJECTS, makeSchemaUntil, openHome, type OpenHome } from './ledger-subjects.ts';
import {
  added,
  byKey,
  dayOf,
  HOUR,
  NOW,
  OLD_APPEND,
  OLD_FOLD,
  ORGANIZATION,
  parametersOf,
  variedRows,
} from './usage-rows.ts';

const DAY = 24 * HOUR;
const ALL = ['workload', 'model', 'day'] as const;
const SETTLED = new Date(NOW - 2 * HOUR).toISOString();
/** At whole hours on either side of UTC, at noon, at halves and quarters of hours. */
const ZONES = [
  ...[
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'America/Los_Angeles',
    'Asia/Tokyo',
    'Pacific/Auckland',
    'Etc/GMT+12',
  ],
  ...['Etc/GMT-12', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Chatham'],
];

/** Asks, and adds up the rows. */
async function holds(
  ledger: PostgresLedger,
  said: readonly AuditRow[],
  zone: string,
  [from, to]: readonly [string, string],
  by: readonly UsageDimension[],
  workload?: string,
): Promise<void> {
  const question = { organization: ORGANIZATION, ...(workload !== undefined && { workload }), from, to };
  const { lines } = await ledger.usage({ ...question, timeZone: zone, by });
  const known = said.filter((row) => workload === undefined || row.workload === workload);
  const expected = added(known, by, zone, from, to);
  expect(expected.size).toBeGreaterThan(0);
  expect(byKey(lines), `${zone} ${by.join()} ${from} ${to}`).toEqual(byKey(expected.values()));
}

describe.each(LEDGER_SUBJECTS)('usage at the edges of days in $name', (subject) => {
  let home: OpenHome;
  const said: AuditRow[] = [];
  /** The days of the last year that are longer or shorter than others. */
  const odd = ZONES.flatMap((zone) =>
    localDays(dayOf(NOW - 370 * DAY), dayOf(NOW - 3 * DAY), zone)
      .filter(({ from, until }) => until - from !== DAY)
      .map((day) => ({ zone, ...day })),
  );

  beforeAll(async () => {
    home = await openHome(subject);
    // A day on either side of each; a row in every quarter, now and then two.
    for (const until of new Set(odd.map((day) => Math.ceil(day.until / DAY) * DAY + DAY))) {
      const varied = variedRows(300, 14 * 60_000, until);
      await home.ledger.append(varied.rows);
      said.push(...varied.said);
    }
    await home.ledger.maintain(NOW);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test('there are days of 23, 23½, 24½ and 25 hours to ask for', () => {
    expect(new Set(odd.map(({ from, until }) => (until - from) / HOUR))).toEqual(new Set([23, 23.5, 24.5, 25]));
  });

  test('is right on days that clocks are changed on', async () => {
    for (const { zone, id, from, until } of odd) {
      const around = [dayOf(from - DAY), dayOf(until + DAY)] as const;
      await holds(home.ledger, said, zone, [id, id], ['day']);
      await holds(home.ledger, said, zone, [id, id], []);
      await holds(home.ledger, said, zone, around, ALL);
    }
  });

  test('is right in every zone, told apart or not', async () => {
    const latest = odd.reduce((last, { until }) => Math.max(last, until), 0);
    const around = [dayOf(latest - 2 * DAY), dayOf(latest + DAY)] as const;
    for (const zone of ZONES) {
      await holds(home.ledger, said, zone, around, ALL);
      await holds(home.ledger, said, zone, around, ['workload', 'model']);
      await holds(home.ledger, said, zone, around, ['model', 'day'], 'team/w1');
    }
  });

  test('is that of the rows, edge by edge', async () => {
    expect(await home.ledger.usageDifferences()).toEqual([]);
  });

  test('is read from edges: quarters are not, where a half hour is one', async () => {
    await using own = await openHome(subject);
    const varied = variedRows(400, HOUR / 2, NOW - 3 * DAY);
    await own.ledger.append(varied.rows);
    await own.ledger.maintain(NOW);
    await own.client.query('DELETE FROM audit_usage');
    for (const zone of ['Asia/Tokyo', 'Asia/Kolkata', 'America/Los_Angeles'])
      await holds(own.ledger, varied.said, zone, [dayOf(NOW - 9 * DAY), dayOf(NOW - 5 * DAY)], ALL);
  });

  test('is forgotten with the quarters, by whichever build that is done', async () => {
    await using own = await openHome(subject);
    const { rows, said: kept } = variedRows(100, 3 * HOUR, NOW - 3 * DAY);
    await own.ledger.append(rows);
    await own.ledger.maintain(NOW);
    // What an older build ran.
    await own.client.query('DELETE FROM audit_usage WHERE quarter < $1', [new Date(NOW - 10 * DAY).toISOString()]);
    const question = [dayOf(NOW - 8 * DAY), dayOf(NOW - 5 * DAY)] as const;
    await holds(own.ledger, kept, 'Europe/Berlin', question, ALL);
    const count = async (): Promise<number | null> =>
      (await own.client.query('SELECT FROM audit_usage_edges')).rowCount;
    expect(await count()).toBeGreaterThan(0);
    await own.ledger.maintain(NOW + 400 * DAY);
    expect(await count()).toBe(0);
    await holds(own.ledger, kept, 'UTC', question, ALL);
  });
});

describe.each(LEDGER_SUBJECTS)('a database without edges in $name', (subject) => {
  test('gets them from what is folded, while gateways of that build write and fold on', async () => {
    const home = await subject.home();
    const old = await connect(home.url);
    await makeSchemaUntil(old, 13);
    const { rows, said } = variedRows(600, 97 * 60_000);
    let written = 0;
    const writeOld = async (until: number): Promise<void> => {
      for (; written < until; written += 10)
        await old.query(OLD_APPEND, parametersOf(rows.slice(written, written + 10)));
    };
    await writeOld(200);
    // In parts: some sums are folded twice, some not yet.
    await old.query(OLD_FOLD, [SETTLED, 50]);
    const [ledger] = await Promise.all([
      openPostgresLedger({ connectionString: home.url }),
      openPostgresLedger({ connectionString: home.url }).then((second) => second.close()),
      writeOld(300),
    ]);
    expect(await ledger.usageDifferences()).toEqual([]);
    for (let round = 0; round < 10; round++) {
      await writeOld(300 + round * 20);
      // Both builds fold: in turns, as the lock of the schema has it.
      if (round % 3 === 0) await ledger.maintain(NOW);
      else await old.query(OLD_FOLD, [SETTLED, 7]);
    }
    await ledger.append(rows.slice(written));
    const days = [dayOf(NOW - 45 * DAY), dayOf(NOW)] as const;
    for (const folded of [false, true]) {
      if (folded) await old.query(OLD_FOLD, [SETTLED, 10_000]);
      for (const zone of ['Europe/Berlin', 'Asia/Kolkata', 'America/New_York'])
        await holds(ledger, said, zone, days, ALL);
      expect(await ledger.usageDifferences()).toEqual([]);
    }
    await old.end();
    await ledger.close();
    await home.close();
  });
});
