import { describe, expect, test } from 'vitest';
import { faultsOf, make, snapshotOf, type TestResource } from '../testing/resources.ts';
import { bot, key, base, only } from '../testing/compile-samples.ts';

describe('prices', () => {
  const pricesOf = (book: TestResource, rate = '0.9') =>
    only(
      snapshotOf([make('Organization', 'acme', { priceBookRef: { name: 'book' } }), bot, key, book], {
        usdToEur: rate,
      }),
    ).organization.prices;
  const prices = [
    { model: 'vendor/*', input: '1', output: '3', cacheRead: '0.1', cacheWritePremium: '0.25' },
    { model: 'vendor/one', input: '0.000000001' },
    { model: 'vendor/one', unit: 'Page', input: '0.002' },
  ];

  test('rows by model as written, with every unit', () => {
    const found = pricesOf(make('PriceBook', 'book', { prices, effectiveFrom: '2026-01-01T00:00:00Z' }));
    const common = { book: 'default/book', effectiveFrom: Date.UTC(2026, 0, 1) };
    expect(found.get('vendor/*')).toEqual([
      {
        ...common,
        unit: 'million_tokens',
        input: 1_000_000_000n,
        output: 3_000_000_000n,
        cacheRead: 100_000_000n,
        cacheWritePremium: 250_000_000n,
      },
    ]);
    expect(found.get('vendor/one')).toEqual([
      { ...common, unit: 'million_tokens', input: 1n },
      { ...common, unit: 'page', input: 2_000_000n },
    ]);
  });

  test('dollars are converted, and rounded up', () => {
    const found = pricesOf(make('PriceBook', 'book', { prices, currency: 'USD' }), '0.8613');
    expect(found.get('vendor/*')?.[0]).toMatchObject({ input: 861_300_000n, output: 2_583_900_000n, effectiveFrom: 0 });
    expect(found.get('vendor/one')?.[0]?.input).toBe(1n);
  });

  test('dollars are converted by each rate from its date', () => {
    const dollars = (effectiveFrom: string) =>
      pricesOf(
        make('PriceBook', 'book', { prices: [{ model: 'a/b', input: '1' }], currency: 'USD', effectiveFrom }),
        '0.9,2026-12-01=0.8,2027-01-01=0.7',
      )
        .get('a/b')
        ?.map(({ effectiveFrom: from, input, usdToEur }) => [
          new Date(from).toISOString().slice(0, 10),
          input,
          usdToEur,
        ]);
    expect(dollars('2026-01-01T00:00:00Z')).toEqual([
      ['2026-01-01', 900_000_000n, '0.9'],
      ['2026-12-01', 800_000_000n, '0.8'],
      ['2027-01-01', 700_000_000n, '0.7'],
    ]);
    expect(dollars('2026-12-24T00:00:00Z')).toEqual([
      ['2026-12-24', 800_000_000n, '0.8'],
      ['2027-01-01', 700_000_000n, '0.7'],
    ]);
  });

  test('rows by service tier and size of input, next to the row that they deviate from', () => {
    const tiers = [
      { model: 'a/b', input: '1', output: '3', cacheWrite1h: '2', inputAudio: '5', outputImage: '7' },
      { model: 'a/b', input: '2', aboveInputTokens: 200_000 },
      { model: 'a/b', input: '0.5', serviceTier: 'Flex' },
      { model: 'a/b', input: '0.7', serviceTier: 'Flex', aboveInputTokens: 200_000 },
      { model: 'a/b', unit: 'Second', input: '0.001' },
    ];
    const common = { book: 'default/book', effectiveFrom: 0, unit: 'million_tokens' };
    expect(pricesOf(make('PriceBook', 'book', { prices: tiers })).get('a/b')).toEqual([
      {
        ...common,
        input: 1_000_000_000n,
        output: 3_000_000_000n,
        cacheWrite1h: 2_000_000_000n,
        inputAudio: 5_000_000_000n,
        outputImage: 7_000_000_000n,
      },
      { ...common, aboveInputTokens: 200_000, input: 2_000_000_000n },
      { ...common, serviceTier: 'flex', input: 500_000_000n },
      { ...common, serviceTier: 'flex', aboveInputTokens: 200_000, input: 700_000_000n },
      { ...common, unit: 'second', input: 1_000_000n },
    ]);
  });

  test.each([
    [
      [{ model: 'a/b', input: '1', serviceTier: 'Flex' }],
      'spec.prices[0]: needs a row for a/b without serviceTier and aboveInputTokens',
    ],
    [
      [
        { model: 'a/b', input: '1' },
        { model: 'a/b', input: '1', serviceTier: 'Priority', aboveInputTokens: 9 },
      ],
      'spec.prices[1]: needs a row for a/b with serviceTier Priority and without aboveInputTokens',
    ],
  ])('a tier without what it deviates from is a fault: %j', (rows, fault) => {
    expect(faultsOf([...base, make('PriceBook', 'book', { prices: rows })])).toEqual([
      `PriceBook default/book: ${fault}`,
    ]);
  });

  test('a book is of the namespace of the organization, and without one there are no prices', () => {
    expect(
      faultsOf([make('Organization', 'acme', { priceBookRef: { name: 'book' } }), make('PriceBook', 'other/book')]),
    ).toEqual(['Organization default/acme: spec.priceBookRef: there is no PriceBook default/book']);
    expect(only(snapshotOf([...base, make('PriceBook', 'book')])).organization.prices.size).toBe(0);
  });

  test('budgets of a dollar organization are converted, and rounded down', () => {
    const organization = make('Organization', 'acme', { currency: 'USD', cap: { amount: '10', period: 'Total' } });
    const workload = make('Workload', 'bot', { budget: { amount: '0.000000003', period: 'Daily' } });
    const found = only(snapshotOf([organization, workload, key], { usdToEur: '0.5' }));
    expect(found.organization.cap?.amount).toBe(5_000_000_000n);
    expect(found.budget?.amount).toBe(1n);
  });
});
