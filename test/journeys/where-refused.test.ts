import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Refusals of data protection say where, never what, and for each cause what it is. No engine is there. */

const MAIL = 'ada@lovelace.example';
const POLICIES = {
  block: { mode: 'Block', documents: 'Off', images: 'Pass' },
  pictures: { mode: 'Block', documents: 'Off' },
  refuse: { mode: 'AllowLog', documents: 'Refuse' },
  anonymize: { mode: 'AllowLog', documents: 'Anonymize' },
};
type As = keyof typeof POLICIES;
const keys = Object.fromEntries(Object.keys(POLICIES).map((name) => [name, newKey()])) as Record<As, string>;
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    resources: [
      ...tenant({ upstreamUrl: upstream.url, key: newKey() }),
      ...Object.entries(POLICIES).flatMap(([name, dlp]) => [
        resource('Workload', name, { organizationRef: { name: 'acme' } }),
        resource('VirtualKey', `${name}-key`, {
          workloadRef: { name },
          hash: { algorithm: 'SHA256', value: hash('sha256', keys[name as As], 'hex') },
        }),
        resource('Policy', name, { targetRefs: [{ kind: 'Workload', name }], defaults: { dlp } }),
      ]),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const ask = async (as: As, body: object, path = '/v1/chat/completions') => {
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[as]}` },
    body: JSON.stringify({ model: 'upstream/m', max_tokens: 5, ...body }),
  });
  const text = await answer.text();
  if (upstream.requests.length > 0) throw new Error('something was sent');
  const { error } = JSON.parse(text) as { error: { message: string; param?: string; code?: string } };
  return { ...error, status: answer.status, text };
};
const part = (type: string, more: object): object => ({ messages: [{ role: 'user', content: [{ type, ...more }] }] });
const DATA = 'data:application/pdf;base64,JVBERi0xLjcK';

describe('what the mode Block refuses', () => {
  const turns = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: 'Hi.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: `Write to ${MAIL}.` },
      ],
    },
  ];

  test('is told by its place, in every envelope', async () => {
    const chat = await ask('block', { messages: turns });
    expect(chat).toMatchObject({ status: 422, code: 'data_protection', param: 'messages[3].content[1]' });
    expect(chat.message).toContain('at messages[3].content[1]. Nothing was sent.');
    expect(chat.text).not.toContain('ada');
    const messages = await ask('block', { messages: turns.slice(1) }, '/v1/messages');
    expect([messages.status, messages.text.includes('ada')]).toEqual([422, false]);
    expect(messages.message).toContain('at messages[2].content[1].');
  });

  test.each([
    ['a plain text', { messages: [{ role: 'user', content: MAIL }] }, 'messages[0].content'],
    [
      'two places',
      { messages: [0, 1].map(() => ({ role: 'user', content: MAIL })) },
      'messages[0].content, messages[1].content',
    ],
    [
      'a member that has a name of the caller’s own',
      { messages: [{ role: 'user', content: 'Hi.' }], metadata: { lovelace: MAIL } },
      'metadata',
    ],
    [
      'what a tool is told',
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: `{"lovelace":"${MAIL}"}` } }],
          },
        ],
      },
      'messages[0].tool_calls[0]',
    ],
  ])('%s', async (_name, body, places) => {
    const refused = await ask('block', body);
    expect(refused.message).toContain(`, at ${places}. Nothing was sent.`);
    expect(refused.text).not.toContain('lovelace');
  });
});

describe('content that nobody reads', () => {
  test.each<[As, string, object, RegExp]>([
    [
      'refuse',
      'a file',
      part('file', { file: { filename: 'a.pdf', file_data: DATA } }),
      /not allowed \(dlp.documents: Refuse\)/,
    ],
    [
      'refuse',
      'a picture',
      part('image_url', { image_url: { url: 'https://x.example/a.png' } }),
      /an image may show a document, and documents are not allowed/,
    ],
    [
      'anonymize',
      'an address',
      part('document_url', { document_url: 'https://x.example/d.pdf' }),
      /only inline content is inspected/,
    ],
    [
      'anonymize',
      'no engine',
      part('file', { file: { filename: 'a.pdf', file_data: DATA } }),
      /runs without the inference engine/,
    ],
    [
      'pictures',
      'a picture and no engine',
      part('image_url', { image_url: { url: 'data:image/png;base64,AAAA' } }),
      /images must be inspected \(dlp.images: Inspect\).*without the inference engine/,
    ],
    [
      'block',
      'sound',
      part('input_audio', { input_audio: { data: 'AAAA', format: 'wav' } }),
      /audio cannot be inspected, and the mode Block/,
    ],
  ])('%s, %s: one cause, one sentence, and its place', async (as, _name, body, told) => {
    const refused = await ask(as, body);
    expect(refused).toMatchObject({ status: 422, code: 'data_protection', param: 'messages[0].content[0]' });
    expect(refused.message).toMatch(told);
    expect(refused.message).not.toContain('an attached document cannot be scanned');
  });

  test('is told alike where a door is shut for want of the engine', async () => {
    const ocr = await ask('refuse', { model: 'gw/ocr', document: { document_url: DATA } }, '/v1/ocr');
    const decision = await ask('refuse', { model: 'gw/typed/router', state: 'Hi.' }, '/v1/systemone');
    const read = await ask('anonymize', part('file', { file: { filename: 'a.pdf', file_data: DATA } }));
    for (const { message } of [ocr, decision, read]) {
      expect(message).toMatch(/[Tt]his installation runs without the inference engine \(GW_INFERENCE=off\)/);
    }
    expect([ocr.status, decision.status, read.status]).toEqual([404, 503, 422]);
  });
});
