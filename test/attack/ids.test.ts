import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IdSearch } from '#/inspect/ids.ts';
import { createDetectionPool } from '#/inspect/search/detection-pool.ts';
import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { randomFor } from '../harness/random.ts';
import { allRecordings, recordedText } from '../harness/recordings.ts';
import { everySurface } from './every-surface.ts';
import { skipUnless } from '../harness/skip.ts';
import { tally } from './tally.ts';

/** What is called an id, sealed, a model or a flag is looked at like anything else that leaves. */

const tried = tally('ids and other strings that are no text');
const CARD = '4111111111111111';
const IBAN = 'DE89370400440532013000';
const TERM = 'Falconery';
const SECRETS: readonly string[] = [
  ...[CARD, `call_${CARD}`, IBAN, `fc_${IBAN}`, `call_${TERM}_1`, '4111-1111-1111-1111'],
  ...[`user${CARD}`, `call_2024-${CARD}mini`, `call_abc${IBAN}x`, `step${TERM}2`],
];
const MODES = { tokenize: 'Tokenize', mask: 'Mask', block: 'Block', log: 'AllowLog' } as const;
type Mode = keyof typeof MODES;
const PROTECTING: readonly Mode[] = ['tokenize', 'mask', 'block'];

let upstream: Upstream;
let world: DocumentWorld;

beforeAll(async () => {
  upstream = await startUpstream(everySurface());
  world = await startDocumentWorld({
    upstreamUrl: upstream.url,
    prices: [{ model: 'upstream/*', input: '1', output: '1' }],
    applications: Object.fromEntries(
      Object.entries(MODES).map(([name, mode]) => [name, { policy: { dlp: { mode } } }]),
    ),
  });
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await upstream?.close();
});

type Request = readonly [path: string, body: object];
const gw = { remove: [TERM] };
const MODEL = 'upstream/m';

/** Places of a pair: both ends are to have the same id afterwards. */
const PAIRS: Readonly<Record<string, (id: string) => Request>> = {
  'chat tool calls': (id) => [
    '/v1/chat/completions',
    {
      model: MODEL,
      gw,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: id, content: 'done' },
      ],
    },
  ],
  'messages tool use': (id) => [
    '/v1/messages',
    {
      model: MODEL,
      gw,
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
      ],
    },
  ],
  'responses function calls': (id) => [
    '/v1/responses',
    {
      model: MODEL,
      gw,
      input: [
        { role: 'user', content: 'x' },
        { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: 'done' },
      ],
    },
  ],
};

async function ask(
  as: Mode,
  [path, body]: Request,
  headers = {},
): Promise<{ status: number; text: string; sent?: string }> {
  const before = upstream.requests.length;
  const answer = await world.post(path, body, { as, headers });
  const text = await answer.text();
  const sent = upstream.requests.slice(before).at(-1);
  return {
    status: answer.status,
    text,
    ...(sent && { sent: `${sent.path} ${JSON.stringify(sent.headers)} ${sent.body}` }),
  };
}

const tells = (text: string | undefined): boolean =>
  text !== undefined && [CARD, IBAN, TERM, '4111-1111'].some((secret) => text.includes(secret));

test.each(PROTECTING)('ids of pairs under %s: the same id at both ends, or a refusal', async (as) => {
  for (const [place, request] of Object.entries(PAIRS)) {
    for (const id of SECRETS) {
      const what = `${place}: ${id} under ${as}`;
      const { status, sent } = await ask(as, request(id));
      if (tells(sent)) tried.passed(what);
      else tried.held(what);
      expect([what, tells(sent)]).toEqual([what, false]);
      if (as === 'block' && !id.includes(TERM)) expect([what, status]).toEqual([what, 422]);
      else if (as !== 'block') {
        expect([what, status]).toEqual([what, 200]);
        const ids = [...(sent ?? '').matchAll(/gwref\d{4}/g)].map(([ref]) => ref);
        expect([what, ids]).toEqual([what, ['gwref0001', 'gwref0001']]);
      }
    }
  }
});

const KEPT: Readonly<Record<string, (value: string) => Request>> = {
  previous_response_id: (value) => ['/v1/responses', { model: MODEL, gw, input: 'x', previous_response_id: value }],
  conversation: (value) => ['/v1/responses', { model: MODEL, gw, input: 'x', conversation: value }],
  encrypted_content: (value) => [
    '/v1/responses',
    { model: MODEL, gw, input: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: value }] },
  ],
  'a signature': (value) => [
    '/v1/messages',
    {
      model: MODEL,
      gw,
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'x', signature: value },
            { type: 'text', text: 'y' },
          ],
        },
        { role: 'user', content: 'x' },
      ],
    },
  ],
  'redacted thinking': (value) => [
    '/v1/messages',
    {
      model: MODEL,
      gw,
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'redacted_thinking', data: value },
            { type: 'text', text: 'y' },
          ],
        },
        { role: 'user', content: 'x' },
      ],
    },
  ],
};

test.each(PROTECTING)('sealed bytes and ids of what is kept, under %s', async (as) => {
  const values = [CARD, IBAN, Buffer.from('write to ada@example.com or so').toString('base64')];
  for (const [place, request] of Object.entries(KEPT)) {
    for (const value of values) {
      const what = `${place}: ${value} under ${as}`;
      const { sent } = await ask(as, request(value));
      const through = sent?.includes(value) === true;
      if (through) tried.passed(what);
      else tried.held(what);
      if (value !== values[2] || !['previous_response_id', 'conversation'].includes(place))
        expect([what, through]).toEqual([what, false]);
    }
  }
});

test.each(['4.111111111111111e15', '-4111111111111111', '4111111111111111.0', '411111111111111100e-2'])(
  'a card as the number %s',
  async (source) => {
    const before = upstream.requests.length;
    const text = `{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"n_card":${source}}`;
    const headers = { authorization: `Bearer ${world.keys['tokenize']}`, 'content-type': 'application/json' };
    const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body: text });
    await answer.text();
    expect(
      upstream.requests
        .slice(before)
        .map(({ body }) => body)
        .join(),
    ).toContain('"n_card":"«CREDIT_CARD_1»"');
    tried.held(source);
  },
);

/** A number glued to the words of an id. */
const GLUED = [`upstream/gpt-oss-120b${CARD}`, `upstream/gpt-5.4-${CARD}mini`, `upstream/m${IBAN}x`];

test('a model id with personal data is refused before it is written down, in every mode', async () => {
  for (const as of Object.keys(MODES) as Mode[]) {
    for (const model of ['upstream/ada@example.com', `upstream/${CARD}`, `upstream/m-${IBAN}`, ...GLUED]) {
      const before = upstream.requests.length;
      const answer = await world.post(
        '/v1/chat/completions',
        { model, messages: [{ role: 'user', content: 'x' }] },
        { as },
      );
      const text = await answer.text();
      expect([as, model, answer.status, upstream.requests.length]).toEqual([as, model, 400, before]);
      expect(text).not.toContain(model);
      expect(JSON.stringify(await world.row(answer))).not.toContain(model.slice(9));
      tried.held(`${model} under ${as}`);
    }
  }
  const passed = await world.post('/v1/images/generations', { model: `upstream/${CARD}`, prompt: 'x' }, { as: 'log' });
  expect(passed.status).toBe(400);
  expect(JSON.stringify(await world.row(passed))).not.toContain(CARD);
});

test('a beta header is a list of flags', async () => {
  const [path, body] = PAIRS['messages tool use']!('toolu_01A');
  for (const flags of [
    'ada@example.com',
    'Ada Lovelace',
    'a'.repeat(65),
    Array.from({ length: 33 }, () => 'a').join(),
  ]) {
    const { status, sent } = await ask('log', [path, body], { 'anthropic-beta': flags });
    expect([flags, status, sent]).toEqual([flags, 400, undefined]);
    tried.held(`beta ${flags.slice(0, 20)}`);
  }
  for (const as of PROTECTING) {
    for (const flag of [CARD, `context-1m-2025-${CARD}`]) {
      const { status, sent } = await ask(as, [path, body], { 'anthropic-beta': flag });
      expect([as, flag, status, sent]).toEqual([as, flag, 422, undefined]);
    }
  }
  expect((await ask('tokenize', [path, body], { 'anthropic-beta': 'context-1m-2025-08-07, x.y_z' })).status).toBe(200);
});

test.each(PROTECTING)('ids in paths and queries under %s', async (as) => {
  const headers = { 'x-gw-provider': 'upstream' };
  for (const path of [
    `/v1/videos/${CARD}`,
    `/v1/videos?after=${CARD}`,
    `/v1/videos?after=video_${IBAN}`,
    `/v1/videos/video_a${CARD}b`,
  ]) {
    const before = upstream.requests.length;
    const answer = await world.get(path, { as, headers });
    await answer.text();
    const through = upstream.requests.slice(before).some((one) => tells(one.path));
    if (through) tried.passed(`${path} under ${as}`);
    else tried.held(`${path} under ${as}`);
    expect([path, through]).toEqual([path, false]);
  }
});

test('no id that machines make by chance is taken for anything', { timeout: 120_000 }, () => {
  const search = new IdSearch(createDetectionPool(), {}, []);
  const numbers = randomFor(20_261_122, 'ids');
  const random = (): number => numbers.next();
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const word = (length: number): string => Array.from({ length }, () => letters[Math.floor(random() * 62)]).join('');
  const hex = (length: number): string => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  const makers: readonly (() => string)[] = [
    () => `call_${word(24)}`,
    () => `toolu_01${word(22)}`,
    () => `msg_${hex(48)}`,
    () => `resp_${hex(64)}`,
    () => `fc_${hex(50)}`,
    () => `chatcmpl-tool-${hex(32)}`,
    () => `tooluse_${word(22)}`,
    () => randomUUID(),
    () => word(9),
    () => hex(32),
  ];
  const taken: string[] = [];
  for (let index = 0; index < 100_000; index += 1) {
    const id = makers[index % makers.length]!();
    if (search.inId(id).length > 0) taken.push(id);
  }
  for (let index = 0; index < 2000; index += 1) {
    const sealed = randomBytes(40 + (index % 900)).toString('base64');
    if (search.inSealed(sealed).length > 0) taken.push(sealed);
  }
  expect(taken).toEqual([]);
});

const RECORDED = skipUnless(allRecordings().length > 0, 'no recorded provider answers beside the repository');

test('no id or signature of recorded answers is taken for anything', RECORDED, () => {
  const search = new IdSearch(createDetectionPool(), {}, []);
  const named = /"(?:id|call_id|item_id|tool_call_id|signature|encrypted_content|data)": ?"([A-Za-z0-9+/=_-]{6,})"/g;
  const seen = allRecordings().flatMap((name) => Array.from(recordedText(name).matchAll(named), ([, id]) => id!));
  expect(seen.length).toBeGreaterThan(100);
  expect(seen.filter((id) => search.inId(id).length > 0 || search.inSealed(id).length > 0)).toEqual([]);
});
