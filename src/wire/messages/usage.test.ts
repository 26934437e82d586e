import { describe, expect, test } from 'vitest';
import { readDocument, render } from '../document/document.ts';
import { hideCacheCounts, readUsage, StreamedUsage, writeUsage } from './usage.ts';

const plain = { input_tokens: 100, output_tokens: 10 };

describe('usage', () => {
  test.each([
    ['input as it is', { ...plain, cache_read_input_tokens: 40 }, { input: 100, cacheRead: 40 }],
    ['writes without a split', { ...plain, cache_creation_input_tokens: 9 }, { cacheWrite5m: 9, cacheWrite1h: 0 }],
    [
      'writes with a split',
      {
        ...plain,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
      },
      { cacheWrite5m: 4, cacheWrite1h: 5 },
    ],
    [
      'a split alone',
      { ...plain, cache_creation: { ephemeral_1h_input_tokens: 5 } },
      { cacheWrite5m: 0, cacheWrite1h: 5 },
    ],
    [
      'a split of less than the whole',
      { ...plain, cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 5 } },
      { cacheWrite5m: 0, cacheWrite1h: 9 },
    ],
    [
      'searches',
      { ...plain, server_tool_use: { web_search_requests: 3, web_fetch_requests: 9 } },
      { input: 100, searches: 3 },
    ],
    ['thinking', { ...plain, output_tokens_details: { thinking_tokens: 4 } }, { output: 6, reasoning: 4 }],
    ['thinking beyond', { ...plain, output_tokens_details: { thinking_tokens: 99 } }, { output: 0, reasoning: 10 }],
    ['nonsense', { ...plain, cache_read_input_tokens: -4, cache_creation: 'x' }, { cacheRead: 0, cacheWrite5m: 0 }],
    [
      'passes beside the totals',
      {
        ...plain,
        iterations: [
          { type: 'message', ...plain },
          { type: 'compaction', input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 2 },
          { type: 'fallback_message', ...plain },
          { type: 'advisor_message', input_tokens: 20, output_tokens: 30, cache_creation_input_tokens: 5 },
          null,
        ],
      },
      { input: 127, output: 43, cacheRead: 2, cacheWrite5m: 5 },
    ],
  ])('%s', (_name, usage, expected) => {
    expect(readUsage(usage)).toMatchObject(expected);
  });

  test.each([undefined, null, 7, {}, { input_tokens: 5 }])('%j is no account of anything', (usage) => {
    expect(readUsage(usage as never)).toBeUndefined();
  });

  test.each([
    { input_tokens: '5', output_tokens: 1 },
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: 1, output_tokens: 1.5 },
  ])('%j counts nothing that could be billed', (usage) => {
    expect(Object.values(readUsage(usage) ?? {}).some(Number.isNaN)).toBe(true);
  });

  test.each([
    { input: 1, cacheRead: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 5, reasoning: 6 },
    { input: 0, cacheRead: 0, cacheWrite5m: 7, cacheWrite1h: 0, output: 0, reasoning: 0 },
  ])('is read as it was written: %j', (usage) => {
    expect(readUsage(writeUsage(usage))).toEqual(usage);
  });
});

describe('usage told in pieces', () => {
  test('what comes later holds, and null says nothing', () => {
    const usage = new StreamedUsage();
    expect(usage.add({ ...plain, cache_read_input_tokens: 40 })).toMatchObject({ input: 100, cacheRead: 40 });
    expect(usage.add(undefined)).toBeUndefined();
    const last = { input_tokens: null, cache_read_input_tokens: null, output_tokens: 99 };
    expect(usage.add(last)).toMatchObject({ input: 100, cacheRead: 40, output: 99 });
    expect(usage.add({ output_tokens: 100, cache_read_input_tokens: 50 })).toMatchObject({
      cacheRead: 50,
      output: 100,
    });
  });

  test('a later whole is divided as the earlier one was, or not at all when it is less', () => {
    const split = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 5 };
    const more = new StreamedUsage();
    more.add({ ...plain, cache_creation_input_tokens: 8, cache_creation: split });
    expect(more.add({ cache_creation_input_tokens: 10 })).toMatchObject({ cacheWrite5m: 5, cacheWrite1h: 5 });
    const less = new StreamedUsage();
    less.add({ ...plain, cache_creation_input_tokens: 8, cache_creation: split });
    expect(less.add({ cache_creation_input_tokens: 2 })).toMatchObject({ cacheWrite5m: 2, cacheWrite1h: 0 });
  });

  test('output alone is no account', () => {
    expect(new StreamedUsage().add({ output_tokens: 5 })).toBeUndefined();
  });
});

describe('hidden cache counts', () => {
  const shown = (body: object): unknown => {
    const document = readDocument('messages', JSON.stringify(body));
    return JSON.parse(render(document.text, hideCacheCounts(document)));
  };
  const told = {
    input_tokens: 10,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 7,
    cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
    output_tokens: 5,
    service_tier: 'standard',
  };
  const hidden = {
    ...told,
    input_tokens: 77,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  };

  test.each([
    ['an answer', (usage: object) => ({ type: 'message', content: [], usage })],
    ['the first event', (usage: object) => ({ type: 'message_start', message: { usage } })],
    ['the last event', (usage: object) => ({ type: 'message_delta', delta: {}, usage })],
    ['the passes of an answer', (usage: object) => ({ type: 'message', usage: { iterations: [usage] } })],
  ])('in %s', (_name, around) => {
    expect(shown(around(told))).toEqual(around(hidden));
  });

  test('where there are none, nothing changes', () => {
    const bodies = [{ usage: plain }, { usage: { output_tokens: 5, input_tokens: null } }, { usage: null }, {}];
    for (const body of bodies) expect(shown(body)).toEqual(body);
  });

  test('counts of a name yet unknown go too', () => {
    expect(shown({ usage: { ...plain, cache_of_tomorrow: { tokens: 5 } } })).toEqual({
      usage: { ...plain, cache_of_tomorrow: { tokens: 0 } },
    });
  });
});
