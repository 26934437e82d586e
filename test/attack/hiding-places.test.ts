import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DocumentWorld } from '../documents/world.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { sample } from './effort.ts';
import { everySurface } from './every-surface.ts';
import { attemptAll, PROTECTING, startHidingWorld, type Carrier, type Hidden } from './hiding.ts';
import { tally } from './tally.ts';

/** An address in every place of a request that may hold one: wherever it stands, it does not arrive at a provider. */

const tried = tally('hiding places x surfaces x modes');
const MAIL = 'ada.lovelace@corp.de';

const chat = (more: object): readonly [string, object] => [
  '/v1/chat/completions',
  { model: 'upstream/m', messages: [{ role: 'user', content: 'Go on.' }], ...more },
];
const messages = (more: object): readonly [string, object] => [
  '/v1/messages',
  { model: 'upstream/m', max_tokens: 9, messages: [{ role: 'user', content: 'Go on.' }], ...more },
];
const responses = (more: object): readonly [string, object] => [
  '/v1/responses',
  { model: 'upstream/m', input: 'Go on.', ...more },
];
const tool = (more: object): object => ({ name: 'f', description: 'Does it.', ...more });
const schema = (more: object): object => ({ type: 'object', properties: { to: { type: 'string', ...more } } });
const turn = (...turns: readonly object[]): object => ({ messages: [{ role: 'user', content: 'Go on.' }, ...turns] });
const call = (source: string): object => ({
  role: 'assistant',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: source } }],
});
const result = (content: unknown): object => ({ role: 'tool', tool_call_id: 'call_1', content });
const input = (...items: readonly object[]): object => ({ input: [{ role: 'user', content: 'Go on.' }, ...items] });

const PLACES: Readonly<Record<string, Carrier>> = {
  'chat: system': (text) =>
    chat({
      messages: [
        { role: 'system', content: text },
        { role: 'user', content: 'Go on.' },
      ],
    }),
  'chat: developer': (text) => chat(turn({ role: 'developer', content: text })),
  'chat: a part': (text) => chat(turn({ role: 'user', content: [{ type: 'text', text }] })),
  'chat: an unknown part': (text) =>
    chat(turn({ role: 'user', content: [{ type: 'hologram', deep: [{ note: text }] }] })),
  'chat: a name of a speaker': (text) => chat(turn({ role: 'user', name: text, content: 'Hello.' })),
  'chat: a refusal': (text) => chat(turn({ role: 'assistant', content: null, refusal: text })),
  'chat: a description of a tool': (text) =>
    chat({ tools: [{ type: 'function', function: tool({ description: text, parameters: schema({}) }) }] }),
  'chat: a description of a parameter': (text) =>
    chat({ tools: [{ type: 'function', function: tool({ parameters: schema({ description: text }) }) }] }),
  'chat: an enum of a parameter': (text) =>
    chat({ tools: [{ type: 'function', function: tool({ parameters: schema({ enum: [text] }) }) }] }),
  'chat: a default of a parameter': (text) =>
    chat({ tools: [{ type: 'function', function: tool({ parameters: schema({ default: { deep: [text] } }) }) }] }),
  'chat: arguments': (text) => chat(turn(call(JSON.stringify({ to: text })), result('Done.'))),
  'chat: a name in arguments': (text) => chat(turn(call(JSON.stringify({ [text]: 1 })), result('Done.'))),
  'chat: broken arguments': (text) => chat(turn(call(`{"to": "${text}", `), result('Done.'))),
  'chat: a result': (text) => chat(turn(call('{}'), result(text))),
  'chat: a result in JSON': (text) => chat(turn(call('{}'), result(JSON.stringify([{ to: [text] }])))),
  'chat: JSON in JSON in JSON': (text) =>
    chat(turn(call('{}'), result(JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ c: text }) }) })))),
  'chat: the id of a result': (text) => chat(turn(call('{}'), { role: 'tool', tool_call_id: text, content: 'Done.' })),
  'chat: metadata': (text) => chat({ metadata: { note: text } }),
  'chat: a name in metadata': (text) => chat({ metadata: { [text]: 'x' } }),
  'chat: user': (text) => chat({ user: text }),
  'chat: an unknown member': (text) => chat({ x_vendor: { deep: [{ note: text }] } }),
  'chat: the name of an unknown member': (text) => chat({ [text]: 1 }),
  'chat: a schema of the answer': (text) =>
    chat({
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: schema({ description: text }) } },
    }),
  'chat: a prediction': (text) => chat({ prediction: { type: 'content', content: text } }),
  'chat: a stop': (text) => chat({ stop: [text] }),
  'chat: the name of a file': (text) =>
    chat(
      turn({
        role: 'user',
        content: [
          { type: 'file', file: { filename: `${text}.txt`, file_data: `data:text/plain;base64,${btoa('Hello.')}` } },
        ],
      }),
    ),
  'chat: a text file': (text) =>
    chat(
      turn({
        role: 'user',
        content: [{ type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${btoa(text)}` } }],
      }),
    ),
  'chat: the address of a picture': (text) =>
    chat(turn({ role: 'user', content: [{ type: 'image_url', image_url: { url: `https://x.example/?u=${text}` } }] })),
  'messages: system': (text) => messages({ system: text }),
  'messages: a block of system': (text) => messages({ system: [{ type: 'text', text }] }),
  'messages: a description of a tool': (text) =>
    messages({ tools: [{ ...tool({ description: text }), input_schema: schema({}) }] }),
  'messages: a schema': (text) => messages({ tools: [{ ...tool({}), input_schema: schema({ description: text }) }] }),
  'messages: the input of a tool': (text) =>
    messages(
      turn(
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { deep: [{ [text]: text }] } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Done.' }] },
      ),
    ),
  'messages: a result': (text) =>
    messages(
      turn(
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text }] }] },
      ),
    ),
  'messages: a document': (text) =>
    messages(
      turn({
        role: 'user',
        content: [
          {
            type: 'document',
            title: text,
            context: text,
            source: { type: 'text', media_type: 'text/plain', data: text },
          },
        ],
      }),
    ),
  'messages: the id of a user': (text) => messages({ metadata: { user_id: text } }),
  'messages: a stop': (text) => messages({ stop_sequences: [text] }),
  'messages: an unknown member': (text) => messages({ x_vendor: [{ note: text }] }),
  'responses: instructions': (text) => responses({ instructions: text }),
  'responses: a message': (text) => responses(input({ role: 'user', content: [{ type: 'input_text', text }] })),
  'responses: arguments': (text) =>
    responses(
      input(
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: JSON.stringify({ to: text }) },
        { type: 'function_call_output', call_id: 'call_1', output: 'Done.' },
      ),
    ),
  'responses: an output': (text) =>
    responses(
      input(
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: text },
      ),
    ),
  'responses: metadata': (text) => responses({ metadata: { note: text } }),
  'responses: user': (text) => responses({ user: text }),
  'responses: a tool': (text) =>
    responses({
      tools: [{ type: 'function', name: 'f', description: text, parameters: schema({ description: text }) }],
    }),
  'completions: a suffix': (text) => ['/v1/completions', { model: 'upstream/m', prompt: 'Go on.', suffix: text }],
  'completions: one of several prompts': (text) => [
    '/v1/completions',
    { model: 'upstream/m', prompt: ['Go on.', text] },
  ],
  'embeddings: one of several': (text) => ['/v1/embeddings', { model: 'upstream/m', input: ['Go on.', text] }],
  'embeddings: user': (text) => ['/v1/embeddings', { model: 'upstream/m', input: 'Go on.', user: text }],
  'images: user': (text) => ['/v1/images/generations', { model: 'upstream/m', prompt: 'A house.', user: text }],
  'images: an unknown member': (text) => [
    '/v1/images/generations',
    { model: 'upstream/m', prompt: 'A house.', x: { y: text } },
  ],
  ...Object.fromEntries(
    Object.entries<(text: string) => object>({
      input: (text) => ({ input: text }),
      'a part of the input': (text) => ({ input: [{ role: 'user', content: [{ type: 'input_text', text }] }] }),
      'an unknown member of a message': (text) => ({ input: [{ role: 'user', content: 'Go on.', x: { deep: text } }] }),
      instructions: (text) => ({ questions: [{ type: 'predicate', instructions: text }] }),
      'the name of a question': (text) => ({ questions: [{ type: 'predicate', name: text, instructions: 'Is it?' }] }),
      choices: (text) => ({
        questions: [
          { type: 'choice', instructions: 'Which?', choices: [{ value: text, description: text }, { value: true }] },
        ],
      }),
      levels: (text) => ({
        questions: [
          { type: 'score', instructions: 'How?', levels: [{ label: 'low' }, { label: text, description: text }] },
        ],
      }),
      'the id of a user': (text) => ({ safety_identifier: text }),
      'an unknown member': (text) => ({ x: { [text]: [text] } }),
    }).flatMap(([place, more]) =>
      ['upstream/m', 'deciding/native', 'deciding/other'].map((model): [string, Carrier] => [
        `decisions: ${place}, ${model}`,
        (text) => [
          '/v1/decisions',
          {
            model,
            input: 'Go on.',
            questions: [{ type: 'predicate', instructions: 'Is it?' }],
            ...more(text),
          },
        ],
      ]),
    ),
  ),
  'speech: instructions': (text) => [
    '/v1/audio/speech',
    { model: 'upstream/m', input: 'Hello.', voice: 'v', instructions: text },
  ],
};

let upstream: Upstream;
let world: DocumentWorld;

beforeAll(async () => {
  upstream = await startUpstream(everySurface());
  world = await startHidingWorld(upstream);
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await upstream?.close();
});

test('wherever it stands, it does not arrive', { timeout: 600_000 }, async () => {
  const texts = { plain: `Write to ${MAIL}`, escaped: `Write to ${MAIL.replace('@', '%40')}` };
  const cases = Object.entries(PLACES).flatMap(([place, carrier]) =>
    Object.entries(texts).flatMap(([how, text]) =>
      PROTECTING.map((mode): Hidden => {
        return { attack: `${place}, ${how}, ${mode}`, carrier, text, secret: ['lovelace'], mode, category: 'EMAIL' };
      }),
    ),
  );
  await attemptAll(world, upstream, tried, sample('hiding places', cases, 0.35));
  expect(upstream.requests.length, 'requests that were sent without what was hidden').toBeGreaterThan(0);
});
