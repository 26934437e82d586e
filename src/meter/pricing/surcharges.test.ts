import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#/wire/document/json.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { NO_USAGE, type Usage } from '#/wire/answer/usage.ts';
import { createPriceBook, type PricedProvider } from './price-book.ts';
import { ceiling, cost, coversService, type Price } from './price.ts';

/** A dollar is a euro here, so that amounts are those of vendors' pages. */
const book = createPriceBook({ usdToEur: '1' });
const NOW = Date.parse('2026-11-24T12:00:00Z');
const MILLION = 1_000_000;
/** A million of each kind of token that these vendors bill apart. */
const ONE_OF_EACH: Usage = { ...NO_USAGE, input: MILLION, cacheRead: MILLION, output: MILLION };

function priceOf(provider: PricedProvider, model: string, at = NOW): Price {
  const price = book.find({ prices: new Map() }, provider, model, at);
  if (!price) throw new Error(`no price of ${model}`);
  return price;
}

const dollars = (price: Price, usage: Usage = ONE_OF_EACH): number => Number(cost(price, usage)) / 1e9;

describe('an address that keeps calls in a place', () => {
  const openai = (host: string): PricedProvider => ({ slug: 'o', vendor: 'openai', url: `https://${host}/v1` });
  const vertex = (region: string): PricedProvider => ({ slug: 'v', vendor: 'vertex', region });
  const together = (host: string): PricedProvider => ({ slug: 't', vendor: 'together', url: `https://${host}/v1` });

  test.each([
    [openai('api.openai.com'), 'gpt-5.4', 2.5 + 0.25 + 15],
    [openai('eu.api.openai.com'), 'gpt-5.4', 2.75 + 0.275 + 16.5],
    [openai('us.api.openai.com'), 'gpt-6-luna', 0.11 + 0.011 + 0.55],
    // Released before the surcharge.
    [openai('eu.api.openai.com'), 'gpt-5.2', 1.75 + 0.175 + 14],
    [openai('eu.api.openai.com.example.org'), 'gpt-5.4', 2.5 + 0.25 + 15],
    [vertex('global'), 'claude-opus-4-8', 5 + 0.5 + 25],
    [vertex('europe-west1'), 'claude-opus-4-8', 5.5 + 0.55 + 27.5],
    [vertex('eu'), 'claude-sonnet-5', 2.2 + 0.22 + 11],
    [vertex('europe-west1'), 'claude-3-7-sonnet', 3 + 0.3 + 15],
  ])('%o, %s', (provider, model, amount) => {
    // Beyond a size of input some are dearer: what is compared stays below it.
    const usage = { ...NO_USAGE, input: 100_000, cacheRead: 100_000, output: 100_000 };
    const price = priceOf(provider, model);
    expect(Number(cost(price, { ...usage }))).toBe(Math.round((amount * 1e9) / 10));
  });

  test('the row says by whose word', () => {
    expect(priceOf(openai('eu.api.openai.com'), 'gpt-5.4').source).toContain('; with 2026-11-24 developers.openai.com');
    expect(priceOf(openai('api.openai.com'), 'gpt-5.4').source).not.toContain('; with');
  });

  test('a place of its own at Together costs a quarter more', () => {
    const model = 'meta-llama/Llama-3.3-70B-Instruct-Turbo';
    const [anywhere, there] = ['api.together.xyz', 'us-api.together.ai'].map((host) =>
      cost(priceOf(together(host), model), ONE_OF_EACH),
    );
    expect(there! * 4n).toBe(anywhere! * 5n);
  });
});

describe('Claude, as its answer says that it was served', () => {
  const anthropic: PricedProvider = { slug: 'anthropic', vendor: 'anthropic' };
  const opus = priceOf(anthropic, 'claude-opus-5-5');
  const answered = (modes: object): Usage =>
    messagesCodec.readAnswer({
      type: 'message',
      content: [],
      usage: { input_tokens: MILLION, cache_read_input_tokens: MILLION, output_tokens: MILLION, ...modes },
    }).usage!;

  test.each([
    [{}, 4 + 0.2 + 20],
    [{ inference_geo: 'global', speed: 'standard', service_tier: 'standard' }, 24.2],
    [{ inference_geo: 'not_available' }, 24.2],
    [{ inference_geo: 'us' }, 26.62],
    [{ speed: 'fast' }, 48.4],
    [{ speed: 'fast', inference_geo: 'us' }, 53.24],
    // No source says what this tier costs: as the list, with what is added for the place.
    [{ service_tier: 'priority', inference_geo: 'us' }, 26.62],
  ])('%o', (modes, amount) => {
    expect(dollars(opus, answered(modes))).toBe(amount);
  });

  test('a model from before the surcharge has none', () => {
    expect(dollars(priceOf(anthropic, 'claude-haiku-4-5'), answered({ inference_geo: 'us' }))).toBe(1 + 0.1 + 5);
  });

  test('the hold covers the place that the vendor may choose, and speed only where it is asked for', () => {
    const bounds = { inputTokens: 0, outputTokens: MILLION };
    const held = (more: object): number => Number(ceiling(opus, { ...bounds, ...more })) / 1e9;
    expect(held({})).toBe(22);
    expect(held({ serviceTier: 'standard' })).toBe(22);
    expect(held({ anywhere: true })).toBe(20);
    expect(held({ fast: true })).toBe(44);
    expect(held({ fast: true, anywhere: true })).toBe(40);
  });

  test('no answer within what was asked for costs more than its hold', () => {
    for (const fast of [false, true]) {
      for (const anywhere of [false, true]) {
        const held = ceiling(opus, { inputTokens: 2 * MILLION, outputTokens: MILLION, fast, anywhere });
        for (const speed of fast ? ['standard', 'fast'] : ['standard']) {
          for (const inference_geo of anywhere ? ['global'] : ['global', 'us']) {
            expect(cost(opus, answered({ speed, inference_geo })) <= held).toBe(true);
          }
        }
      }
    }
  });

  test('speed that nobody has priced is not sold', () => {
    expect(coversService(opus, { fast: true })).toBe(true);
    expect(coversService(priceOf(anthropic, 'claude-sonnet-5'), { fast: true })).toBe(false);
    expect(coversService({ ...priceOf(anthropic, 'claude-sonnet-5'), anyService: true }, { fast: true })).toBe(true);
  });
});

describe('DeepSeek, by the hour of the call', () => {
  const deepseek: PricedProvider = { slug: 'deepseek', vendor: 'deepseek' };

  test.each([
    ['deepseek-v4-pro', '2026-08-16T15:59:59Z', 0.435 + 0.003625 + 0.87],
    ['deepseek-v4-pro', '2026-08-16T16:00:00Z', 0.66 + 0.022 + 1.98],
    // A Tuesday.
    ['deepseek-v4-pro', '2026-11-24T00:59:59Z', 2.662],
    ['deepseek-v4-pro', '2026-11-24T01:00:00Z', 5.324],
    ['deepseek-v4-pro', '2026-11-24T03:59:59Z', 5.324],
    ['deepseek-v4-pro', '2026-11-24T04:00:00Z', 2.662],
    ['deepseek-v4-pro', '2026-11-24T06:00:00Z', 5.324],
    ['deepseek-v4-pro', '2026-11-24T10:00:00Z', 2.662],
    // A Saturday, a Sunday, a Monday; and a Saturday before weekends were spared.
    ['deepseek-v4-pro', '2026-11-21T02:00:00Z', 2.662],
    ['deepseek-v4-pro', '2026-11-22T07:00:00Z', 2.662],
    ['deepseek-v4-pro', '2026-11-23T02:00:00Z', 5.324],
    ['deepseek-v4-pro', '2026-08-22T02:00:00Z', 5.324],
    ['deepseek-v4-flash', '2026-09-01T02:00:00Z', 0.44 + 0.014 + 1.32],
    ['deepseek-v4-flash', '2026-11-24T02:00:00Z', 0.3 + 0.006 + 1.2],
    ['deepseek-flash', '2026-11-24T12:00:00Z', 0.15 + 0.003 + 0.6],
    ['deepseek-flash', '2026-11-28T02:00:00Z', 0.753],
  ])('%s at %s', (model, at, amount) => {
    const price = priceOf(deepseek, model, Date.parse(at));
    expect(Number(cost(price, ONE_OF_EACH))).toBe(Math.round(amount * 1e9));
    expect(price.source).toContain('gatewarden prices 2026-11-24');
  });
});

describe('what OpenAI does beside answering', () => {
  const openai: PricedProvider = { slug: 'openai', vendor: 'openai' };
  const price = priceOf(openai, 'gpt-5');
  const response = (output: readonly object[], tools: readonly object[] = []): Usage =>
    responsesCodec.readAnswer({
      id: 'r',
      object: 'response',
      output: output as JsonObject[],
      tools: tools as JsonObject[],
      usage: { input_tokens: 0, output_tokens: 0 },
    }).usage!;
  const billed = (usage: Usage): bigint => {
    const { searches = 0, fileSearches = 0, containers = 0 } = usage;
    return cost(price, usage, { searches, fileSearches, containers });
  };
  const ran = (container_id: string) => ({ type: 'code_interpreter_call', container_id, code: '1' });
  const machine = (memory_limit?: string) => ({ type: 'code_interpreter', container: { type: 'auto', memory_limit } });

  test.each([
    ['a search of the web', [{ type: 'web_search_call', action: { type: 'search' } }], [], 10_000_000n],
    ['two searches of files', [{ type: 'file_search_call' }, { type: 'file_search_call' }], [], 5_000_000n],
    ['code that ran twice on one machine', [ran('a'), ran('a')], [machine()], 30_000_000n],
    ['code on two machines of 4 GB', [ran('a'), ran('b')], [machine('4g')], 240_000_000n],
    ['a machine of 64 GB', [ran('a')], [machine('64g')], 1_920_000_000n],
    ['a machine that nobody used', [], [machine('64g')], 0n],
  ])('%s', (_what, output, tools, amount) => {
    expect(billed(response(output, tools))).toBe(amount);
  });
});
