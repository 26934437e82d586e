import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalRow, genesis, link } from '#seal/chain.ts';
import type { AuditRow } from '#seal/row.ts';
import { periodsAt } from '#meter/periods.ts';
import type { SealedRow } from '#ports/ledger.ts';
import type { UsageDimension, UsageLine } from '#ports/usage.ts';
import type { Usage } from '#wire/usage.ts';
import { openPostgresLedger } from '#adapters/postgres/ledger.ts';
import { callIdAt, StrandBuilder } from './ledger-rows.ts';
import { connect, LEDGER_SUBJECTS, makeSchemaUntil, openHome, type OpenHome } from './ledger-subjects.ts';

const HOUR = 3_600_000;
const NOW = Date.now();
const ORGANIZATION = 'team/acme';

/** A strand whose rows differ from one another in what usage is told apart by. */
function variedRows(count: number, spacing: number): { rows: SealedRow[]; said: AuditRow[] } {
  const template = JSON.parse(new StrandBuilder().seal().row) as AuditRow;
  const { strand } = new StrandBuilder();
  let before = genesis(strand);
  const rows: SealedRow[] = [];
  const said: AuditRow[] = [];
  for (let index = 0; index < count; index++) {
    const at = NOW - HOUR - index * spacing;
    const outcome = (['served', 'served', 'refused', 'failed', 'hung_up', 'abandoned'] as const)[index % 6]!;
    const asked = outcome !== 'refused';
    const row: AuditRow = {
      ...template,
      at: new Date(at).toISOString(),
      cache_hit: index % 12 === 1 ? 'exact' : 'none',
      call_id: callIdAt(at),
      cost_nano_eur: String(index * 1000),
      organization: ORGANIZATION,
      outcome,
      provider: asked ? 'upstream' : null,
      // Texts that need escapes are read in another way.
      provider_model: asked ? ['plain', 'qu"ote\\', 'nul\u0000', 'ünï « "usage":{'][index % 4]! : null,
      reason: index % 5 === 0 ? '"outcome":"refused","provider":"liar"' : null,
      sequence: index + 1,
      strand,
      usage: asked
        ? {
            ...{ input: index, cacheRead: 1, cacheWrite5m: 2, cacheWrite1h: 3, output: index % 7, reasoning: 4 },
            ...(index % 3 === 0 && { inputAudio: 5, inputImage: 6, cacheReadAudio: 7, outputAudio: 8, outputImage: 9 }),
          }
        : null,
      workload: `team/w${index % 3}`,
    };
    const text = canonicalRow(row);
    before = link(before, text);
    const { call_id: callId, workload } = row;
    const sealed = { strand, sequence: row.sequence, callId, at, organization: ORGANIZATION, workload };
    rows.push({ ...sealed, cost: BigInt(row.cost_nano_eur), row: text, link: before });
    said.push(row);
  }
  return { rows, said };
}

/** The same question answered by adding up rows here. */
function added(said: readonly AuditRow[], by: readonly UsageDimension[], zone: string, from: string, to: string) {
  const lines = new Map<string, UsageLine>();
  for (const row of said) {
    const { day } = periodsAt(Date.parse(row.at), zone);
    if (day < from || day > to) continue;
    const key = {
      ...(by.includes('workload') && { workload: row.workload }),
      ...(by.includes('model') && {
        provider: row.provider ?? '',
        // PostgreSQL has no such character.
        model: (row.provider_model ?? '').replaceAll('\u0000', '\ufffd'),
      }),
      ...(by.includes('day') && { day }),
    };
    const id = JSON.stringify(key);
    const known = lines.get(id);
    const is = (outcome: string): number => Number(row.outcome === outcome);
    const usage = row.usage ?? { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
    const tokens = known?.tokens;
    const {
      inputAudio = 0,
      inputImage = 0,
      cacheReadAudio = 0,
      outputAudio = 0,
      outputImage = 0,
    }: Partial<Usage> = usage;
    lines.set(id, {
      ...key,
      calls: (known?.calls ?? 0) + 1,
      refused: (known?.refused ?? 0) + is('refused'),
      failed: (known?.failed ?? 0) + is('failed'),
      hungUp: (known?.hungUp ?? 0) + is('hung_up'),
      abandoned: (known?.abandoned ?? 0) + is('abandoned'),
      cacheHits: (known?.cacheHits ?? 0) + Number(row.cache_hit === 'exact'),
      tokens: {
        input: usage.input + inputAudio + inputImage + (tokens?.input ?? 0),
        cacheRead: usage.cacheRead + cacheReadAudio + (tokens?.cacheRead ?? 0),
        cacheWrite5m: usage.cacheWrite5m + (tokens?.cacheWrite5m ?? 0),
        cacheWrite1h: usage.cacheWrite1h + (tokens?.cacheWrite1h ?? 0),
        output: usage.output + outputAudio + outputImage + (tokens?.output ?? 0),
        reasoning: usage.reasoning + (tokens?.reasoning ?? 0),
      },
      cost: BigInt(row.cost_nano_eur) + (known?.cost ?? 0n),
    });
  }
  return lines;
}

const byKey = (lines: Iterable<UsageLine>): UsageLine[] => [...lines].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
const nameOf = ({ workload, provider, model, day }: UsageLine): string =>
  JSON.stringify([workload, provider, model, day]);
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

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
    ['2026-11-31', '2026-12-01', 'UTC', 'a day is written'],
    ['2026-12-01', '2026-11-01', 'UTC', 'no order'],
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

/** What the build before this one ran to write a batch: it must go on working against any later schema. */
const OLD_APPEND = `
WITH batch AS (
  SELECT *
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bytea[])
    AS batch (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link)
), inserted AS (
  INSERT INTO audit_rows (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link)
  SELECT call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link FROM batch
  ON CONFLICT (call_id) DO NOTHING
  RETURNING strand, sequence, at, organization, workload, cost_nano_eur
), summed AS (
  INSERT INTO audit_spend AS spend (organization, workload, strand, quarter, cost_nano_eur, calls)
  SELECT organization, workload, strand, date_bin('15 minutes', at, 'epoch'), sum(cost_nano_eur), count(*)
  FROM inserted
  GROUP BY 1, 2, 3, 4
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (organization, workload, strand, quarter) DO UPDATE
  SET cost_nano_eur = spend.cost_nano_eur + excluded.cost_nano_eur, calls = spend.calls + excluded.calls
)
INSERT INTO audit_superseded (strand, sequence, call_id, at, organization, workload, cost_nano_eur, row_text, link)
SELECT strand, sequence, call_id, at, organization, workload, cost_nano_eur, row_text, link
FROM batch
WHERE (SELECT count(*) FROM inserted) < cardinality($1)
  AND NOT EXISTS (SELECT FROM inserted WHERE inserted.strand = batch.strand AND inserted.sequence = batch.sequence)
  AND NOT EXISTS (
    SELECT FROM audit_rows
    WHERE audit_rows.call_id = batch.call_id
      AND audit_rows.strand = batch.strand
      AND audit_rows.sequence = batch.sequence
  )
ON CONFLICT (strand, sequence) DO NOTHING`;

function parametersOf(rows: readonly SealedRow[]): unknown[] {
  return [
    rows.map((row) => row.callId),
    rows.map((row) => row.strand),
    rows.map((row) => String(row.sequence)),
    rows.map((row) => new Date(row.at).toISOString()),
    rows.map((row) => row.organization),
    rows.map((row) => row.workload),
    rows.map((row) => String(row.cost)),
    rows.map((row) => row.row),
    rows.map((row) => Buffer.from(row.link, 'hex')),
  ];
}
