import { describe, expect, test } from 'vitest';
import { readDocument } from '../document/document.ts';
import { finish } from '../document/steps.ts';
import type { LoopConversation, LoopTool } from '../hub/tool-loop/loop-codec.ts';
import { responsesLoop } from './tool-loop.ts';

const ID = '019aa58a-3a01-7000-8000-00000000002a';
const TOOL: LoopTool = {
  alias: 'crm__find',
  server: 'crm',
  name: 'find',
  description: 'Finds',
  inputSchema: { type: 'object' },
  annotations: undefined,
  asksClient: false,
};
const CRM = { type: 'mcp', server_label: 'crm', require_approval: 'never' };

function begin(more: object = {}): LoopConversation {
  const text = JSON.stringify({ model: 'm', input: 'Go.', tools: [CRM], ...more });
  return finish(responsesLoop.begin(readDocument('responses', text), [TOOL], ID));
}

const call = (id: string, args = '{}') => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'crm__find',
  arguments: args,
});
const whole = (output: readonly object[], status = 'completed') => ({ id: 'r', object: 'response', status, output });
const asEvents = (events: readonly object[], eol = '\n'): string =>
  events.map((event) => `data: ${JSON.stringify(event)}${eol}${eol}`).join('');
const eventsIn = (text: string): Record<string, unknown>[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Record<string, unknown>);
const RAN = { tool: TOOL, argumentsJson: '{}', output: 'found', isError: false };

describe('the events of a round', () => {
  const round = [
    { type: 'response.created', sequence_number: 7, response: whole([], 'in_progress') },
    { type: 'response.output_item.added', output_index: 0, item: { ...call('a'), arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_a', delta: '{"a":"«ü"}' },
    { type: 'response.output_item.done', output_index: 0, item: call('a', '{"a":"«ü"}') },
    { type: 'response.completed', response: whole([call('a')]) },
  ];

  test.each(['\n', '\r\n', '\r'])('are the same wherever they are split (%j)', (eol) => {
    const text = asEvents(round, eol);
    const expected = begin({ stream: true });
    const said = expected.hear(text);
    const conversation = begin({ stream: true });
    const pieces = Array.from(text, (piece) => conversation.hear(piece)).join('');
    expect(pieces).toBe(said);
    expect(conversation.read().calls).toEqual([{ id: 'a', tool: TOOL, argumentsJson: '{"a":"«ü"}' }]);
    expect(eventsIn(pieces).map(({ sequence_number: number }) => number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('without an end are no answer', () => {
    const conversation = begin({ stream: true });
    conversation.hear(asEvents(round.slice(0, -1)));
    expect(() => conversation.read()).toThrow(SyntaxError);
  });

  test('may tell a call only when it is whole', () => {
    const conversation = begin({ stream: true });
    const said = eventsIn(conversation.hear(asEvents([round[0]!, round[3]!, round[4]!])));
    expect(said.map(({ type }) => type)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.mcp_list_tools.in_progress',
      'response.mcp_list_tools.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.mcp_call.in_progress',
    ]);
    expect(conversation.read().calls).toHaveLength(1);
  });

  test('of the next round go on counting items', () => {
    const conversation = begin({ stream: true });
    conversation.hear(asEvents(round));
    conversation.read();
    conversation.ran({ ...RAN, id: 'a' });
    const said = eventsIn(conversation.hear(asEvents(round)));
    expect(said.map(({ type, output_index: at }) => [type, at])).toEqual([
      ['response.output_item.added', 2],
      ['response.mcp_call.in_progress', 2],
      ['response.mcp_call_arguments.delta', 2],
    ]);
  });

  test('about a call with an unknown type are left out', () => {
    const conversation = begin({ stream: true });
    const words = ['constructor', 'toString', '__proto__'].map((type) => ({ type, output_index: 0, delta: 'x' }));
    conversation.hear(asEvents(round.slice(0, 2)));
    expect(conversation.hear(asEvents(words))).toBe('');
  });

  test('without places, or that are not JSON objects, are left out', () => {
    const conversation = begin({ stream: true });
    const text =
      asEvents([{ type: 'response.output_text.delta', delta: 'x' }]) + ': comment\n\ndata: 7\n\ndata: null\n\n';
    expect(eventsIn(conversation.hear(text)).filter(({ type }) => String(type).includes('text'))).toEqual([]);
  });
});

test.each([
  ['one id', [call('a'), call('a')]],
  ['no ids', [call(''), call('')]],
])('calls with %s are no answer of the family', (_, output) => {
  for (const stream of [false, true]) {
    const conversation = begin({ stream });
    const done = output.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item }));
    const end = { type: 'response.completed', response: whole(output) };
    conversation.hear(stream ? asEvents([...done, end]) : JSON.stringify(whole(output)));
    expect(() => conversation.read()).toThrow(SyntaxError);
  }
});

test('everything else in a request keeps its bytes', () => {
  const text =
    '{"model":"m", "seed":1.0e0,"max_tool_calls":3,"input":[ {"role":"user","content":"a\\u0062"} ],"tools":[{"type":"mcp","server_label":"crm","require_approval":"never"},{"type":"function","name":"own","parameters":{"n":10000000000000000000000}}]}';
  const conversation = finish(responsesLoop.begin(readDocument('responses', text), [TOOL], ID));
  const sent = conversation.request();
  expect(sent).toContain('"seed":1.0e0');
  expect(sent).toContain('{"role":"user","content":"a\\u0062"}');
  expect(sent).toContain('{"type":"function","name":"own","parameters":{"n":10000000000000000000000}}');
  expect(sent).not.toContain('max_tool_calls');
  expect(JSON.parse(sent)).toMatchObject({
    store: false,
    tools: [{ name: 'own' }, { name: 'crm__find', strict: false }],
  });
});

test.each([
  ['[{"type":"mcp_list_tools","id":"l"}]', []],
  ['[{"type":"mcp_list_tools","id":"l"},{"role":"user","content":"x"},{"type":"mcp_list_tools","id":"l"}]', ['x']],
])('lists of tools in the input %s are left out', (input, left) => {
  const sent = JSON.parse(begin({ input: JSON.parse(input) as object }).request()) as { input: { content: string }[] };
  expect(sent.input.map(({ content }) => content)).toEqual(left);
});

test.each([[['l']], [['l', 'x']], [['x', 'l']], [[]]])('the next round follows an input of %j', (kinds) => {
  const input = kinds.map((kind) =>
    kind === 'l' ? { type: 'mcp_list_tools', id: 'l' } : { role: 'user', content: kind },
  );
  const conversation = begin({ input });
  conversation.hear(JSON.stringify(whole([call('a')])));
  for (const one of conversation.read().calls) conversation.ran({ ...RAN, ...one });
  const sent = JSON.parse(conversation.request()) as { input: { type?: string; content?: string }[] };
  expect(sent.input.map(({ type, content }) => type ?? content)).toEqual([
    ...kinds.filter((kind) => kind !== 'l'),
    'function_call',
    'function_call_output',
  ]);
});

test('calls that an earlier answer told become functions, also of tools that are gone', () => {
  const told = { type: 'mcp_call', id: 'mcp_1', server_label: 'crm', name: 'find', arguments: '{}', output: 'found' };
  const gone = { ...told, id: 'mcp_2', server_label: 'old server', name: 'ge.t', output: null, error: { type: 'x' } };
  const { input } = JSON.parse(begin({ input: [told, gone] }).request()) as { input: unknown[] };
  expect(input).toEqual([
    { type: 'function_call', call_id: 'mcp_1', name: 'crm__find', arguments: '{}' },
    { type: 'function_call_output', call_id: 'mcp_1', output: 'found' },
    { type: 'function_call', call_id: 'mcp_2', name: 'old_server__ge_t', arguments: '{}' },
    { type: 'function_call_output', call_id: 'mcp_2', output: '{"type":"x"}' },
  ]);
  expect(() => begin({ input: [{ ...told, arguments: {} }] })).toThrow(/arguments must be a string/);
});
