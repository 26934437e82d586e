import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresCredit, type PostgresCredit } from '#/adapters/postgres/credit.ts';
import { CreditConflict } from '#/ports/credit.ts';
import { LEDGER_SUBJECTS, openHome, type OpenHome } from './ledger-subjects.ts';

describe.each(LEDGER_SUBJECTS)('credit entries in $name', (subject) => {
  let home: OpenHome;
  let credit: PostgresCredit;
  beforeAll(async () => {
    home = await openHome(subject);
    credit = await openPostgresCredit({ connectionString: home.url });
  });
  afterAll(async () => {
    await credit.close();
    await home[Symbol.asyncDispose]();
  });
  const entry = (organization: string, amount: bigint, reference: string) => ({
    organization,
    amount,
    reference,
    note: 'n',
    actor: 'ada',
  });

  test('are numbered by organization, each with the sum up to it', async () => {
    const added = [];
    for (const [organization, amount] of [
      ['a/x', 100n],
      ['b/x', 7n],
      ['a/x', -30n],
      ['a/x', 2n ** 60n],
    ] as const)
      added.push((await credit.add(entry(organization, amount, `r${added.length}`))).entry);
    expect(added.map(({ number, sum }) => [number, sum])).toEqual([
      [1, 100n],
      [1, 7n],
      [2, 70n],
      [3, 70n + 2n ** 60n],
    ]);
    expect(await credit.list('a/x')).toEqual([added[0], added[2], added[3]]);
    expect(added[0]!.at).toBeGreaterThan(Date.now() - 60_000);
    expect(await credit.list('a/none')).toEqual([]);
  });

  test('standings say the newest sum and the last top-up, of those that have any', async () => {
    const paid = await credit.add(entry('s/one', 50n, '1'));
    await credit.add(entry('s/one', -60n, '2'));
    await credit.add(entry('s/two', -5n, '1'));
    expect(await credit.standings(['s/one', 's/two', 's/three'])).toEqual(
      new Map([
        ['s/one', { number: 2, sum: -10n, lastTopUp: { number: 1, amount: 50n, at: paid.entry.at } }],
        ['s/two', { number: 1, sum: -5n }],
      ]),
    );
    expect(await credit.standings([])).toEqual(new Map());
  });

  test('a reference is entered once; with another amount it is refused', async () => {
    const first = await credit.add(entry('i/x', 10n, 'invoice 1'));
    expect(first.added).toBe(true);
    expect(await credit.add({ ...entry('i/x', 10n, 'invoice 1'), actor: 'bob' })).toEqual({ ...first, added: false });
    await expect(credit.add(entry('i/x', 11n, 'invoice 1'))).rejects.toThrow(CreditConflict);
    expect((await credit.add(entry('i/y', 11n, 'invoice 1'))).added).toBe(true);
    expect((await credit.standings(['i/x'])).get('i/x')?.sum).toBe(10n);
  });

  test('many at once, from two processes: no number is missing, none is counted twice', async () => {
    const other = await openPostgresCredit({ connectionString: home.url });
    try {
      const adding = Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? credit : other).add(entry('m/x', 1n, `r${Math.floor(i / 4)}`)),
      );
      const results = await Promise.all(adding);
      expect(results.filter(({ added }) => added)).toHaveLength(10);
      const list = await credit.list('m/x');
      expect(list.map(({ number, sum }) => [number, sum])).toEqual(list.map((_, i) => [i + 1, BigInt(i + 1)]));
      expect(list).toHaveLength(10);
    } finally {
      await other.close();
    }
  });

  test.each(['UPDATE credit_entries SET amount_nano_eur = 1', 'DELETE FROM credit_entries', 'TRUNCATE credit_entries'])(
    '%s is refused',
    async (sql) => {
      await credit.add(entry('t/x', 3n, 'r'));
      await expect(home.client.query(sql)).rejects.toThrow(/append-only/);
    },
  );

  test('a sum that no counter holds is refused, and nothing is entered', async () => {
    await credit.add(entry('o/x', 2n ** 62n, '1'));
    await expect(credit.add(entry('o/x', 2n ** 62n, '2'))).rejects.toThrow(/out of range/);
    expect(await credit.list('o/x')).toHaveLength(1);
    await expect(credit.add(entry('o/x', 0n, '3'))).rejects.toThrow(/check constraint/);
  });
});
