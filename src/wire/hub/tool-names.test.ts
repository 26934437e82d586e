import { describe, expect, test } from 'vitest';
import type { ModelRequest } from './canonical.ts';
import { chatUpstream } from '../chat/codec.ts';
import { geminiUpstream } from '../gemini/codec.ts';
import { renameTools, restoringNames } from './tool-names.ts';
import { UNKNOWN_MODEL } from './traits.ts';

const LONG = `mcp__${'a'.repeat(70)}`;

function asking(name: string): ModelRequest {
  return {
    model: 'm',
    stream: false,
    system: [],
    turns: [
      { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name, argumentsJson: '{}' }] },
      { role: 'user', parts: [{ type: 'tool-result', id: 'c1', name, parts: [], isError: false }] },
    ],
    tools: [{ name }, { name: 'f' }],
    toolChoice: { type: 'tool', name },
    stop: [],
  };
}

describe('names of tools', () => {
  test.each([
    ['chat', 'get-weather_2'],
    ['chat', '2nd'],
    ['messages', LONG],
    ['gemini', LONG],
    ['gemini', '_2'],
  ] as const)('%s takes %s as it is', (family, name) => {
    const request = asking(name);
    expect(renameTools(request, family)).toEqual({ request, originals: new Map() });
    expect(renameTools(request, family).request).toBe(request);
  });

  test.each([
    ['chat', LONG, 64, /^mcp__a{50}_[0-9a-z]{8}$/],
    ['responses', 'weather.get', 64, /^weather_get_[0-9a-z]{8}$/],
    ['converse', 'wetter/münchen', 64, /^wetter_m_nchen_[0-9a-z]{8}$/],
    ['messages', 'a'.repeat(200), 128, /^a{119}_[0-9a-z]{8}$/],
    ['gemini', '2nd', 128, /^_2nd_[0-9a-z]{8}$/],
    ['gemini', '-', 128, /^_-_[0-9a-z]{8}$/],
    ['chat', '', 64, /^__[0-9a-z]{8}$/],
  ] as const)('%s gets %s by another name', (family, name, most, expected) => {
    const { request, originals } = renameTools(asking(name), family);
    const spelt = request.tools[0]?.name ?? '';
    expect(spelt).toMatch(expected);
    expect(spelt.length).toBeLessThanOrEqual(most);
    expect(request).toEqual(asking(spelt));
    expect([...originals]).toEqual([[spelt, name]]);
    // Every turn tells the same story.
    expect(renameTools(asking(name), family).request).toEqual(request);
  });

  test('that differ only in what is not taken stay apart', () => {
    const two = { ...asking('a.b'), tools: [{ name: 'a.b' }, { name: 'a/b' }] };
    const { request, originals } = renameTools(two, 'chat');
    expect(new Set(request.tools.map(({ name }) => name)).size).toBe(2);
    expect([...originals.values()]).toEqual(['a.b', 'a/b']);
  });
});

describe('an answer', () => {
  const { request, originals } = renameTools(asking(LONG), 'chat');
  const name = request.tools[0]?.name ?? '';
  const calls = [
    { id: 'c1', type: 'function', function: { name, arguments: '{}' } },
    { id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } },
  ];
  const exit = restoringNames(chatUpstream, originals);

  test('calls tools by the names that the client gave them', () => {
    const message = { role: 'assistant', content: 'so', tool_calls: calls };
    const answer = exit.decodeAnswer({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    expect(answer?.parts.map((part) => ('name' in part ? part.name : part.type))).toEqual(['text', LONG, 'f']);
    expect(exit.decodeAnswer({ error: {} })).toBeUndefined();
  });

  test('does so in a stream too', () => {
    const reader = exit.streamDecoder();
    const delta = { tool_calls: calls.map((call, index) => ({ index, ...call })) };
    const data = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] });
    const events = [...reader.decode({ event: undefined, data, raw: '' }), ...reader.end()];
    const names = events.flatMap((event) =>
      event.type === 'part-start' && event.part.type === 'tool-call' ? event.part.name : [],
    );
    expect(names).toEqual([LONG, 'f']);
    expect(reader.finished).toBe(true);
  });

  test('is read as before where no name was changed', () => {
    expect(restoringNames(geminiUpstream, new Map())).toBe(geminiUpstream);
    expect(exit.encodeRequest(request, UNKNOWN_MODEL, () => {})['tools']).toHaveLength(2);
  });
});
