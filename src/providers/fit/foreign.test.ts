import { afterAll, describe, expect, test } from 'vitest';
import type { VendorId } from '#/vendors/list.ts';
import type { Family } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { createProviders } from '../registry.ts';
import { fitTo, type Fitted } from '../testing/asking.ts';
import { configOf } from '../testing/config.ts';
import { createTransport } from '../http/transport.ts';

/** What a vendor is given of a conversation that was begun with, or written for, somebody else. */

const transport = createTransport();
const providers = createProviders(transport);
afterAll(() => transport.close());

function fit(vendor: VendorId, model: string, body: JsonObject, family: Family = 'chat'): Fitted {
  const provider = providers(configOf(vendor));
  if (!provider) throw new Error(`no way out to ${vendor}`);
  return fitTo(provider, family, JSON.stringify({ model, ...body }), { model });
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const ASK = { role: 'user', content: 'hi' };

describe('a schema', () => {
  const format = { type: 'json_schema', json_schema: { name: 'c', schema: SCHEMA, description: 'A city.' } };

  test('becomes words and some JSON where the model cannot be held to it', () => {
    const { body, losses } = fit('deepseek', 'deepseek-chat', { messages: [ASK], response_format: format });
    expect(losses).toEqual(['response_format']);
    expect(body['response_format']).toEqual({ type: 'json_object' });
    const [told, asked] = body['messages'] as [JsonObject, JsonObject];
    expect(asked).toEqual(ASK);
    expect(told['role']).toBe('system');
    expect(told['content']).toContain(JSON.stringify(SCHEMA));
    expect(told['content']).toContain('A city.');
  });

  test('goes as it is to vendors that take it, and so does "some JSON" to those that do not', () => {
    const given = { messages: [ASK], response_format: format };
    expect(fit('mistral', 'mistral-small', given)).toMatchObject({ body: given, losses: [] });
    const plain = { messages: [ASK], response_format: { type: 'json_object' } };
    expect(fit('deepseek', 'deepseek-chat', plain)).toMatchObject({ body: plain, losses: [] });
  });

  test.each([[null], [[]], ['text'], [{ schema: 'none' }]])('that is none asks for JSON alone: %j', (json_schema) => {
    const { body } = fit('deepseek', 'deepseek-chat', {
      messages: [],
      response_format: { type: 'json_schema', json_schema },
    });
    expect(body['response_format']).toEqual({ type: 'json_object' });
    expect(body['messages']).toMatchObject([{ role: 'system', content: expect.stringContaining('JSON') as string }]);
  });
});

describe('ids of tool calls', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const history = (...ids: string[]) => ({
    messages: [
      ASK,
      { role: 'assistant', content: null, tool_calls: ids.map(call) },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' })),
    ],
  });

  test('are respelled for Mistral, a call and its result alike, and its own stay', () => {
    const { body, losses } = fit('mistral', 'mistral-small', history('call_abcdefghijk', 'aBcDeF123'));
    const [, called, first, second] = body['messages'] as [JsonObject, JsonObject, JsonObject, JsonObject];
    const [foreign, own] = (called['tool_calls'] as JsonObject[]).map(({ id }) => id);
    expect(foreign).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(own).toBe('aBcDeF123');
    expect([first['tool_call_id'], second['tool_call_id']]).toEqual([foreign, own]);
    expect(losses).toEqual([]);
  });

  test('stay as they are for everybody else', () => {
    const given = history('call_abcdefghijk');
    expect(fit('together', 'llama', given).body).toEqual({ model: 'llama', ...given });
  });

  test('are respelled in the items of a responses request too', () => {
    const input = [
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'x' },
    ];
    const { body } = fit('scaleway', 'mistral-medium-3.5', { input }, 'responses');
    const ids = (body['input'] as JsonObject[]).map(({ call_id: id }) => id);
    expect(ids[0]).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(fit('scaleway', 'qwen3', { input }, 'responses').body['input']).toEqual(input);
  });
});

describe('ids of tool calls in messages', () => {
  const history = (id: string) => ({
    max_tokens: 5,
    messages: [
      ASK,
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: { id: 'a:b' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
    ],
  });

  test.each(['functions.f:0', 'a'.repeat(65), 'ü'])('%s is respelled for Claude, in call and result', (id) => {
    const { body, losses } = fit('anthropic', 'claude-opus-4-8', history(id), 'messages');
    const spelt = /call_\w{24}/.exec(JSON.stringify(body))?.[0] ?? '';
    expect(spelt).not.toBe('');
    expect(body).toEqual({ model: 'claude-opus-4-8', ...history(spelt) });
    expect(losses).toEqual([]);
  });

  test.each(['toolu_01A', 'call_1-2', `toolu_${'a'.repeat(58)}`])('%s stays', (id) => {
    const { text } = fit('anthropic', 'claude-opus-4-8', history(id), 'messages');
    expect(text).toBe(JSON.stringify({ model: 'claude-opus-4-8', ...history(id) }));
  });
});

describe('a question for usage', () => {
  test.each([
    [{ include_usage: true }, []],
    [{ include_usage: true, include_obfuscation: true }, ['stream_options']],
  ])('is no loss where usage is told unasked: %j', (stream_options, losses) => {
    const fitted = fit('mistral', 'mistral-small', { messages: [ASK], stream: true, stream_options });
    expect(fitted.body).not.toHaveProperty('stream_options');
    expect(fitted.losses).toEqual(losses);
  });
});

test("names are told to Mistral with tools' results only", () => {
  const result = { role: 'tool', tool_call_id: 'aBcDeF123', name: 'f', content: 'done' };
  const { body, losses } = fit('mistral', 'mistral-small', { messages: [{ ...ASK, name: 'ann' }, result] });
  expect(body['messages']).toEqual([ASK, result]);
  expect(losses).toEqual(['messages[].name']);
});

describe('tools in the chat family, for a model that has them there only while it does not think', () => {
  const tools = [{ type: 'function', function: { name: 'f' } }];

  test.each<readonly [JsonObject, unknown, readonly string[]]>([
    [{ tools }, 'none', []],
    [{ tools, reasoning_effort: 'none' }, 'none', []],
    [{ tools, reasoning_effort: 'high' }, 'none', ['reasoning_effort']],
    [{ functions: [{ name: 'f' }], reasoning_effort: 'high' }, 'none', ['reasoning_effort']],
    [{ reasoning_effort: 'high' }, 'high', []],
    [{ tools: [], reasoning_effort: 'high' }, 'high', []],
  ])('%j', (more, effort, expected) => {
    const { body, losses } = fit('azure', 'gpt-5.6', { messages: [ASK], ...more });
    expect(body['reasoning_effort']).toBe(effort);
    expect(losses).toEqual(expected);
  });
});

test.each<readonly [VendorId, Family, string, string]>([
  ['openai', 'chat', 'standard_only', 'default'],
  ['openai', 'responses', 'standard_only', 'default'],
  ['azure', 'chat', 'standard_only', 'default'],
  ['openai', 'chat', 'priority', 'priority'],
  ['openai', 'chat', 'of_tomorrow', 'of_tomorrow'],
  ['anthropic', 'messages', 'default', 'standard_only'],
  ['anthropic', 'messages', 'auto', 'auto'],
  ['custom', 'chat', 'standard_only', 'standard_only'],
])('%s in %s is told the tier %s as %s', (vendor, family, asked, told) => {
  const { body, losses } = fit(vendor, 'm', { service_tier: asked }, family);
  expect([body['service_tier'], losses]).toEqual([told, []]);
});

describe('what DeepSeek thought before it called a tool', () => {
  const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const result = { role: 'tool', tool_call_id: 'c1', content: 'done' };
  const called = { role: 'assistant', content: null, tool_calls: calls };
  const answered = { role: 'assistant', content: 'hello', audio: null };
  const sent = (body: JsonObject) => fit('deepseek', 'deepseek-v4', body).body['messages'];

  test('is nothing where nobody has kept it', () => {
    expect(sent({ messages: [ASK, answered, ASK, called, result] })).toEqual([
      ASK,
      { role: 'assistant', content: 'hello', reasoning_content: '' },
      ASK,
      { ...called, reasoning_content: '' },
      result,
    ]);
    const voiceless = { ...called, reasoning_content: null };
    expect(sent({ messages: [ASK, voiceless, result] })).toEqual([ASK, { ...called, reasoning_content: '' }, result]);
  });

  test('is told as it was where it was kept, and not asked for without tools or without thinking', () => {
    const kept = [ASK, { ...called, reasoning_content: 'hm' }, result];
    expect(sent({ messages: kept })).toEqual(kept);
    const plain = [ASK, { role: 'assistant', content: 'hello' }, ASK];
    expect(sent({ messages: plain })).toEqual(plain);
    const loop = [ASK, called, result];
    expect(sent({ messages: loop, reasoning_effort: 'none' })).toEqual(loop);
    expect(sent({ messages: loop, thinking: { type: 'disabled' } })).toEqual(loop);
  });
});
