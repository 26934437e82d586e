import { expect, test } from 'vitest';
import { priceExplain, type PriceQuestion } from './price-explain.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

function explain(question: Omit<PriceQuestion, 'at' | 'usdToEur'>): { status: number; lines: string[] } {
  const lines: string[] = [];
  const status = priceExplain({ at: NOW, usdToEur: '0.92', ...question }, (line) => lines.push(line));
  return { status, lines };
}

test('tells the source, each bucket, and the total as it is billed', () => {
  const usage = { input: 1000, cacheRead: 500, output: 200, reasoning: 3 };
  const { status, lines } = explain({ provider: { slug: 'openai' }, model: 'gpt-4o', usage });
  expect(status).toBe(0);
  expect(lines).toEqual([
    'openai/gpt-4o at 2026-11-21T12:00:00.000Z',
    'price from genai-prices 0.1.8 openai/gpt-4o @0.92',
    'input         1000 x 2.3 EUR per million = 0.0023 EUR',
    'cacheRead     500 x 1.15 EUR per million = 0.000575 EUR',
    'cacheWrite5m  0 x 2.3 EUR per million = 0 EUR',
    'cacheWrite1h  0 x 2.3 EUR per million = 0 EUR',
    'output        200 x 9.2 EUR per million = 0.00184 EUR',
    'reasoning     3 x 9.2 EUR per million = 0.0000276 EUR',
    'searches      0 x 0.0092 EUR = 0 EUR',
    'fileSearches  0 x 0.0023 EUR = 0 EUR',
    'containers    0 x 0.0276 EUR = 0 EUR',
    'total, rounded up once: 0.0047426 EUR',
    'held for as many tokens: 0.0053176 EUR',
  ]);
});

test('tells the tier of a call, and cuts what has no end', () => {
  const gemini = explain({ provider: { slug: 'gemini' }, model: 'gemini-2.5-pro', usage: { input: 200_001 } });
  expect(gemini.lines).toContain('rates for more than 200000 input tokens');
  expect(gemini.lines).toContain('input         200001 x 2.3 EUR per million = 0.4600023 EUR');
  const whisper = explain({ provider: { slug: 'groq' }, model: 'whisper-large-v3', units: { seconds: 3 } });
  expect(whisper.lines.slice(2)).toEqual([
    'tokens are not billed',
    'seconds       10 x 0.000028366666666666… EUR = 0.000283666666666666… EUR',
    'total, rounded up once: 0.000283667 EUR',
    'held for as many tokens: 0.000283667 EUR',
  ]);
});

test('tells what a price leaves unbilled', () => {
  const { lines } = explain({
    provider: { slug: 'openai' },
    model: 'gpt-4o',
    usage: { input: 1 },
    units: { pages: 2 },
  });
  expect(lines).toContain('pages         2 not billed by this price');
});

test('an unknown price ends in status 1, a count that is none in status 2', () => {
  const unknown = explain({ provider: { slug: 'mistral' }, model: 'mistral-ocr-latest', usage: { input: 3 } });
  expect(unknown.status).toBe(1);
  expect(unknown.lines.at(-1)).toBe('no price is known: the call is refused (price_unknown)');
  const bad = explain({ provider: { slug: 'openai' }, model: 'gpt-4o', usage: { input: 1.5 } });
  expect(bad).toEqual({ status: 2, lines: ['input is not a whole, non-negative number: 1.5'] });
});
