import { expect, test } from 'vitest';
import { chatCodec } from '#/wire/chat/codec.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { createDetectionPool } from './search/detection-pool.ts';
import { inspect } from './inspect.ts';

const detection = createDetectionPool({});
const CODECS = { chat: chatCodec, messages: messagesCodec, responses: responsesCodec };

async function sent(family: keyof typeof CODECS, body: object, entities?: ReadonlySet<string>): Promise<string> {
  const document = readDocument(family, JSON.stringify({ model: 'p/m', ...body }));
  const policy = { mode: 'tokenize', documents: 'off', customTerms: [], ...(entities && { entities }) } as const;
  const { edits } = await inspect(document, CODECS[family], policy, [], detection);
  return render(document.text, edits);
}

const messages = [{ role: 'user', content: 'x' }];
const CARD = '4111111111111111';
const call = { type: 'function', function: { name: 'f', arguments: '{}' } };

test.each([
  ['chat', { messages, user: `user_2024-${CARD}` }],
  ['chat', { messages, metadata: { session_id: `s-1-${CARD}b` } }],
  ['messages', { messages, max_tokens: 9, metadata: { user_id: `acct-12-${CARD}` } }],
  ['responses', { input: 'x', safety_identifier: `a1-${CARD}` }],
  ['responses', { input: 'x', prompt_cache_key: `k-7-${CARD}` }],
  [
    'chat',
    {
      messages: [
        ...messages,
        { role: 'assistant', tool_calls: [{ id: `call.2024-${CARD}`, ...call }] },
        { role: 'tool', tool_call_id: `call.2024-${CARD}`, content: 'done' },
      ],
    },
  ],
] as const)('a number glued to the words of an id of a user or a call becomes a tag: %s %j', async (family, body) => {
  const text = await sent(family, body);
  expect(text).toBe(JSON.stringify({ model: 'p/m', ...body }).replaceAll(CARD, '«CREDIT_CARD_1»'));
  expect(await sent(family, body, new Set(['EMAIL']))).toContain(CARD);
});

test.each([
  { messages, user: 'S0365-66912007000200009-1'.replace('66912007000200009', '66912007000200008') },
  { messages, user: `1${CARD}` },
  { messages, metadata: { number: `12-${CARD}` } },
])('what is no id, or no number of somebody, stays: %j', async (body) => {
  expect(await sent('chat', body)).toBe(JSON.stringify({ model: 'p/m', ...body }));
});

test('a picture between two texts parts no address', async () => {
  const content = [
    { type: 'text', text: 'mail ada@' },
    { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'auto' } },
    { type: 'text', text: 'corp.de' },
  ];
  expect(await sent('chat', { messages: [{ role: 'user', content }] })).not.toMatch(/ada@|corp/);
});
