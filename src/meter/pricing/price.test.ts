import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fraction, reduce, type Fraction } from './fraction.ts';
import { createPrice, type PartialRates, type PriceSheet } from './price-sheet.ts';
import {
  billedUnits,
  ceiling,
  cost,
  covers,
  coversService,
  INPUT_BUCKETS,
  OUTPUT_BUCKETS,
  tierOf,
  UNITS,
  type Bucket,
  type Price,
} from './price.ts';
import type { Units } from '#/call/units.ts';
import { inputTokens, NO_USAGE, outputTokens, type Usage } from '#/wire/answer/usage.ts';

const BUCKETS: readonly Bucket[] = [...INPUT_BUCKETS, ...OUTPUT_BUCKETS];
const SERVICES = ['flex', 'priority', 'batch'];
const euro = (amount: string): Fraction => {
  const { numerator, denominator } = fraction(amount);
  return reduce(numerator * 1_000_000_000n, denominator);
};
const flat = (rates: PartialRates, more: Partial<PriceSheet> = {}): Price =>
  createPrice({ source: 'test', tiers: [{ above: 0, perMillion: rates }], ...more }, false);

const amounts = fc.tuple(fc.bigInt(0n, 10n ** 12n), fc.bigInt(1n, 10n ** 6n)).map(([a, b]) => reduce(a, b));
const byBucket = <T>(each: fc.Arbitrary<T>) =>
  Object.fromEntries(BUCKETS.map((bucket) => [bucket, each])) as Record<Bucket, fc.Arbitrary<T>>;
const partialRates: fc.Arbitrary<PartialRates> = fc.record(byBucket(amounts), { requiredKeys: ['input'] });
const unitRates = fc.record(
  { pages: amounts, images: amounts, calls: amounts, seconds: amounts, searches: amounts },
  { requiredKeys: [] },
);
/** Prices with up to four tiers at distinct sizes; `sizes` says how large those may be. */
const prices = (sizes: fc.Arbitrary<number>): fc.Arbitrary<Price> =>
  fc
    .tuple(
      fc.uniqueArray(sizes, { maxLength: 3 }),
      fc.array(partialRates, { minLength: 4, maxLength: 4 }),
      unitRates,
      fc.boolean(),
      fc.nat(20),
      fc.dictionary(fc.constantFrom(...SERVICES), fc.array(partialRates, { minLength: 1, maxLength: 4 })),
    )
    .map(([starts, perTier, units, family, minimumSeconds, dear]) => {
      const tiers = [0, ...starts.sort((a, b) => a - b)].map((above, index) => ({
        above,
        perMillion: perTier[index]!,
      }));
      const services = new Map(
        Object.entries(dear).map(([name, rates]) => [
          name,
          tiers.slice(0, rates.length).map(({ above }, index) => ({ above, perMillion: rates[index]! })),
        ]),
      );
      return createPrice({ source: 'test', tiers, services, units, minimumSeconds }, family);
    });
const counts = fc.oneof(
  fc.nat(10),
  fc.nat(1_000_000),
  fc.maxSafeNat().map((count) => Math.floor(count / 8)),
);
const usages: fc.Arbitrary<Usage> = fc.record(
  { ...byBucket(counts.map((count) => Math.floor(count / 2))), serviceTier: fc.constantFrom(...SERVICES, 'scale') },
  { requiredKeys: ['input', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'output', 'reasoning'] },
);
const unitCounts: fc.Arbitrary<Required<Units>> = fc.record({
  pages: fc.nat(500),
  images: fc.nat(10),
  calls: fc.nat(3),
  seconds: fc.nat(7200),
  searches: fc.nat(20),
  fileSearches: fc.nat(20),
  containers: fc.nat(64),
});

describe('cost', () => {
  test('sums the buckets first and rounds up once', () => {
    const price = flat({ input: euro('0.3'), output: euro('0.3') });
    // Ten tokens at 300 nano-euro, and four buckets at a third of a nano-euro.
    expect(cost(price, { ...NO_USAGE, input: 10 })).toBe(3000n);
    const third = flat({ input: reduce(1_000_000n, 3n) });
    expect(cost(third, { ...NO_USAGE, input: 1, cacheRead: 1, output: 1 })).toBe(1n);
    expect(cost(third, { ...NO_USAGE, input: 1, cacheRead: 1, output: 1, reasoning: 1 })).toBe(2n);
  });

  test('is exact for counts and rates beyond any float', () => {
    const price = flat({ input: euro('123456789.123456789') });
    const tokens = Number.MAX_SAFE_INTEGER;
    expect(cost(price, { ...NO_USAGE, input: tokens })).toBe(
      (BigInt(tokens) * 123_456_789_123_456_789n + 999_999n) / 1_000_000n,
    );
  });

  test('bills each token in its own bucket and nowhere else', () => {
    fc.assert(
      fc.property(prices(fc.integer({ min: 1, max: 2_000_000 })), usages, unitCounts, (price, usage, units) => {
        const tier = tierOf(price, usage)!;
        let sum = BUCKETS.reduce((total, bucket) => total + tier.rates[bucket] * BigInt(usage[bucket] ?? 0), 0n);
        for (const unit of UNITS) sum += (price.units[unit] ?? 0n) * BigInt(billedUnits(price, units, unit));
        const amount = cost(price, usage, units);
        const divisor = price.denominator * 1_000_000n;
        expect(amount >= 0n && amount * divisor >= sum && (amount - 1n) * divisor < sum).toBe(true);
      }),
    );
  });

  test('never falls when a call uses more, where larger calls are not cheaper', () => {
    const rising = fc
      .tuple(partialRates, fc.nat(1_000_000), fc.nat(50), fc.boolean())
      .map(([base, above, more, family]) => {
        const scaled = Object.entries(base).map(([bucket, rate]) => [
          bucket,
          reduce(rate.numerator * BigInt(100 + more), rate.denominator * 100n),
        ]);
        const perMillion = Object.fromEntries(scaled) as PartialRates;
        return createPrice(
          {
            source: 'test',
            tiers: [
              { above: 0, perMillion: base },
              { above: above + 1, perMillion },
            ],
          },
          family,
        );
      });
    fc.assert(
      fc.property(rising, usages, usages, (price, usage, more) => {
        const sum = Object.fromEntries(BUCKETS.map((bucket) => [bucket, (usage[bucket] ?? 0) + (more[bucket] ?? 0)]));
        expect(cost(price, sum as unknown as Usage) >= cost(price, usage)).toBe(true);
      }),
    );
  });

  test.each([-1, 0.5, NaN, Infinity, 2 ** 53])('refuses %d as a count, of tokens and of units', (count) => {
    const price = flat({ input: euro('1') }, { units: { pages: euro('1') } });
    for (const bucket of BUCKETS) expect(() => cost(price, { ...NO_USAGE, [bucket]: count })).toThrow(RangeError);
    expect(() => cost(price, NO_USAGE, { pages: count })).toThrow(RangeError);
  });

  test('bills units beside tokens: a call is one call unless told otherwise, a recording lasts its minimum', () => {
    const units = { calls: euro('0.005'), pages: euro('0.002'), seconds: reduce(1_000_000_000n, 3600n) };
    const price = flat({ input: euro('1') }, { units, minimumSeconds: 10 });
    expect(cost(price, { ...NO_USAGE, input: 5 })).toBe(5_005_000n);
    expect(cost(price, { ...NO_USAGE, input: 5 }, { calls: 0 })).toBe(5000n);
    expect(cost(price, NO_USAGE, { calls: 2, pages: 3 })).toBe(16_000_000n);
    expect(cost(price, NO_USAGE, { calls: 0, seconds: 3600 })).toBe(1_000_000_000n);
    expect(cost(price, NO_USAGE, { calls: 0, seconds: 1 })).toBe(2_777_778n);
    expect(cost(price, NO_USAGE, { calls: 0, seconds: 0 })).toBe(0n);
  });

  test('a whole call is billed in the tier of its input, of whatever bucket, and not of its output', () => {
    const tiers = [
      { above: 0, perMillion: { input: euro('1'), output: euro('10') } },
      { above: 200_000, perMillion: { input: euro('2'), output: euro('15') } },
    ];
    const price = createPrice({ source: 'test', tiers }, false);
    expect(cost(price, { ...NO_USAGE, input: 199_999, output: 1 })).toBe(199_999_000n + 10_000n);
    expect(cost(price, { ...NO_USAGE, input: 200_000, output: 1 })).toBe(200_000_000n + 10_000n);
    expect(cost(price, { ...NO_USAGE, input: 200_001, output: 1 })).toBe(400_002_000n + 15_000n);
    expect(cost(price, { ...NO_USAGE, cacheRead: 150_000, cacheWrite1h: 50_001, output: 1 })).toBe(
      400_002_000n + 15_000n,
    );
    expect(cost(price, { ...NO_USAGE, input: 1, output: 300_000 })).toBe(1000n + 3_000_000_000n);
  });

  test('a zero price costs nothing', () => {
    const free = flat({ input: euro('0') });
    expect(cost(free, { ...NO_USAGE, input: 1e9, cacheWrite1h: 5, output: 7 })).toBe(0n);
    expect(ceiling(free, { inputTokens: 1e9, outputTokens: 7 })).toBe(0n);
  });
});

describe('ceiling', () => {
  test('no usage within the bounds costs more', () => {
    const used = fc.tuple(
      prices(fc.integer({ min: 1, max: 2_000_000 })),
      usages,
      unitCounts,
      unitCounts,
      counts,
      counts,
    );
    fc.assert(
      fc.property(used, ([price, usage, units, more, spareInput, spareOutput]) => {
        const bounds: Units = Object.fromEntries(UNITS.map((unit) => [unit, units[unit] + more[unit]]));
        const most = ceiling(price, {
          ...bounds,
          inputTokens: inputTokens(usage) + spareInput,
          outputTokens: outputTokens(usage) + spareOutput,
        });
        expect(cost(price, usage, units) <= most).toBe(true);
        // Nor when the tier that was asked for is the one that was given, or the ordinary one is given instead.
        const { serviceTier = 'standard', ...ordinary } = usage;
        const bounds2 = { ...bounds, inputTokens: inputTokens(usage), outputTokens: outputTokens(usage), serviceTier };
        const asked = ceiling(price, bounds2);
        expect(cost(price, usage, units) <= asked && cost(price, ordinary, units) <= asked && asked <= most).toBe(true);
        const { inputAudio: _a, inputImage: _i, cacheReadAudio: _c, ...text } = usage;
        expect(cost(price, text, units) <= ceiling(price, { ...bounds2, textOnly: true })).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('is what the dearest usage within the bounds costs, found by trying all', () => {
    fc.assert(
      fc.property(prices(fc.integer({ min: 1, max: 3 })), fc.nat(3), fc.nat(2), (price, inputTokens, outputTokens) => {
        let dearest = 0n;
        for (const usage of allUsages(inputTokens, outputTokens)) {
          for (const serviceTier of [undefined, ...(price.services?.keys() ?? [])]) {
            const amount = cost(price, serviceTier === undefined ? usage : { ...usage, serviceTier });
            if (amount > dearest) dearest = amount;
          }
        }
        expect(ceiling(price, { inputTokens, outputTokens })).toBe(dearest);
      }),
      { numRuns: 60 },
    );
  });

  test('never falls when the bounds widen', () => {
    fc.assert(
      fc.property(
        prices(fc.nat(1_000_000)),
        counts,
        counts,
        counts,
        counts,
        (price, input, output, moreInput, moreOutput) => {
          const narrow = ceiling(price, { inputTokens: input, outputTokens: output });
          expect(ceiling(price, { inputTokens: input + moreInput, outputTokens: output + moreOutput }) >= narrow).toBe(
            true,
          );
        },
      ),
    );
  });

  test('reaches a tier only with more input than its start, and looks below it where that is dearer', () => {
    const cheaper = createPrice(
      {
        source: 'test',
        tiers: [
          { above: 0, perMillion: { input: euro('10') } },
          { above: 1000, perMillion: { input: euro('1') } },
        ],
      },
      false,
    );
    expect(ceiling(cheaper, { inputTokens: 1000 })).toBe(10_000_000n);
    expect(ceiling(cheaper, { inputTokens: 5000 })).toBe(10_000_000n);
    expect(ceiling(cheaper, { inputTokens: 20_000 })).toBe(20_000_000n);
  });
});

describe('createPrice', () => {
  test('what a source leaves out is never free', () => {
    const { rates } = flat({ input: euro('3') }).tiers[0]!;
    expect(rates).toEqual(Object.fromEntries(BUCKETS.map((bucket) => [bucket, 3_000_000_000n])));
  });

  test('what a service tier leaves out costs no less than in the ordinary one', () => {
    const services = new Map([
      ['flex', [{ above: 0, perMillion: { input: euro('1'), output: euro('4') } }]],
      ['priority', [{ above: 0, perMillion: { input: euro('4') } }]],
    ]);
    const perMillion = { input: euro('2'), cacheRead: euro('0.2'), output: euro('8'), outputAudio: euro('80') };
    const price = createPrice({ source: 'test', tiers: [{ above: 0, perMillion }], services }, false);
    const rates = (serviceTier: string) => tierOf(price, { ...NO_USAGE, serviceTier })!.rates;
    expect(rates('flex')).toMatchObject({
      input: 1_000_000_000n,
      cacheRead: 1_000_000_000n,
      cacheWrite5m: 1_000_000_000n,
      output: 4_000_000_000n,
      outputAudio: 80_000_000_000n,
    });
    expect(rates('priority')).toMatchObject({ cacheRead: 4_000_000_000n, output: 8_000_000_000n });
    expect(rates('scale')).toBe(price.tiers[0]!.rates);
  });

  test('an hour of cache costs twice the input in the Anthropic family, and no less than the source says', () => {
    const hour = (named: PartialRates): bigint =>
      createPrice({ source: 'test', tiers: [{ above: 0, perMillion: named }] }, true).tiers[0]!.rates.cacheWrite1h;
    expect(hour({ input: euro('3'), cacheWrite5m: euro('3.75') })).toBe(6_000_000_000n);
    expect(hour({ input: euro('3'), cacheWrite5m: euro('7') })).toBe(7_000_000_000n);
    expect(hour({ input: euro('3'), cacheWrite5m: euro('3.75'), cacheWrite1h: euro('5') })).toBe(5_000_000_000n);
    expect(flat({ input: euro('3'), cacheWrite5m: euro('3.75') }).tiers[0]!.rates.cacheWrite1h).toBe(3_750_000_000n);
  });

  test('reasoning costs what output costs', () => {
    expect(flat({ input: euro('1'), output: euro('8') }).tiers[0]!.rates.reasoning).toBe(8_000_000_000n);
  });
});

test('a price covers what it has a rate for, and a price per call alone whatever the call does', () => {
  const tokens = flat({ input: euro('1') });
  const pages = createPrice({ source: 'test', tiers: [], units: { pages: euro('1') } }, false);
  const calls = createPrice({ source: 'test', tiers: [], units: { calls: euro('1') } }, false);
  const fee = flat({ input: euro('1') }, { units: { calls: euro('1') } });
  expect([tokens, pages, calls, fee].map((price) => covers(price, 'tokens'))).toEqual([true, false, true, true]);
  expect([tokens, pages, calls, fee].map((price) => covers(price, 'pages'))).toEqual([false, true, true, false]);
});

test('a service tier that may be dearer than the list must be known, unless the price is for any', () => {
  const list = flat({ input: euro('1') });
  const known = flat(
    { input: euro('1') },
    { services: new Map([['priority', [{ above: 0, perMillion: { input: euro('2') } }]]]) },
  );
  const any = flat({ input: euro('1') }, { anyService: true });
  const asked = [undefined, 'standard', 'flex', 'batch', 'priority', 'scale'];
  const tierOnly = (serviceTier: string | undefined) => (serviceTier === undefined ? {} : { serviceTier });
  expect(asked.map((tier) => coversService(list, tierOnly(tier)))).toEqual([true, true, true, true, false, false]);
  expect(asked.map((tier) => coversService(known, tierOnly(tier)))).toEqual([true, true, true, true, true, false]);
  expect(asked.every((tier) => coversService(any, tierOnly(tier)))).toBe(true);
});

function* allUsages(inputTokens: number, outputTokens: number): Generator<Usage> {
  for (const inputs of splits(inputTokens, INPUT_BUCKETS.length)) {
    for (const outputs of splits(outputTokens, OUTPUT_BUCKETS.length)) {
      const counted = [
        ...INPUT_BUCKETS.map((bucket, index) => [bucket, inputs[index]]),
        ...OUTPUT_BUCKETS.map((bucket, index) => [bucket, outputs[index]]),
      ];
      yield Object.fromEntries(counted);
    }
  }
}

/** All ways to give at most `total` to this many buckets. */
function* splits(total: number, buckets: number): Generator<number[]> {
  if (buckets === 0) yield [];
  else
    for (let head = 0; head <= total; head += 1)
      for (const tail of splits(total - head, buckets - 1)) yield [head, ...tail];
}
