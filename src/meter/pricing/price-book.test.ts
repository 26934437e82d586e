import { describe, expect, test } from 'vitest';
import type { PriceConfig } from '#/config/snapshot.ts';
import { createPriceBook, type PricedProvider } from './price-book.ts';
import { ceiling, cost, type Price } from './price.ts';
import { NO_USAGE } from '#/wire/answer/usage.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const JANUARY = Date.UTC(2026, 0, 1);
const JULY = Date.UTC(2026, 6, 1);
const OPENAI: PricedProvider = { slug: 'openai', protocol: 'chat_completions', vendor: 'openai' };
const BEDROCK: PricedProvider = { slug: 'bedrock', protocol: 'converse' };
const book = createPriceBook({ usdToEur: '0.92' });
const plain = { prices: new Map<string, readonly PriceConfig[]>() };

const row = (input: bigint, more: Partial<PriceConfig> = {}): PriceConfig => ({
  book: 'default/local',
  unit: 'million_tokens',
  effectiveFrom: JANUARY,
  input,
  ...more,
});
const organization = (rows: Record<string, readonly PriceConfig[]>) => ({ prices: new Map(Object.entries(rows)) });
const inputRate = (price: Price | undefined): bigint | undefined =>
  price && price.tiers[0]!.rates.input / price.denominator;

describe('the built-in list', () => {
  test('a known model, in euro', () => {
    const price = book.find(plain, OPENAI, 'gpt-4o', NOW)!;
    expect(price.source).toBe('genai-prices 0.1.8 openai/gpt-4o @0.92');
    expect(cost(price, { ...NO_USAGE, input: 1000, output: 100 })).toBe(3_220_000n);
  });

  test.each([
    [OPENAI, 'gpt-99'],
    [OPENAI, ''],
    [OPENAI, `gpt-4o${'o'.repeat(100_000)}`],
    [{ slug: 'somewhere' }, 'gpt-4o'],
    [{ slug: 'gw' }, 'ocr'],
    [{ slug: 'gw' }, 'typed/other'],
    [{ slug: 'gemini' }, 'gemma-3-27b-it'],
    [{ slug: '__proto__' }, 'gpt-4o'],
    [{ slug: 'constructor' }, 'gpt-4o'],
  ])('unknown is never free: %j %s', (provider, model) => {
    expect(book.find(plain, provider, model.slice(0, 300), NOW)).toBeUndefined();
    expect(book.find(plain, provider, model, NOW)).toBeUndefined();
  });

  test('an hour of cache is dearer for Claude, wherever it is served, and for whoever speaks messages', () => {
    const hour = (provider: PricedProvider, model: string): number => {
      const { rates } = book.find(plain, provider, model, NOW)!.tiers[0]!;
      return Number(rates.cacheWrite1h) / Number(rates.input);
    };
    expect(hour(BEDROCK, 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0')).toBe(2);
    expect(hour(BEDROCK, 'amazon.nova-pro-v1:0')).toBe(1);
    expect(hour({ slug: 'deepseek', protocol: 'messages' }, 'deepseek-v4-pro')).toBe(2);
    expect(hour({ slug: 'deepseek', protocol: 'chat_completions' }, 'deepseek-v4-pro')).toBe(1);
  });

  test.each(['ocr', 'anonymize'])(
    '%s costs a tenth of a cent a page or picture, unless a book says otherwise',
    (model) => {
      const gateway: PricedProvider = { slug: 'gw', protocol: 'custom', vendor: 'custom' };
      const price = book.find(plain, gateway, model, NOW, ['pages'])!;
      expect(cost(price, NO_USAGE, { pages: 3 })).toBe(3_000_000n);
      expect(cost(price, NO_USAGE, { images: 2 })).toBe(2_000_000n);
      const own = organization({ 'gw/*': [row(5n, { unit: 'page' })] });
      expect(cost(book.find(own, gateway, model, NOW, ['pages'])!, NO_USAGE, { pages: 3 })).toBe(15n);
      // A book that has no price for pictures has none: they are not free.
      expect(book.find(own, gateway, model, NOW, ['images'])).toBeUndefined();
    },
  );

  test('typed decisions cost 10 nano-euro an input token; output is free', () => {
    for (const model of ['typed', 'typed/router']) {
      const price = book.find(plain, { slug: 'gw' }, model, NOW)!;
      expect(cost(price, { ...NO_USAGE, input: 1, output: 500 })).toBe(10n);
      expect(ceiling(price, { inputTokens: 96, outputTokens: 500 })).toBe(960n);
    }
  });

  test('moments are told apart in any order, though answers are remembered', () => {
    const day = Date.UTC(2026, 2, 13);
    const tiers = (at: number): number =>
      book.find(plain, { slug: 'anthropic' }, 'claude-sonnet-4-6', at)!.tiers.length;
    expect([day, day - 1, NOW, day - 1, day, 0].map(tiers)).toEqual([1, 2, 1, 2, 1, 2]);
    const daily = (time: string): bigint =>
      book.find(plain, { slug: 'deepseek' }, 'deepseek-reasoner', Date.parse(`2025-06-01T${time}Z`))!.tiers[0]!.rates
        .input;
    const peak = daily('12:00:00');
    expect(daily('16:30:00') < peak && daily('00:29:59.999') < peak).toBe(true);
    expect([daily('16:29:59.999'), daily('00:30:00')]).toEqual([peak, peak]);
  });

  test('a price is shared by all organizations that do not override it', () => {
    const first = book.find(plain, OPENAI, 'gpt-4.1', NOW);
    expect(book.find(organization({ 'openai/other': [row(1n)] }), { ...OPENAI }, 'gpt-4.1', NOW + 1)).toBe(first);
  });
});

describe('overrides', () => {
  test('the exact row, then the wildcard, then the built-in list', () => {
    const both = organization({ 'openai/gpt-4o': [row(111n)], 'openai/*': [row(222n)] });
    expect(inputRate(book.find(both, OPENAI, 'gpt-4o', NOW))).toBe(111n);
    expect(inputRate(book.find(both, OPENAI, 'anything', NOW))).toBe(222n);
    expect(inputRate(book.find(both, { slug: 'groq' }, 'llama-3.3-70b-versatile', NOW))).toBe(542_800_000n);
    expect(book.find(both, BEDROCK, 'anything', NOW)).toBeUndefined();
  });

  test('the newest row that has begun; before it begins, what comes after it in the order', () => {
    const dated = organization({
      'openai/gpt-4o': [row(2n, { effectiveFrom: JULY }), row(1n), row(3n, { effectiveFrom: NOW + 1 })],
      'openai/*': [row(9n, { effectiveFrom: 0 })],
    });
    const rate = (at: number) => inputRate(book.find(dated, OPENAI, 'gpt-4o', at));
    const moments = [NOW, NOW + 1, JULY, JULY - 1, JANUARY, JANUARY - 1];
    expect(moments.map(rate)).toEqual([2n, 3n, 2n, 1n, 1n, 9n]);
    expect(moments.toReversed().map(rate)).toEqual([9n, 1n, 1n, 2n, 3n, 2n]);
    const future = organization({ 'openai/gpt-4o': [row(1n, { effectiveFrom: NOW + 1 })] });
    expect(book.find(future, OPENAI, 'gpt-4o', NOW)!.source).toMatch(/^genai-prices/);
    expect(book.find(future, OPENAI, 'gpt-4o', NOW + 1)!.source).toMatch(/^PriceBook/);
  });

  test('rows that begin are distinguished in any order, though answers are remembered', () => {
    const rows = {
      'openai/gpt-4o': [row(2n, { effectiveFrom: JULY })],
      'openai/*': [row(1n), row(3n, { effectiveFrom: NOW })],
    };
    const own = organization(rows);
    const ats = [JULY - 1, JULY, NOW, JANUARY, NOW - 1, JULY - 1, NOW, JANUARY - 1];
    const found = (model: string): (bigint | undefined)[] =>
      ats.map((at) => inputRate(book.find(own, OPENAI, model, at)));
    expect(found('gpt-4o').slice(0, 7)).toEqual([1n, 2n, 2n, 1n, 2n, 1n, 2n]);
    expect(found('other').slice(0, 7)).toEqual([1n, 1n, 3n, 1n, 1n, 1n, 3n]);
    for (const at of ats.toReversed()) {
      const alone = book.find(organization(rows), OPENAI, 'gpt-4o', at);
      expect(book.find(own, OPENAI, 'gpt-4o', at)).toEqual(alone);
    }
  });

  test('a model is priced by the protocol that its provider speaks, though answers are remembered', () => {
    const own = organization({ 'any/*': [row(1n)] });
    const hour = (protocol: PricedProvider['protocol'] & string): bigint =>
      book.find(own, { slug: 'any', protocol }, 'm', NOW)!.tiers[0]!.rates.cacheWrite1h;
    const [chat, messages] = [hour('chat_completions'), hour('messages')];
    expect(messages).toBe(2n * chat);
    expect([hour('messages'), hour('chat_completions')]).toEqual([messages, chat]);
  });

  test('organizations do not see each other’s prices, nor an old snapshot’s', () => {
    const one = organization({ 'openai/*': [row(1n)] });
    const two = organization({ 'openai/*': [row(2n)] });
    expect([one, two, one, plain].map((owner) => inputRate(book.find(owner, OPENAI, 'gpt-4o', NOW)))).toEqual([
      1n,
      2n,
      1n,
      2_300_000_000n,
    ]);
  });

  test('the source names the book, the pattern and the date', () => {
    const named = organization({
      'openai/gpt-4o': [row(1n)],
      'openai/*': [row(1n, { effectiveFrom: 0 })],
      'openai/late': [row(1n, { effectiveFrom: JULY + 3_600_000 })],
      'openai/both': [row(1n), row(1n, { unit: 'image', effectiveFrom: JULY })],
    });
    const source = (model: string) => book.find(named, OPENAI, model, NOW)!.source;
    expect(source('gpt-4o')).toBe('PriceBook default/local openai/gpt-4o 2026-01-01');
    expect(source('x')).toBe('PriceBook default/local openai/*');
    expect(source('late')).toBe('PriceBook default/local openai/late 2026-07-01T01:00:00.000Z');
    expect(source('both')).toBe(
      'PriceBook default/local openai/both 2026-01-01, PriceBook default/local openai/both 2026-07-01',
    );
  });

  test('all rates of a row; the write premium is added to the input rate', () => {
    const full = organization({
      'openai/m': [
        row(2_000_000_000n, { output: 8_000_000_000n, cacheRead: 200_000_000n, cacheWritePremium: 500_000_000n }),
      ],
    });
    expect(book.find(full, OPENAI, 'm', NOW)!.tiers[0]!.rates).toEqual({
      input: 2_000_000_000n,
      cacheRead: 200_000_000n,
      cacheWrite5m: 2_500_000_000n,
      cacheWrite1h: 2_500_000_000n,
      inputAudio: 2_000_000_000n,
      inputImage: 2_000_000_000n,
      cacheReadAudio: 200_000_000n,
      output: 8_000_000_000n,
      reasoning: 8_000_000_000n,
      outputAudio: 8_000_000_000n,
      outputImage: 8_000_000_000n,
    });
  });

  test('a row with only an input price bills everything at it, and Claude’s hour at twice', () => {
    const sparse = organization({ 'openai/*': [row(3n)], 'bedrock/*': [row(3n)] });
    const rates = (provider: PricedProvider, model: string) => {
      const { cacheWrite1h, ...others } = book.find(sparse, provider, model, NOW)!.tiers[0]!.rates;
      expect(new Set(Object.values(others))).toEqual(new Set([3n]));
      return cacheWrite1h;
    };
    expect(rates(OPENAI, 'm')).toBe(3n);
    expect(rates(BEDROCK, 'amazon.nova-pro-v1:0')).toBe(3n);
    expect(rates(BEDROCK, 'eu.anthropic.claude-x')).toBe(6n);
  });

  test('an explicit zero is a price', () => {
    const free = organization({ 'gemini/*': [row(0n)] });
    const price = book.find(free, { slug: 'gemini' }, 'gemma-3-27b-it', NOW)!;
    expect(cost(price, { ...NO_USAGE, input: 1e9, output: 1e9 })).toBe(0n);
  });

  test('rows of several units add up; the newest of each counts', () => {
    const mixed = organization({
      'openai/m': [
        row(1_000_000n),
        row(7n, { unit: 'image' }),
        row(5n, { unit: 'image', effectiveFrom: JULY }),
        row(3n, { unit: 'call' }),
      ],
    });
    const price = book.find(mixed, OPENAI, 'm', NOW)!;
    expect(cost(price, { ...NO_USAGE, input: 11 }, { images: 2 })).toBe(11n + 10n + 3n);
  });

  test('a price is found only for what it bills: a page price does not let chat pass for nothing', () => {
    const units = organization({
      'mistral/ocr': [row(4n, { unit: 'page' })],
      'mistral/flat': [row(4n, { unit: 'call' })],
    });
    const mistral = { slug: 'mistral' };
    expect(book.find(units, mistral, 'ocr', NOW)).toBeUndefined();
    expect(book.find(units, mistral, 'ocr', NOW, ['images'])).toBeUndefined();
    expect(cost(book.find(units, mistral, 'ocr', NOW, ['images', 'pages'])!, NO_USAGE, { pages: 3 })).toBe(12n);
    expect(ceiling(book.find(units, mistral, 'flat', NOW)!, { inputTokens: 5, outputTokens: 5 })).toBe(4n);
    expect(book.find(plain, mistral, 'mistral-ocr-2512', NOW)).toBeUndefined();
    expect(book.find(plain, mistral, 'mistral-ocr-2512', NOW, ['pages'])).toBeDefined();
  });

  test('model names that are patterns or properties match nothing by accident', () => {
    const odd = organization({ 'openai/*': [row(1n)], 'openai/gpt-4o': [row(2n)] });
    expect(inputRate(book.find(odd, OPENAI, '*', NOW))).toBe(1n);
    expect(inputRate(book.find(odd, OPENAI, 'constructor', NOW))).toBe(1n);
    expect(inputRate(book.find(odd, OPENAI, 'GPT-4o', NOW))).toBe(1n);
    expect(book.find(odd, { slug: 'open' }, 'ai/gpt-4o', NOW)).toBeUndefined();
  });
});

describe('tools of MCP servers', () => {
  const crm = { slug: 'mcp/crm' };
  const call = (input: bigint): PriceConfig => ({ ...row(input), unit: 'call' });
  const costOf = (prices: Record<string, PriceConfig[]>, tool: string): bigint | undefined => {
    const price = book.find(organization(prices), crm, tool, NOW, ['calls']);
    return price && cost(price, NO_USAGE, { calls: 1 });
  };

  test('cost nothing, unless a row names the tool, its server, or all of them', () => {
    expect(costOf({}, 'find')).toBe(0n);
    const all = { 'mcp/*': [call(1n)], 'mcp/crm/*': [call(2n)], 'mcp/crm/find': [call(3n)] };
    expect([costOf(all, 'find'), costOf(all, 'other')]).toEqual([3n, 2n]);
    expect(costOf({ 'mcp/*': [call(1n)], 'mcp/mail/*': [call(2n)] }, 'find')).toBe(1n);
  });

  test('whose row prices something else have no price', () => {
    expect(costOf({ 'mcp/crm/*': [row(2n)] }, 'find')).toBeUndefined();
  });
});
