import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fraction, reduce, type Fraction } from './fraction.ts';
import { createPriceBook } from './price-book.ts';
import { amountText, fromTexts, quantityOf, type ListedPeriod, type Quantities } from './price-list.ts';
import { mergePrices, type PriceSource } from './price-merge.ts';
import { BadSnapshot, readSnapshot, signSnapshot, type PriceSnapshot, type SnapshotContent } from './price-snapshot.ts';
import { cost, INPUT_BUCKETS, OUTPUT_BUCKETS, UNITS } from './price.ts';
import { bundledSource } from './source-bundled.ts';
import { fileSource } from './source-files.ts';
import { NO_USAGE } from '#/wire/answer/usage.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const plain = { prices: new Map() };

const usd = (texts: Readonly<Record<string, string>>): Quantities => fromTexts(texts);
const source = (name: string, prices: Readonly<Record<string, readonly ListedPeriod[]>>): PriceSource => ({
  name,
  revision: '1',
  names: Object.keys(prices),
  find: (provider, model) => prices[`${provider}/${model}`],
});
const content = (sources: readonly PriceSource[], tolerance = '0.01'): SnapshotContent => ({
  builtAt: NOW,
  sources: sources.map(({ name, revision }) => ({ name, revision })),
  tolerance,
  ...mergePrices(sources, fraction(tolerance)),
});
const snapshotOf = (...sources: readonly PriceSource[]): PriceSnapshot =>
  readSnapshot(signSnapshot(content(sources), privateKey), [publicKey]);

const amounts: fc.Arbitrary<Fraction> = fc
  .tuple(
    fc.bigInt(0n, 10n ** 15n),
    fc.oneof(
      fc.nat(12).map((digits) => 10n ** BigInt(digits)),
      fc.constant(90_000n),
    ),
  )
  .map(([a, b]) => reduce(a, b));
const quantities = fc.oneof(
  fc.constantFrom(...UNITS),
  fc
    .tuple(
      fc.constantFrom(...INPUT_BUCKETS, ...OUTPUT_BUCKETS),
      fc.constantFrom(0, 128_000, 200_000),
      fc.constantFrom('standard', 'flex', 'priority', 'batch'),
    )
    .map(([bucket, above, service]) => quantityOf(bucket, above, service)),
);
const periods = fc.array(
  fc.record(
    {
      from: fc.integer({ min: 0, max: 4e12 }),
      daily: fc.tuple(fc.nat(86_400), fc.nat(86_400)) as fc.Arbitrary<readonly [number, number]>,
      weekdays: fc.uniqueArray(fc.nat(6), { minLength: 1 }),
      usd: fc.array(fc.tuple(quantities, amounts)).map((entries) => new Map(entries)),
    },
    { requiredKeys: ['usd'] },
  ),
  { minLength: 1, maxLength: 3 },
);
const models = fc.dictionary(fc.constantFrom('openai/a', 'openai/b', 'aws/c:0', 'x-ai/d', '__proto__/e'), periods);

describe('a snapshot', () => {
  test('of merged sources is read as it was written, with the same bytes whenever it is written', () => {
    fc.assert(
      fc.property(models, models, (one, other) => {
        const merged = content([source('one', one), source('other', other)]);
        const text = signSnapshot(merged, privateKey);
        const { id, ...read } = readSnapshot(text, [stranger.publicKey, publicKey]);
        expect(id).toMatch(/^[0-9a-f]{12}$/);
        expect({ ...read, prices: Object.fromEntries(read.prices) }).toEqual({
          ...merged,
          prices: Object.fromEntries(merged.prices),
        });
        expect(signSnapshot(read, privateKey)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  const text = signSnapshot(
    content([source('one', { 'openai/a': [{ usd: usd({ input: '2.5', output: '10' }) }] })]),
    privateKey,
  );

  test.each([
    ['a price', text.replace('"2.5"', '"0.5"')],
    ['a date', text.replace('"built_at":"2026', '"built_at":"2027')],
    ['a model that is added', text.replace('"prices":{', '"prices":{"openai/z":[{"usd":{"input":"1"}}],')],
    ['a member that is added', text.replace('{"built_at"', '{"a":1,"built_at"')],
    ['another signature', text.replace(/"value":"[^"]+"/, `"value":"${Buffer.alloc(64).toString('base64')}"`)],
    ['no signature', text.replace(/,"signature":\{[^}]*\}/, '')],
    ['half of it', text.slice(0, text.length / 2)],
    ['nothing', ''],
    ['no object', '[]'],
    ['the key of somebody else', signSnapshot(content([]), stranger.privateKey)],
  ])('is refused with %s', (_what, changed) => {
    expect(changed).not.toBe(text);
    expect(() => readSnapshot(changed, [publicKey])).toThrow(BadSnapshot);
  });

  test('is refused wherever one digit of it was changed', () => {
    for (const match of text.matchAll(/\d/g)) {
      const digit = (Number(match[0]) + 1) % 10;
      const changed = text.slice(0, match.index) + String(digit) + text.slice(match.index + 1);
      // The key's name says whom to ask; it is not what is believed.
      if (match.index > text.indexOf('"signature"') && match.index < text.indexOf('"value"')) continue;
      expect(() => readSnapshot(changed, [publicKey]), `at ${match.index}`).toThrow(BadSnapshot);
    }
  });

  test('that is signed and cannot be read is refused too', () => {
    const odd = { ...content([]), prices: new Map([['openai/a', [{ usd: new Map([['bogus', fraction('1')]]) }]]]) };
    expect(() => readSnapshot(signSnapshot(odd, privateKey), [publicKey])).toThrow('not a quantity: bogus');
  });

  test('amounts are exact', () => {
    const exact = [fraction('0.000000000000000001'), reduce(1n, 90_000n), fraction('12'), reduce(22n, 7n)];
    expect(exact.map(amountText)).toEqual(['0.000000000000000001', '1/90000', '12', '22/7']);
  });
});

describe('merging', () => {
  const mine = source('mine', { 'openai/a': [{ usd: usd({ input: '2', output: '8' }) }] });
  const theirs = source('theirs', {
    'openai/a': [{ usd: usd({ input: '2.5', output: '8.01', cacheRead: '0.2' }) }],
    'openai/b': [{ usd: usd({ input: '1' }) }],
  });

  test('believes the first, fills from the next, and lists what is apart by more than the tolerance', () => {
    const { prices, differences } = mergePrices([mine, theirs], fraction('0.01'));
    expect(prices.get('openai/a')).toEqual([{ usd: usd({ input: '2', output: '8', cacheRead: '0.2' }) }]);
    expect([...prices.keys()]).toEqual(['openai/a', 'openai/b']);
    expect(differences).toEqual([
      { model: 'openai/a', quantity: 'input', taken: 'mine', values: { mine: '2', theirs: '2.5' } },
    ]);
    const other = mergePrices([theirs, mine], fraction('0'));
    expect(other.prices.get('openai/a')).toEqual([{ usd: usd({ input: '2.5', output: '8.01', cacheRead: '0.2' }) }]);
    expect(other.differences.map(({ quantity, taken }) => [quantity, taken])).toEqual([
      ['input', 'theirs'],
      ['output', 'theirs'],
    ]);
    expect(mergePrices([mine, theirs], fraction('0.25')).differences).toEqual([]);
  });

  test('keeps the times of the source that has them', () => {
    const dated = source('dated', {
      'openai/a': [{ usd: usd({ input: '3' }) }, { from: NOW, usd: usd({ input: '4' }) }],
    });
    const { prices } = mergePrices([dated, theirs], fraction('1'));
    expect(prices.get('openai/a')).toEqual([
      { usd: usd({ input: '3', output: '8.01', cacheRead: '0.2' }) },
      { from: NOW, usd: usd({ input: '4', output: '8.01', cacheRead: '0.2' }) },
    ]);
  });
});

describe('lists of others', () => {
  test('LiteLLM: dollars per token, by size, service tier and lifetime of the cache', () => {
    const list = {
      sample_spec: { litellm_provider: 'one of the providers', input_cost_per_token: 0 },
      'm-1': {
        litellm_provider: 'openai',
        mode: 'chat',
        input_cost_per_token: 1.25e-6,
        output_cost_per_token: 0.00001,
        cache_read_input_token_cost: 1.25e-7,
        input_cost_per_token_priority: 2.5e-6,
        output_cost_per_token_priority: 2e-5,
        input_cost_per_token_batches: 6.25e-7,
        input_cost_per_token_above_200k_tokens_flex: 1e-6,
        cache_creation_input_token_cost: 0,
        search_context_cost_per_query: { search_context_size_high: 0.05, search_context_size_low: 0.03 },
        input_cost_per_image: 9,
      },
      'anthropic.c-1': {
        litellm_provider: 'bedrock_converse',
        input_cost_per_token: 3e-6,
        cache_creation_input_token_cost_above_1hr: 6e-6,
        cache_creation_input_token_cost_above_1hr_above_200k_tokens: 12e-6,
      },
      'gemini/g-1': { litellm_provider: 'gemini', input_cost_per_token: 3e-7, input_cost_per_audio_token: 1e-6 },
      'mistral/ocr-1': { litellm_provider: 'mistral', mode: 'ocr', ocr_cost_per_page: 0.004 },
      'whisper-1': { litellm_provider: 'openai', mode: 'audio_transcription', input_cost_per_second: 1e-4 },
      'x/free': { litellm_provider: 'openai', input_cost_per_token: 0, output_cost_per_token: 0 },
    };
    const found = fileSource('litellm', JSON.stringify(list));
    expect(found.find('openai', 'm-1')).toEqual([
      {
        usd: usd({
          input: '1.25',
          output: '10',
          cacheRead: '0.125',
          'priority:input': '2.5',
          'priority:output': '20',
          'batch:input': '0.625',
          'flex:input>200000': '1',
          searches: '0.05',
        }),
      },
    ]);
    expect(found.find('aws', 'anthropic.c-1')).toEqual([
      { usd: usd({ input: '3', cacheWrite1h: '6', 'cacheWrite1h>200000': '12' }) },
    ]);
    expect(found.find('google', 'g-1')).toEqual([{ usd: usd({ input: '0.3', inputAudio: '1' }) }]);
    expect(found.find('mistral', 'ocr-1')).toEqual([{ usd: usd({ pages: '0.004' }) }]);
    expect(found.find('openai', 'whisper-1')).toEqual([{ usd: usd({ seconds: '0.0001' }) }]);
    expect(found.find('openai', 'm-2')).toBeUndefined();
  });

  test('models.dev: dollars per million, by provider', () => {
    const cost1 = { input: 1.25, output: 10, cache_read: 0.31, input_audio: 1, context_over_200k: { input: 2.5 } };
    const list = {
      google: { id: 'google', models: { 'g-1': { id: 'g-1', cost: cost1 }, 'g-2': { id: 'g-2' } } },
      togetherai: { models: { 'vendor/m': { cost: { input: 0.5, output: 0, reasoning: 3, cache_write: 0 } } } },
      elsewhere: { models: { m: { cost: { input: 1 } } } },
    };
    const found = fileSource('models-dev', JSON.stringify(list));
    expect(found.names).toEqual(['google/g-1', 'together/vendor/m']);
    expect(found.find('google', 'g-1')).toEqual([
      { usd: usd({ input: '1.25', output: '10', cacheRead: '0.31', inputAudio: '1', 'input>200000': '2.5' }) },
    ]);
    expect(found.find('together', 'vendor/m')).toEqual([{ usd: usd({ input: '0.5', output: '0', reasoning: '3' }) }]);
  });

  test.each([['litellm', '{}'] as const, ['models-dev', '{"openai":{}}'] as const, ['litellm', '[1]'] as const])(
    'what is no list of %s is refused: %s',
    (name, text) => expect(() => fileSource(name, text)).toThrow(SyntaxError),
  );
});

describe('the price book', () => {
  const bundled = snapshotOf(bundledSource());
  const ofSnapshot = createPriceBook({ usdToEur: '0.92', snapshot: () => bundled });
  const ofBuild = createPriceBook({ usdToEur: '0.92' });

  test.each([
    ['openai', 'gpt-4.1-2025-04-14', NOW],
    ['anthropic', 'claude-opus-4-5-20251101', NOW],
    ['anthropic', 'claude-sonnet-4-6', Date.UTC(2026, 2, 12)],
    ['anthropic', 'claude-sonnet-4-6', NOW],
    ['gemini', 'gemini-2.5-pro', NOW],
    ['vertex', 'publishers/google/models/gemini-2.5-flash', NOW],
    ['bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', NOW],
    ['deepseek', 'deepseek-v4-pro', Date.UTC(2026, 10, 21, 2)],
    ['deepseek', 'deepseek-v4-pro', Date.UTC(2026, 10, 21, 5)],
    ['gemini', 'gemini-3.6-flash', Date.UTC(2027, 0, 1)],
  ])('says the same of %s/%s with a snapshot of the bundled data as without', (slug, model, at) => {
    const one = ofSnapshot.find(plain, { slug }, model, at)!;
    const other = ofBuild.find(plain, { slug }, model, at)!;
    expect(one.source).toMatch(new RegExp(`^prices 2026-11-21 ${bundled.id} \\S+/\\S+ @0.92$`));
    expect({ ...one, source: '' }).toEqual({ ...other, source: '' });
  });

  test('knows of seconds and minimums too, and nothing of what is in no list', () => {
    const whisper = ofSnapshot.find(plain, { slug: 'groq' }, 'whisper-large-v3', NOW, ['seconds'])!;
    expect(cost(whisper, NO_USAGE, { seconds: 3 })).toBe(283_667n);
    expect(ofSnapshot.find(plain, { slug: 'openai' }, 'gpt-99', NOW)).toBeUndefined();
    expect(ofSnapshot.find(plain, { slug: 'openai', vendor: 'custom' }, 'gpt-4o', NOW)).toBeUndefined();
  });

  test('takes a replaced snapshot at once, while prices that were found stay as they were', () => {
    const price = (input: string) => snapshotOf(source('one', { 'openai/a': [{ usd: usd({ input }) }] }));
    let inForce = price('1');
    const book = createPriceBook({ usdToEur: '1', snapshot: () => inForce });
    const found = book.find(plain, { slug: 'openai' }, 'a', NOW)!;
    inForce = price('2');
    const later = book.find(plain, { slug: 'openai' }, 'a', NOW)!;
    expect([found, later].map((one) => cost(one, { ...NO_USAGE, input: 1 }))).toEqual([1000n, 2000n]);
    expect(later.source).toBe(`prices 2026-11-21 ${inForce.id} openai/a @1`);
  });

  test('converts a call at the rate in force at its start', () => {
    const december = Date.UTC(2026, 11, 1);
    const book = createPriceBook({ usdToEur: '0.92,2026-12-01=0.5' });
    const of = (at: number) => {
      const found = book.find(plain, { slug: 'openai' }, 'gpt-4o', at)!;
      return [found.source.replace(/.*@/, '@'), cost(found, { ...NO_USAGE, input: 1000 })];
    };
    expect([december - 1, december, december - 1].map(of)).toEqual([
      ['@0.92', 2_300_000n],
      ['@0.5 of 2026-12-01', 1_250_000n],
      ['@0.92', 2_300_000n],
    ]);
    expect(() => createPriceBook({ usdToEur: '0' })).toThrow(RangeError);
  });

  test('bills a service tier by its own rates, and above a size no less than the list where it names none', () => {
    const rates = {
      input: '1.25',
      output: '10',
      'input>200000': '2.5',
      'output>200000': '15',
      'flex:input': '0.5',
      'flex:output': '5',
      'priority:input': '2.25',
      'priority:input>200000': '4.5',
      'priority:output': '18',
    };
    const listed = snapshotOf(source('one', { 'google/g': [{ usd: usd(rates) }] }));
    const price = createPriceBook({ usdToEur: '1', snapshot: () => listed }).find(plain, { slug: 'gemini' }, 'g', NOW)!;
    const bill = (serviceTier: string, input: number) => cost(price, { ...NO_USAGE, input, output: 1, serviceTier });
    expect(bill('flex', 100_000)).toBe(50_000_000n + 5000n);
    expect(bill('flex', 300_000)).toBe(750_000_000n + 15_000n);
    expect(bill('priority', 300_000)).toBe(1_350_000_000n + 18_000n);
    expect(bill('scale', 100_000)).toBe(125_000_000n + 10_000n);
  });
});
