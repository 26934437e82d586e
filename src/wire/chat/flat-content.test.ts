import { expect, test } from 'vitest';
import { ChatStreamReader } from './read-stream.ts';
import { flatAnswer } from './flat-content.ts';

const CHUNKS = [
  {
    type: 'thinking',
    thinking: [
      { type: 'text', text: 'let me ' },
      { type: 'text', text: 'see' },
    ],
  },
  { type: 'text', text: 'It is ' },
  { type: 'reference', reference_ids: [1] },
  { type: 'text', text: 'noon.' },
];

test('chunks of a whole answer become its text and its thoughts', () => {
  const message = { role: 'assistant', content: CHUNKS, tool_calls: null };
  const body = {
    id: 'a',
    choices: [{ index: 0, message, finish_reason: 'stop' }, { index: 1 }, null],
    usage: { a: 1 },
  };
  expect(flatAnswer(body)).toEqual({
    ...body,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'It is noon.', reasoning_content: 'let me see', tool_calls: null },
        finish_reason: 'stop',
      },
      { index: 1 },
      null,
    ],
  });
  const silent = { choices: [{ message: { content: [] } }] };
  expect(flatAnswer(silent)).toEqual({ choices: [{ message: { content: '' } }] });
});

test('chunks of a delta are what it adds', () => {
  const delta = (content: unknown) => ({ choices: [{ index: 0, delta: { content } }] }) as never;
  expect(flatAnswer(delta(CHUNKS.slice(0, 1)))).toEqual({
    choices: [{ index: 0, delta: { reasoning_content: 'let me see' } }],
  });
  expect(flatAnswer(delta(CHUNKS.slice(1, 2)))).toEqual({ choices: [{ index: 0, delta: { content: 'It is ' } }] });
  expect(flatAnswer(delta([{ type: 'reference' }]))).toEqual({ choices: [{ index: 0, delta: {} }] });
});

test.each([
  [{ choices: [{ index: 0, delta: { content: 'hi' } }] }, false],
  [{ choices: [{ index: 0, delta: { content: [] } }] }, true],
  [{ choices: [] }, false],
] as const)('a stream tells which of its frames deviate: %j', (body, expected) => {
  const facts = new ChatStreamReader().read({ event: undefined, data: JSON.stringify(body), raw: '' });
  expect(facts.deviates).toBe(expected);
  expect(flatAnswer(body) !== undefined).toBe(expected);
});

test.each([{}, { choices: null }, { choices: [{ message: { content: 'hi' } }] }, { choices: [7] }])(
  '%j is left as it is',
  (body) => {
    expect(flatAnswer(body)).toBeUndefined();
  },
);
