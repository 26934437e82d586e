import { describe, expect, test } from 'vitest';
import { readDocument, render } from '../document/document.ts';
import { NO_USAGE } from '../answer/usage.ts';
import { rerankCodec } from './codec.ts';
import { rankedAtMost } from './size.ts';

const results = [{ index: 1, relevance_score: 0.9, document: { text: 'of «EMAIL_1»' } }];

describe('answers', () => {
  test.each([
    ['Cohere', { id: 'r', results, meta: { billed_units: { search_units: 2 } } }, undefined, { searches: 2 }],
    ['Cohere with tokens', { results, meta: { tokens: { input_tokens: 7 } } }, 7, undefined],
    ['Jina', { results, usage: { prompt_tokens: 5, total_tokens: 5 } }, 5, undefined],
    ['vLLM', { id: 'r', results, usage: { total_tokens: 9 } }, 9, undefined],
    ['Voyage', { object: 'list', data: results, usage: { total_tokens: 3 } }, 3, undefined],
    ['a count that is none', { results, meta: { billed_units: { search_units: -1 } } }, undefined, { searches: NaN }],
  ])('%s', (_, body, input, units) => {
    const read = rerankCodec.readAnswer(body);
    expect(read.usage).toEqual(input === undefined ? undefined : { ...NO_USAGE, input });
    expect([read.units, read.complete]).toEqual([units, true]);
  });

  test('one that has no results is none', () => {
    expect(rerankCodec.readAnswer({ error: 'x' })).toMatchObject({ complete: false });
  });

  test('Voyage’s results are called as everybody else’s are', () => {
    const request = readDocument('rerank', '{}');
    const told = (text: string): string => {
      const answer = readDocument('rerank', text);
      return render(text, rerankCodec.fitAnswer!(answer, request, '{}'));
    };
    expect(told('{"data": [ {"index":0} ],"model":"m"}')).toBe('{"results": [ {"index":0} ],"model":"m"}');
    for (const text of ['{"results":[],"data":[]}', '{"data":{}}', '{}']) expect(told(text)).toBe(text);
  });

  test('what documents say is read for tags', () => {
    const answer = readDocument('rerank', JSON.stringify({ id: 'r', results }));
    expect(rerankCodec.answerLeaves(answer, false).map(({ text }) => text)).toEqual(['of «EMAIL_1»']);
  });
});

test.each([
  [
    { query: 'abc', documents: ['a'] },
    { usualSearches: 1, mostSearches: 1, queryAgain: 0 },
  ],
  [
    { query: 'äb', documents: ['a', 'b', 'c'] },
    { usualSearches: 1, mostSearches: 1, queryAgain: 6 },
  ],
  [
    { query: 'a', documents: ['x'.repeat(50_001)] },
    { usualSearches: 1, mostSearches: 2, queryAgain: 0 },
  ],
  [
    { query: 'a', documents: Array.from({ length: 201 }, () => 'a') },
    { usualSearches: 3, mostSearches: 3, queryAgain: 200 },
  ],
  [{}, { usualSearches: 1, mostSearches: 1, queryAgain: 0 }],
])('what ranking may be billed by', (body, most) => {
  expect(rankedAtMost(body)).toEqual(most);
});
