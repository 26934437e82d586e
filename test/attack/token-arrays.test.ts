import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { resource } from '../harness/gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { everySurface } from './every-surface.ts';
import { tally } from './tally.ts';

/** A list of tokens is a text in another spelling: it is read, or refused, or named as what nobody looked at. */

const tried = tally('token lists');
const MAIL = 'ada@example.com';
const SAID = `日本語 😀 write to ${MAIL}, é`;
const EMBEDDING = 'upstream/text-embedding-3-small';
const COMPLETION = 'upstream/gpt-3.5-turbo-instruct';
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
    more: [
      resource('ModelAlias', 'embed', { alias: 'gw/embed', strategy: 'Failover', targets: [{ model: EMBEDDING }] }),
      resource('ModelAlias', 'unlike', {
        alias: 'gw/unlike',
        strategy: 'Failover',
        targets: [{ model: EMBEDDING }, { model: 'upstream/gpt-4o', priority: 1 }],
      }),
    ],
  });
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await upstream?.close();
});

interface Tried {
  readonly status: number;
  readonly text: string;
  readonly unscanned: readonly string[];
  readonly sent: Record<string, unknown> | undefined;
  readonly sentText: string | undefined;
}

async function ask(as: Mode, member: 'input' | 'prompt', model: string, value: unknown, more = {}): Promise<Tried> {
  const path = member === 'input' ? '/v1/embeddings' : '/v1/completions';
  const before = upstream.requests.length;
  const answer = await world.post(path, { model, [member]: value, ...more }, { as });
  const text = await answer.text();
  const sentText = upstream.requests.slice(before).at(-1)?.body;
  const sent = sentText === undefined ? undefined : (JSON.parse(sentText) as Record<string, unknown>);
  const unscanned = answer.headers.get('x-gw-unscanned')?.split(', ') ?? [];
  return { status: answer.status, text, unscanned, sent, sentText };
}

const tokens = [...cl100k(SAID)];
const PLACES: readonly (readonly ['input' | 'prompt', string, (list: readonly number[]) => unknown])[] = [
  ['input', EMBEDDING, (list) => list],
  ['input', EMBEDDING, (list) => [[...cl100k('harmless')], list]],
  ['input', 'gw/embed', (list) => [list]],
  ['prompt', COMPLETION, (list) => list],
  ['prompt', COMPLETION, (list) => [list]],
];

test.each(PROTECTING)('personal data in tokens does not leave under %s', async (as) => {
  for (const [index, [member, model, shape]] of PLACES.entries()) {
    const what = `${member} ${index} under ${as}`;
    const { status, sentText } = await ask(as, member, model, shape(tokens));
    const leaked = sentText !== undefined && (sentText.includes(String(tokens.slice(-6))) || sentText.includes(MAIL));
    if (leaked) tried.passed(what);
    else tried.held(what);
    expect([what, leaked, status]).toEqual([what, false, as === 'block' ? 422 : 200]);
  }
});

test('what is found leaves as a text with a tag, and so do the other lists', async () => {
  const { sent } = await ask('tokenize', 'input', EMBEDDING, [[...cl100k('harmless')], tokens]);
  expect(sent?.['input']).toEqual(['harmless', SAID.replace(MAIL, '«EMAIL_1»')]);
});

test('where nothing is found the bytes pass as they came, in every mode', async () => {
  for (const as of Object.keys(MODES) as Mode[]) {
    const list = [[...cl100k('日本語 😀 nothing here')], [1, 2, 3]];
    const { status, sentText, unscanned } = await ask(as, 'input', EMBEDDING, list);
    expect([as, status, sentText]).toEqual([as, 200, JSON.stringify({ model: 'text-embedding-3-small', input: list })]);
    expect(unscanned).not.toContain('tokens');
  }
});

test('a model whose tokens nobody can read is refused, or named where policy only counts', async () => {
  for (const model of ['upstream/bge-m3', 'gw/unlike', 'upstream/constructor']) {
    for (const as of PROTECTING) {
      const { status, text, sentText } = await ask(as, 'input', model, [tokens]);
      expect([model, as, status, sentText]).toEqual([model, as, 422, undefined]);
      expect(text).toContain('Send text instead of tokens');
      tried.held(`${model} under ${as}`);
    }
    const { status, unscanned } = await ask('log', 'input', model, [tokens]);
    expect([model, status]).toEqual([model, 200]);
    expect(unscanned).toContain('tokens');
    tried.named(`${model} under log`);
  }
  const removing = await ask('log', 'input', 'upstream/bge-m3', [tokens], { gw: { remove: ['Ada'] } });
  expect([removing.status, removing.sentText]).toEqual([422, undefined]);
});

test.each([
  ['numbers of another vocabulary', [...o200k(SAID), 150_000]],
  ['a number beyond every vocabulary', [99_999_999]],
  ['a negative number', [-1]],
  ['a fraction', [1.5]],
  ['a text among tokens', [1, MAIL]],
  ['a list among tokens', [1, [2]]],
])('%s: refused, and not sent', async (what, list) => {
  const { status, text, sentText } = await ask('tokenize', 'input', EMBEDDING, list);
  expect([what, status, sentText]).toEqual([what, 400, undefined]);
  expect(text).not.toContain(MAIL);
  tried.held(what);
});

test('prompts in tokens under the names that servers of open models know', async () => {
  for (const name of ['prompt_token_ids', 'input_ids', 'token_ids']) {
    const body = { model: 'upstream/m', messages: [{ role: 'user', content: 'x' }], [name]: tokens };
    const before = upstream.requests.length;
    const answer = await world.post('/v1/chat/completions', body, { as: 'tokenize' });
    await answer.text();
    expect([name, answer.status, upstream.requests.length]).toEqual([name, 422, before]);
    tried.held(name);
  }
});

test('a very long list does not keep others waiting', { timeout: 60_000 }, async () => {
  const list = Array.from({ length: 200_000 }, (_, index) => 1000 + (index % 90_000));
  const long = ask('tokenize', 'input', EMBEDDING, list);
  const began = performance.now();
  const { status } = await fetch(`${world.gateway.adminUrl}/livez`);
  const waited = performance.now() - began;
  expect(status).toBe(200);
  expect((await long).status).toBeLessThan(500);
  // Reading all of it at once takes a good part of a second, many times that on a busy machine.
  expect(waited).toBeLessThan(5000);
  tried.held('200,000 tokens');
});
