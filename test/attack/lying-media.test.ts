import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { json } from '../harness/answers.ts';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';

/** As `lying-providers.test.ts`, for what is not a conversation: vectors, pictures and sound. */

const tried = tally('usage of media that providers make up');
const key = newKey();
/** Nano-euro a million tokens; a picture; a second. */
const [INPUT, OUTPUT, IMAGE, SECOND] = [2000n, 8000n, 40_000_000n, 6_000_000n];
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: tenant({
      upstreamUrl: upstream.url,
      key,
      prices: [
        { model: 'upstream/tokens', input: '2', output: '8' },
        { model: 'upstream/picture', unit: 'Image', input: '0.04' },
        { model: 'upstream/second', unit: 'Second', input: '0.006' },
      ],
    }),
    redisUrl: inject('redisUrl'),
    databaseUrl,
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const PROMPT = 'Say hello.';
/** As large as pictures are: nobody counts its bytes as text. */
const picture = { b64_json: 'A'.repeat(400_000) };
/** A second of sound, as it is mostly sent. */
const SOUND = new Uint8Array(16_000);

function form(model: string, file: string): FormData {
  const fields = new FormData();
  fields.set('model', `upstream/${model}`);
  if (file === 'image') fields.set('prompt', PROMPT);
  fields.set(file, new Blob([SOUND]), file === 'image' ? 'a.png' : 'a.mp3');
  return fields;
}

interface Lane {
  readonly path: string;
  readonly model: 'tokens' | 'picture' | 'second';
  readonly body: (model: string) => FormData | object;
  /** What can be true, and what it costs. */
  readonly truth: { readonly answer: object; readonly cost: bigint; readonly source?: 'estimated' };
  readonly lies: readonly object[];
  /** More than our own count costs, and less than any lie. */
  readonly most: bigint;
}

const embedded = (usage: object): object => ({ object: 'list', data: [{ index: 0, embedding: [0.5] }], usage });
const drawn = (more: object, count = 1): object => ({ created: 1, data: Array(count).fill(picture), ...more });
const heard = (more: object): object => ({ text: 'Hello.', ...more });
const COUNTS: readonly unknown[] = [1e18, 1e300, 1e6, -9, 9.5, '9'];
const tokens = (input: unknown, output: unknown): object => ({ input_tokens: input, output_tokens: output });
const LIES_OF_TOKENS = [...COUNTS.map((one) => tokens(one, 3)), ...COUNTS.map((one) => tokens(9, one))];

const LANES: readonly Lane[] = [
  {
    path: '/v1/embeddings',
    model: 'tokens',
    body: (model) => ({ model, input: PROMPT }),
    truth: { answer: embedded({ prompt_tokens: 9, total_tokens: 9 }), cost: 9n * INPUT },
    lies: [...COUNTS, 0].map((one) => embedded({ prompt_tokens: one, total_tokens: one })),
    most: 60n * INPUT,
  },
  {
    path: '/v1/images/generations',
    model: 'tokens',
    body: (model) => ({ model, prompt: PROMPT }),
    truth: { answer: drawn({ usage: tokens(9, 1056) }), cost: 9n * INPUT + 1056n * OUTPUT },
    lies: LIES_OF_TOKENS.map((usage) => drawn({ usage })),
    most: 60n * INPUT + 1056n * OUTPUT,
  },
  {
    path: '/v1/images/generations',
    model: 'picture',
    body: (model) => ({ model, prompt: PROMPT, n: 2 }),
    truth: { answer: drawn({}, 2), cost: 2n * IMAGE, source: 'estimated' },
    lies: [drawn({}, 3), drawn({}, 20)],
    most: 2n * IMAGE,
  },
  {
    path: '/v1/images/edits',
    model: 'tokens',
    body: () => form('tokens', 'image'),
    truth: { answer: drawn({ usage: tokens(9, 1056) }), cost: 9n * INPUT + 1056n * OUTPUT },
    lies: LIES_OF_TOKENS.map((usage) => drawn({ usage })),
    most: 60n * INPUT + 1056n * OUTPUT,
  },
  {
    path: '/v1/images/edits',
    model: 'picture',
    body: () => form('picture', 'image'),
    truth: { answer: drawn({}), cost: IMAGE, source: 'estimated' },
    lies: [drawn({}, 2), drawn({}, 20)],
    most: IMAGE,
  },
  {
    path: '/v1/audio/transcriptions',
    model: 'tokens',
    body: () => form('tokens', 'file'),
    truth: { answer: heard({ usage: tokens(17, 3) }), cost: 17n * INPUT + 3n * OUTPUT },
    lies: LIES_OF_TOKENS.map((usage) => heard({ usage })),
    most: 60n * INPUT + 60n * OUTPUT,
  },
  {
    path: '/v1/audio/transcriptions',
    model: 'second',
    body: () => form('second', 'file'),
    truth: { answer: heard({ usage: { type: 'duration', seconds: 1 } }), cost: SECOND, source: 'estimated' },
    lies: [1e18, 1e6, 1e300].flatMap((seconds) => [
      heard({ usage: { type: 'duration', seconds } }),
      heard({ duration: seconds }),
    ]),
    // The words of the form are heard, too: nobody looks at where its file begins.
    most: 2n * SECOND,
  },
];

const PASSED_ON = new Set(['/v1/images/edits', '/v1/audio/transcriptions']);

async function call({ path, model, body }: Lane, answer: object) {
  upstream.respond(json(answer));
  const sent = body(`upstream/${model}`);
  const isForm = sent instanceof FormData;
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...(!isForm && { 'content-type': 'application/json' }) },
    body: isForm ? sent : JSON.stringify(sent),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const row = await rowOf(databaseUrl, response.headers.get('x-request-id'));
  return { row: row as unknown as { cost_nano_eur: string; usage_source: string; usage: object }, text };
}

describe.each(LANES)('$path by $model', (lane) => {
  test('what can be true is billed to the unit', async () => {
    const { row, text } = await call(lane, lane.truth.answer);
    expect(row, text.slice(-200)).toMatchObject({
      cost_nano_eur: String(lane.truth.cost),
      usage_source: lane.truth.source ?? 'provider',
    });
  });

  test.each(lane.lies.map((answer) => JSON.stringify(answer).slice(-90)).map((name, at) => ({ name, at })))(
    '…$name is not billed',
    async ({ name, at }) => {
      const { row, text } = await call(lane, lane.lies[at]!);
      const cost = BigInt(row.cost_nano_eur);
      const isHeld = row.usage_source === 'implausible' && cost > 0n && cost <= lane.most;
      if (isHeld) tried.held(`${lane.path} by ${lane.model}: ${name}`);
      else tried.passed(`${lane.path} by ${lane.model}: ${name}`);
      const { usage_source: source } = row;
      const told = (JSON.parse(text) as { usage?: Record<string, number> }).usage;
      // What is passed on as it comes is not written anew.
      if (told && !PASSED_ON.has(lane.path)) {
        expect(told['prompt_tokens'] ?? told['input_tokens']).toBe((row.usage as { input: number }).input);
      }
      expect({ source, isHeld }, `${cost} ${JSON.stringify(row.usage)} ${text.slice(-200)}`).toEqual({
        source: 'implausible',
        isHeld: true,
      });
    },
  );
});
