import { expect, test } from 'vitest';
import { cacheMarkers } from './cache-markers.ts';
import { readDocument, removeMembers, render } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';

const mark = { cache_control: { type: 'ephemeral' } };
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };

function ttls(body: JsonObject): readonly (string | undefined)[] {
  return cacheMarkers(readDocument('messages', JSON.stringify(body))).map(({ ttl }) => ttl);
}

test('stand on the request, on system blocks, messages, parts, results, tools and calls', () => {
  expect(ttls(hour)).toEqual(['1h']);
  expect(ttls({ system: [{ type: 'text', text: 'a', ...hour }, { type: 'text' }] })).toEqual(['1h']);
  expect(ttls({ messages: [{ role: 'user', content: 'a', ...hour }] })).toEqual(['1h']);
  expect(ttls({ messages: [{ content: [{ type: 'text', ...hour }] }] })).toEqual(['1h']);
  expect(ttls({ messages: [{ content: [{ type: 'tool_result', content: [{ type: 'text', ...hour }] }] }] })).toEqual([
    '1h',
  ]);
  expect(ttls({ messages: [{ content: [{ type: 'document', source: { content: [hour] } }] }] })).toEqual(['1h']);
  expect(ttls({ messages: [{ role: 'assistant', tool_calls: [{ id: 'a', ...hour }] }] })).toEqual(['1h']);
  expect(
    ttls({
      tools: [
        { name: 'f', ...hour },
        { type: 'function', function: { name: 'g', ...mark } },
      ],
    }),
  ).toEqual(['1h', undefined]);
  expect(ttls({ input: [{ role: 'user', content: [hour] }, { output: [hour] }] })).toEqual(['1h', '1h']);
  expect(ttls({ messages: [{ content: [{ prompt_cache_breakpoint: { mode: 'explicit' } }] }] })).toEqual([undefined]);
});

test('are nothing that a schema, an argument or a text says', () => {
  const schema = { type: 'object', properties: { cache_control: { ttl: '1h' } }, cache_control: hour };
  expect(ttls({ tools: [{ name: 'f', input_schema: schema }, { function: { parameters: schema } }] })).toEqual([]);
  expect(ttls({ messages: [{ content: [{ type: 'tool_use', input: { content: [hour], ...hour } }] }] })).toEqual([]);
  expect(ttls({ messages: [{ content: JSON.stringify(hour) }], metadata: hour })).toEqual([]);
});

test('are found by any spelling of their name', () => {
  const text = '{"messages":[{"content":"a","\\u0063a\\u0063he_control":{"ttl":"1h"}}]}';
  expect(cacheMarkers(readDocument('chat', text)).map(({ ttl }) => ttl)).toEqual(['1h']);
});

test('of no known form are markers all the same', () => {
  for (const value of [null, true, 'x', [], { ttl: 5 }, {}])
    expect(ttls({ cache_control: value })).toEqual([undefined]);
});

test('can be taken off where they stand', () => {
  const text = '{"system":[{"cache_control":{"type":"ephemeral"},"type":"text"}],"cache_control":{},"model":"m"}';
  const document = readDocument('messages', text);
  const edits = cacheMarkers(document).flatMap(({ object, name }) =>
    removeMembers(object, ({ value }) => value === name),
  );
  expect(render(text, edits)).toBe('{"system":[{"type":"text"}],"model":"m"}');
});

test('deeper than anyone nests them are not looked for', () => {
  let content: JsonObject = hour;
  for (let depth = 0; depth < 100; depth++) content = { content: [content] };
  expect(ttls({ messages: [content] })).toEqual([]);
});
