import { readFileSync } from 'node:fs';
import {
  calcPrice,
  findProvider,
  updatePrices,
  waitForUpdate,
  type ModelPrice,
  type PriceCalculation,
  type Provider,
} from '@pydantic/genai-prices';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeRate as rateOf, genaiProviderId, GENAI_PRICES_VERSION, readGenaiPrice } from './genai-prices.ts';
import { createPrice } from './price-sheet.ts';
import { cost, tierOf, type Price } from './price.ts';
import type { Units } from '#/call/units.ts';
import { inputTokens, NO_USAGE, outputTokens, type Usage } from '#/wire/answer/usage.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const exchangeRate = (rate: string) => rateOf({ rate, from: -Infinity });
const USD = exchangeRate('1');

function priceOf(providerId: string, model: string, at = NOW, rate = USD): Price | undefined {
  const { sheet } = readGenaiPrice(providerId, model, at, rate);
  return sheet && createPrice(sheet, model.includes('claude'));
}

/** Dollars per million tokens, by bucket. */
function dollars(price: Price | undefined, usage: Partial<Usage> = {}): Record<string, number> {
  const { rates } = tierOf(price!, { ...NO_USAGE, ...usage })!;
  return Object.fromEntries(
    Object.entries(rates).map(([bucket, rate]) => [bucket, Number(rate) / Number(price!.denominator) / 1e9]),
  );
}

/** The same without sound and pictures. */
function text(price: Price | undefined): Record<string, number> {
  const { inputAudio, inputImage, cacheReadAudio, outputAudio, outputImage, ...buckets } = dollars(price);
  expect([inputAudio, inputImage, cacheReadAudio]).toEqual([buckets['input'], buckets['input'], buckets['cacheRead']]);
  expect([outputAudio, outputImage]).toEqual([buckets['output'], buckets['output']]);
  return buckets;
}

test('the version that sources name is the installed one', () => {
  const manifest = new URL('../package.json', import.meta.resolve('@pydantic/genai-prices'));
  expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ version: GENAI_PRICES_VERSION });
});

describe('rates by hand', () => {
  test('gpt-4o: no write rate and no reasoning rate', () => {
    expect(text(priceOf('openai', 'gpt-4o'))).toEqual({
      input: 2.5,
      cacheRead: 1.25,
      cacheWrite5m: 2.5,
      cacheWrite1h: 2.5,
      output: 10,
      reasoning: 10,
    });
  });

  test('gpt-4.1 by a dated name', () => {
    const price = priceOf('openai', 'gpt-4.1-2025-04-14');
    expect(price?.source).toBe('genai-prices 0.1.8 openai/gpt-4.1 @1');
    expect(dollars(price)).toMatchObject({ input: 2, cacheRead: 0.5, output: 8 });
    // 1,000 × 2 + 500 × 0.5 + 300 × 8 + 200 × 8 dollars per million.
    expect(cost(price!, { ...NO_USAGE, input: 1000, cacheRead: 500, output: 300, reasoning: 200 })).toBe(6_250_000n);
  });

  test('Claude: writes for five minutes and for an hour, named by the data', () => {
    const price = priceOf('anthropic', 'claude-opus-4-5-20251101');
    expect(text(price)).toEqual({
      input: 5,
      cacheRead: 0.5,
      cacheWrite5m: 6.25,
      cacheWrite1h: 10,
      output: 25,
      reasoning: 25,
    });
    expect(
      cost(price!, { input: 10, cacheRead: 1000, cacheWrite5m: 100, cacheWrite1h: 200, output: 30, reasoning: 5 }),
    ).toBe(50_000n + 500_000n + 625_000n + 2_000_000n + 750_000n + 125_000n);
  });

  test('Claude on clouds: an hour of cache costs twice the input where the data has no rate for it', () => {
    expect(dollars(priceOf('aws', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'))).toMatchObject({
      input: 3.3,
      cacheWrite5m: 4.125,
      cacheWrite1h: 6.6,
    });
    expect(dollars(priceOf('google', 'publishers/anthropic/models/claude-opus-4-8@20260801'))).toMatchObject({
      cacheWrite1h: 10,
    });
  });

  test.each([
    ['google', 'gemini-2.5-pro', 200_000, [1.25, 0.125, 10], [2.5, 0.25, 15]],
    ['anthropic', 'claude-sonnet-4-5', 200_000, [3, 0.3, 15], [6, 0.6, 22.5]],
    ['x-ai', 'grok-4.5', 199_999, [2, 0.3, 6], [4, 0.6, 12]],
  ])('%s/%s: the whole call is dearer above %d input tokens', (provider, model, start, below, above) => {
    const price = priceOf(provider, model);
    const ratesAt = (usage: Partial<Usage>): number[] => {
      const { input, cacheRead, output } = dollars(price, usage);
      return [input!, cacheRead!, output!];
    };
    for (const input of [0, 1, start - 1, start]) expect(ratesAt({ input })).toEqual(below);
    for (const input of [start + 1, start + 2, 1e6]) expect(ratesAt({ input })).toEqual(above);
    expect(ratesAt({ input: 1, cacheRead: start })).toEqual(above);
    expect(ratesAt({ output: 1e6, reasoning: 1e6 })).toEqual(below);
  });

  test('a key without tiers keeps its rate in every tier', () => {
    expect(dollars(priceOf('openrouter', 'x-ai/grok-4-fast'), { input: 200_000 })).toMatchObject({
      input: 0.4,
      cacheRead: 0.05,
      output: 1,
    });
  });

  test('reasoning has its own rate where the data has one', () => {
    expect(dollars(priceOf('perplexity', 'sonar-deep-research'))).toMatchObject({ output: 8, reasoning: 3 });
  });

  test('sound and pictures have rates of their own', () => {
    expect(dollars(priceOf('google', 'gemini-2.5-flash-image'))).toMatchObject({
      input: 0.3,
      output: 2.5,
      outputImage: 30,
    });
    expect(dollars(priceOf('openai', 'gpt-audio'))).toMatchObject({
      input: 2.5,
      inputAudio: 32,
      output: 10,
      outputAudio: 64,
    });
    expect(dollars(priceOf('openai', 'gpt-4o-transcribe'))).toMatchObject({ input: 2.5, inputAudio: 6, output: 10 });
    expect(dollars(priceOf('openai', 'gpt-image-1.5'))).toMatchObject({ input: 5, inputImage: 8, outputImage: 32 });
    expect(dollars(priceOf('google', 'gemini-2.5-flash'))).toMatchObject({
      input: 0.3,
      inputAudio: 1,
      cacheReadAudio: 0.1,
    });
  });

  test.each<[string, string, Units, bigint]>([
    ['mistral', 'mistral-ocr-2512', { pages: 3 }, 6_000_000n],
    ['openai', 'whisper-1', { seconds: 90 }, 9_000_000n],
    ['groq', 'whisper-large-v3', { seconds: 3 }, 308_334n],
    ['groq', 'whisper-large-v3', { seconds: 3600 }, 111_000_000n],
    ['openai', 'gpt-4o', { searches: 2 }, 20_000_000n],
  ])('%s/%s is billed by %j', (provider, model, units, amount) => {
    expect(cost(priceOf(provider, model)!, NO_USAGE, units)).toBe(amount);
  });

  test('a fee per call is added to the tokens', () => {
    const price = priceOf('perplexity', 'sonar')!;
    const fee = calcPrice({ input_tokens: 0, output_tokens: 0 }, 'sonar', { providerId: 'perplexity' })!.total_price;
    expect(fee).toBeGreaterThan(0);
    expect(Number(cost(price, NO_USAGE)) / 1e9).toBeCloseTo(fee, 9);
  });
});

describe('conversion', () => {
  test('is exact, and told in the source', () => {
    const price = priceOf('openai', 'gpt-4o', NOW, exchangeRate('0.92'))!;
    expect(price.source).toBe('genai-prices 0.1.8 openai/gpt-4o @0.92');
    expect(price.denominator).toBe(1n);
    expect(price.tiers[0]!.rates).toMatchObject({
      input: 2_300_000_000n,
      cacheRead: 1_150_000_000n,
      output: 9_200_000_000n,
    });
  });

  test('keeps what is below a nano-euro until the call is summed', () => {
    const price = priceOf('openai', 'gpt-5-nano', NOW, exchangeRate('0.923456789012'))!;
    // 0.05 dollars a million: 46.1728394506 nano-euro a token.
    expect(cost(price, { ...NO_USAGE, input: 1 })).toBe(47n);
    expect(cost(price, { ...NO_USAGE, input: 10_000_000_000 })).toBe(461_728_394_506n);
  });

  test.each(['0', '0.00', '', '-1', 'NaN', '1,1'])('refuses %j as a rate', (rate) => {
    expect(() => exchangeRate(rate)).toThrow(RangeError);
  });
});

describe('moments', () => {
  const day = Date.UTC(2026, 2, 13);

  test('a dated price holds from midnight UTC', () => {
    const before = readGenaiPrice('anthropic', 'claude-opus-4-6', day - 1, USD);
    const after = readGenaiPrice('anthropic', 'claude-opus-4-6', day, USD);
    expect([before.sheet!.tiers.length, after.sheet!.tiers.length]).toEqual([2, 1]);
    expect([before.from, before.until, after.from, after.until]).toEqual([-Infinity, day, day, Infinity]);
  });

  test.each([
    ['00:29:59.999', 0.135],
    ['00:30:00.000', 0.27],
    ['16:29:59.999', 0.27],
    ['16:30:00.000', 0.135],
  ])('daily windows: at %s input costs %d dollars', (time, input) => {
    const at = Date.parse(`2025-06-01T${time}Z`);
    expect(dollars(priceOf('deepseek', 'deepseek-chat', at))['input']).toBe(input);
    const { from, until } = readGenaiPrice('deepseek', 'deepseek-chat', at, USD);
    expect(from <= at && at < until && until - from <= 1000).toBe(true);
  });
});

describe('data that is not in this version', () => {
  const odd: Record<string, ModelPrice> = {
    'free-tokens': { input_mtok: 0, output_mtok: 0, web_searches_kcount: 10 },
    'free-tiers': { input_mtok: { base: 0, tiers: [{ start: 10, price: 1 }] }, output_mtok: 1 },
    'all-free': { input_mtok: 0, output_mtok: 0, requests_kcount: 0 },
    'free-output': { input_mtok: 1, output_mtok: 0 },
    'write-1h': { input_mtok: 1, cache_write_mtok: 1.25, cache_write_1h_mtok: 7, output_mtok: 1 },
    'many-tiers': {
      input_mtok: {
        base: 1,
        tiers: [
          { start: 300, price: 4 },
          { start: 100, price: 2 },
        ],
      },
      output_mtok: { base: 10, tiers: [{ start: 200, price: 30 }] },
    },
  };
  let bundled: Provider[];

  beforeAll(async () => {
    bundled = (await waitForUpdate())!;
    const models = Object.entries(odd).map(([id, prices]) => ({ id, match: { equals: id }, prices }));
    updatePrices(({ setProviderData }) =>
      setProviderData([{ id: 'odd', name: 'Odd', api_pattern: 'https://odd', models }]),
    );
  });
  afterAll(() => updatePrices(({ setProviderData }) => setProviderData(bundled)));

  test('tokens listed at zero are not billed as free', () => {
    const price = priceOf('odd', 'free-tokens')!;
    expect([price.tiers, price.units.searches]).toEqual([[], 10_000_000n * 1_000_000n]);
    expect(priceOf('odd', 'free-tiers')).toBeUndefined();
    expect(priceOf('odd', 'all-free')).toBeUndefined();
    expect(dollars(priceOf('odd', 'free-output'))).toMatchObject({ input: 1, output: 0 });
  });

  test('a rate that the data names is never inferred', () => {
    expect(dollars(priceOf('odd', 'write-1h'))).toMatchObject({ cacheWrite5m: 1.25, cacheWrite1h: 7 });
  });

  test('tiers may come in any order and begin at different sizes', () => {
    const price = priceOf('odd', 'many-tiers')!;
    expect(price.tiers.map(({ above }) => above)).toEqual([0, 100, 200, 300]);
    for (const input of [1, 100, 101, 200, 201, 300, 301]) {
      const { input: rate, output } = dollars(price, { input });
      expect([input, rate, output]).toEqual([input, input > 300 ? 4 : input > 100 ? 2 : 1, input > 200 ? 30 : 10]);
    }
  });
});

describe('what has no price', () => {
  test.each([
    ['openai', 'gpt-7'],
    ['openai', 'gpt-4o-unknown'],
    ['azure', 'my-deployment'],
    ['anthropic', 'gpt-4o'],
    ['openai', 'claude-sonnet-4-5'],
    ['mistral', ''],
  ])('%s/%s', (provider, model) => {
    expect(readGenaiPrice(provider, model, NOW, USD)).toEqual({ sheet: undefined, from: -Infinity, until: Infinity });
  });

  test.each([
    ['google', 'gemma-3-27b-it'],
    ['openai', 'omni-moderation-latest'],
    ['cerebras', 'qwen-3-coder-480b'],
  ])('an entry without charges is no price: %s/%s', (provider, model) => {
    expect(calcPrice({ input_tokens: 1e6 }, model, { providerId: provider })?.total_price).toBe(0);
    expect(priceOf(provider, model)).toBeUndefined();
  });

  test('a successor is not billed as the predecessor that the data takes it for', () => {
    expect(calcPrice({}, 'claude-sonnet-5-5', { providerId: 'anthropic' })?.model.id).toBe('claude-sonnet-5');
    for (const model of ['claude-sonnet-5-5', 'claude-sonnet-5.5', 'claude-sonnet-5-5-20261101']) {
      expect(priceOf('anthropic', model)).toBeUndefined();
    }
    expect(priceOf('aws', 'eu.anthropic.claude-sonnet-5-5-v1:0')).toBeUndefined();
    for (const model of [
      'claude-sonnet-5',
      'claude-sonnet-5-20260901',
      'claude-sonnet-5.0',
      'claude-3-5-sonnet-20241022',
    ]) {
      expect(priceOf('anthropic', model)).toBeDefined();
    }
    expect(priceOf('openai', 'gpt-realtime-2.1')).toBeDefined();
    expect(priceOf('google', 'gemini-3-flash-preview-12-20')).toBeDefined();
  });
});

describe('providers', () => {
  test.each([
    ['openai', 'openai'],
    ['azure', 'azure'],
    ['anthropic', 'anthropic'],
    ['bedrock', 'aws'],
    ['gemini', 'google'],
    ['vertex', 'google'],
    ['mistral', 'mistral'],
    ['deepseek', 'deepseek'],
    ['xai', 'x-ai'],
    ['groq', 'groq'],
    ['together', 'together'],
    ['fireworks', 'fireworks'],
    ['cerebras', 'cerebras'],
  ])('%s is %s', (slug, id) => {
    expect(genaiProviderId(slug)).toBe(id);
  });

  test('another name is nobody, never who has a part of it', () => {
    expect(findProvider({ providerId: 'not-openai-at-all' })?.id).toBe('openai');
    expect(priceOf(genaiProviderId('not-openai-at-all'), 'gpt-4o')).toBeUndefined();
  });
});

describe('agreement with the data package', () => {
  const USAGES: readonly Usage[] = [
    { input: 1234, cacheRead: 567, cacheWrite5m: 89, cacheWrite1h: 10, output: 432, reasoning: 98 },
    { input: 199_999, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1, reasoning: 0 },
    { input: 1, cacheRead: 199_999, cacheWrite5m: 0, cacheWrite1h: 0, output: 7, reasoning: 7 },
    { input: 100_000, cacheRead: 50_000, cacheWrite5m: 50_001, cacheWrite1h: 0, output: 3333, reasoning: 0 },
    { input: 1_000_000, cacheRead: 1, cacheWrite5m: 2, cacheWrite1h: 3, output: 50_000, reasoning: 0 },
  ];

  test('on every model of the data, in every tier', async () => {
    const providers = (await waitForUpdate())!;
    let compared = 0;
    for (const provider of providers) {
      for (const model of provider.models) {
        const found = calcPrice({}, model.id, { providerId: provider.id, timestamp: new Date(NOW) });
        const price = found && priceOf(provider.id, model.id);
        if (found?.model !== model || !price || price.tiers.length === 0) continue;
        for (const usage of USAGES) {
          compared += 1;
          compare(provider.id, found, price, billable(usage, found.model_price, model.id));
          const { input_audio_mtok: heard, output_audio_mtok: spoken } = found.model_price;
          if (heard === undefined && spoken === undefined) continue;
          const sound = {
            ...(heard !== undefined && { inputAudio: 321 }),
            ...(spoken !== undefined && { outputAudio: 54 }),
          };
          // Nobody says which of what was cached is sound.
          const fresh = {
            ...billable(usage, found.model_price, model.id),
            cacheRead: 0,
            cacheWrite5m: 0,
            cacheWrite1h: 0,
          };
          compare(provider.id, found, price, { ...fresh, ...sound });
        }
      }
    }
    expect(compared).toBeGreaterThan(5000);
  });

  /** Without what the two are meant to differ in: an hour of Claude's cache, and output, where the data has no rate. */
  function billable(usage: Usage, prices: ModelPrice, model: string): Usage {
    const inferred = model.includes('claude') && prices['cache_write_1h_mtok'] === undefined;
    return {
      ...usage,
      ...(inferred && { cacheWrite1h: 0 }),
      ...(prices['output_mtok'] === undefined && { output: 0, reasoning: 0 }),
    };
  }

  function compare(providerId: string, { model }: PriceCalculation, price: Price, usage: Usage): void {
    const { cacheRead, cacheWrite5m, cacheWrite1h, reasoning } = usage;
    const theirs = {
      input_tokens: inputTokens(usage),
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite5m + cacheWrite1h,
      cache_write_1h_tokens: cacheWrite1h,
      output_tokens: outputTokens(usage),
      output_reasoning_tokens: reasoning,
      ...(usage.inputAudio && { input_audio_tokens: usage.inputAudio }),
      ...(usage.outputAudio && { output_audio_tokens: usage.outputAudio }),
    };
    const options = { providerId, timestamp: new Date(NOW) };
    const expected = calcPrice(theirs, model.id, options)!.total_price;
    const actual = Number(cost(price, usage)) / 1e9;
    const rounding = expected * 1e-12 + 1e-15;
    expect(actual - expected, `${providerId}/${model.id} ${JSON.stringify(usage)}`).toBeGreaterThanOrEqual(-rounding);
    expect(actual - expected, `${providerId}/${model.id} ${JSON.stringify(usage)}`).toBeLessThanOrEqual(
      1e-9 + rounding,
    );
  }
});
