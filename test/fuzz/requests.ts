import type { Random } from '../harness/random.ts';
import { CASES } from '../matrix/cases.ts';
import { KINDS } from '../matrix/kinds/kinds.ts';
import { chat } from '../matrix/surfaces/chat.ts';
import { messages } from '../matrix/surfaces/messages.ts';
import { responses } from '../matrix/surfaces/responses.ts';
import type { FuzzCall } from './http-world.ts';
import { mutateBytes, mutateJson, type Json } from './mutate.ts';
import { planted } from './secrets.ts';
import type { Tenants } from './tenants.ts';

/** A well-formed request to begin with. */
interface Seed {
  readonly path: string;
  readonly body: Json;
}

const CONVERSATIONS = [chat, messages, responses];
/** The kinds of provider that take OpenAI's other calls. */
const OPENAI = 'openai/gpt-5.4-mini';

const OTHERS: readonly [Seed, ...Seed[]] = [
  { path: '/v1/completions', body: { model: OPENAI, prompt: 'Say hello', max_tokens: 9 } },
  { path: '/v1/completions', body: { model: OPENAI, prompt: ['One', 'Two'], stream: true, max_tokens: 9 } },
  { path: '/v1/embeddings', body: { model: OPENAI, input: ['One text', 'another'], encoding_format: 'base64' } },
  { path: '/v1/embeddings', body: { model: OPENAI, input: [[9906, 1917]] } },
  { path: '/v1/moderations', body: { model: OPENAI, input: [{ type: 'text', text: 'Is this harmful?' }] } },
  {
    path: '/v1/ocr',
    body: { model: 'gw/ocr', document: { type: 'document_url', document_url: 'data:image/png;base64,AAAA' } },
  },
  { path: '/v1/images/generations', body: { model: OPENAI, prompt: 'A lighthouse', n: 1, size: '1024x1024' } },
  {
    path: '/v1/systemone',
    body: {
      model: 'gw/typed',
      state: { mail: 'It burns!' },
      questions: { urgent: { type: 'noul', instructions: 'It is urgent.' } },
    },
  },
  {
    path: '/v1/decisions',
    body: {
      model: OPENAI,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'It burns!' }] }],
      questions: [{ type: 'choice', name: 'team', instructions: 'Which?', choices: [{ value: 'a' }, { value: true }] }],
    },
  },
  { path: '/v1/audio/speech', body: { model: OPENAI, input: 'Read this aloud.', voice: 'alloy' } },
  { path: '/v1/messages/count_tokens', body: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] } },
];

const PATHS: readonly [string, ...string[]] = [
  ...([
    '/v1/models',
    '/v1/models/openai/gpt-5.4-mini',
    '/anthropic/v1/models?limit=2',
    '/v1/videos',
    '/v1/files',
  ] as const),
  ...[
    '/v1/files/openai~file-1',
    '/v1/videos/openai~video_1/content',
    '/v1/files/..%2f..',
    '/v1/files/%00',
    '/v1/nothing',
  ],
];

const HEADERS: readonly [Readonly<Record<string, string>>, ...Readonly<Record<string, string>>[]] = [
  {},
  {},
  {},
  { 'x-gw-upstream-timeout': '1' },
  { 'x-gw-upstream-timeout': 'soon' },
  { 'x-gw-dlp': 'off' },
  { 'x-gw-provider': 'openai' },
  { 'anthropic-beta': 'context-1m-2025-08-07,next' },
  { 'anthropic-version': '2023-06-01' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16le' },
  { 'content-encoding': 'gzip' },
  { authorization: 'Bearer gw_test_nobody' },
  { accept: 'text/html' },
];

/**
 * The next call of a client that changes well-formed requests at random, personal data planted in most of them. `plain`:
 * most are left as they are, so that the providers are asked.
 */
export function nextCall(tenants: Tenants, random: Random, plain: boolean): FuzzCall {
  const tenant = random.pick(tenants);
  const more = random.pick(HEADERS);
  const headers = {
    authorization: `Bearer ${tenant.key}`,
    'content-type': 'application/json',
    ...(random.chance(0.5) && { 'anthropic-version': '2023-06-01' }),
    ...more,
  };
  const known = !('authorization' in more);
  if (random.chance(0.05)) {
    return { tenant, method: random.pick(['GET', 'DELETE']), path: random.pick(PATHS), headers, sealed: false };
  }
  const { path, body } = seedOf(random);
  const changed = random.chance(plain ? 0.1 : 0.85) ? mutateJson(body, random) : body;
  const spoken = random.chance(0.7) ? planted(changed, random) : changed;
  const text = JSON.stringify(spoken);
  return {
    tenant,
    method: 'POST',
    path,
    headers,
    body: random.chance(0.05) ? mutateBytes(Buffer.from(text), random) : text,
    leaves: random.chance(0.02),
    sealed: known && !path.endsWith('/count_tokens'),
  };
}

function seedOf(random: Random): Seed {
  if (random.chance(0.2)) return random.pick(OTHERS);
  const surface = CONVERSATIONS[random.whole(0, CONVERSATIONS.length - 1)] ?? chat;
  const one = CASES[random.whole(0, CASES.length - 1)];
  const kind = KINDS[random.whole(0, KINDS.length - 1)];
  if (!one || !kind) throw new Error('the matrix is empty');
  const body = surface.ask(one, `${kind.name}/${kind.model}`, random.chance(0.5), kind.budget && 'budget') as Json;
  return { path: surface.path, body: random.chance(0.1) ? withExtension(body) : body };
}

function withExtension(body: Json): Json {
  return { ...(body as Record<string, Json>), gw: { remove: ['capital', { term: 'France', label: 'place' }] } };
}
