import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { chat, gated, hang, sse } from '../harness/answers.ts';
import { DONE, hugeFrame } from '../harness/frames.ts';
import { gate } from '../harness/gate.ts';
import { newKey, resource, startGateway, tenant } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { parseSse, sseData } from '../harness/sse.ts';
import type { Body } from '../matrix/vocabulary.ts';
import { bearer, organization, parts, startSpecWorld, type SpecWorld } from './world.ts';

/** Sections 2.2, 2.3, 2.8, 6.1 and 8: the chat surface, its streams, and what is counted. */

const [secondKey, cappedKey, otherCappedKey, governedKey] = [newKey(), newKey(), newKey(), newKey()];
const PER_CALL = { amount: '0.0015', period: 'Total' };

let world: SpecWorld;
beforeAll(async () => {
  world = await startSpecWorld({
    applications: {
      open: { policy: { dlp: { mode: 'AllowLog' } } },
      tokenizing: { policy: { dlp: { mode: 'Tokenize' } } },
      hurried: { workload: { limits: { requestsPerMinute: 1 } } },
      brief: { workload: { limits: { tokensPerMinute: 200 } } },
      shared: { workload: { budget: PER_CALL } },
      ...Object.fromEntries(
        ['Total', 'Daily', 'Monthly'].map((period) => [
          period.toLowerCase(),
          { workload: { budget: { amount: '0.0015', period } } },
        ]),
      ),
    },
    prices: [
      { model: 'upstream/per-call', unit: 'Call', input: '0.001' },
      { model: 'american/*', input: '1', output: '1' },
    ],
    more: ({ upstream }) => [
      ...organization('governed', governedKey),
      resource('Policy', 'governed', {
        targetRefs: [{ kind: 'Organization', name: 'governed' }],
        defaults: {
          dlp: { mode: 'Block' },
          residency: { allowedJurisdictions: ['EU'] },
          contentRetention: 'Enabled',
          caching: { promptCache: 'Enabled', responseCache: { mode: 'Enabled', ttlSeconds: 60 } },
        },
      }),
      resource('Provider', 'american', {
        slug: 'american',
        protocol: 'Custom',
        endpoint: { url: upstream, allowInsecure: true },
        jurisdiction: 'US',
      }),
      resource('VirtualKey', 'shared-second', {
        workloadRef: { name: 'shared' },
        hash: { algorithm: 'SHA256', value: hash('sha256', secondKey, 'hex') },
      }),
      ...organization('capped', cappedKey, { cap: PER_CALL }),
      ...organization('beside', otherCappedKey).map((one) =>
        (one as { kind: string }).kind === 'Workload'
          ? resource('Workload', 'beside', { organizationRef: { name: 'capped' } })
          : one,
      ),
    ],
  });
}, 60_000);
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  world.answers.clear();
  world.upstream.respond(chat({ content: 'Hello.' }));
});

const sent = (): Body => JSON.parse(world.upstream.requests.at(-1)?.body ?? '{}') as Body;
const told = async (answer: Promise<Response>): Promise<Body> => {
  const got = await answer;
  expect(got.status).toBe(200);
  return (await got.json()) as Body;
};

describe('a request', () => {
  test('2.2/2 2.2/3 content is a text or a list of parts', async () => {
    for (const content of ['Hi', [{ type: 'text', text: 'Hi' }]]) {
      await told(world.chat({ messages: [{ role: 'user', content }] }));
      expect(sent()['messages']).toEqual([{ role: 'user', content }]);
    }
    for (const messages of [[{ role: 'user', content: 7 }], [{ content: 'Hi' }], 'Hi', []]) {
      expect((await world.chat({ messages })).status, JSON.stringify(messages)).toBe(400);
    }
  });

  test('2.2/5 a picture goes to a model that sees', async () => {
    const picture = parts({ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } });
    await told(world.chat(picture, { as: 'open' }));
    expect(sent()).toMatchObject(picture);
  });

  test('2.2/7 6.1/1 a stream is server-sent events, and only where it is asked for', async () => {
    for (const [stream, type] of [
      [true, 'text/event-stream'],
      [false, 'application/json'],
    ] as const) {
      const answer = await world.chat({ stream });
      expect(answer.headers.get('content-type')).toContain(type);
      await answer.text();
    }
  });
});

describe('an answer', () => {
  const everywhere = ['upstream/m', 'openai/gpt-5.4', 'anthropic/claude-sonnet-4-6', 'gemini/gemini-3-flash'];

  test('2.3/1 2.3/2 2.3/3 2.3/4 2.3/5 2.3/6 2.3/7 2.3/8 has every field, whoever gave it', async () => {
    for (const model of everywhere) {
      const body = await told(world.chat({ model }));
      const { usage } = body as { usage: Readonly<Record<string, number>> };
      expect(body).toMatchObject({
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      });
      expect([typeof body['id'], typeof body['model']]).toEqual(['string', 'string']);
      expect(body['model']).not.toMatch(/^(?:upstream|openai|anthropic|gemini)\//);
      for (const name of ['prompt_tokens', 'completion_tokens', 'total_tokens']) {
        expect(Number.isInteger(usage[name]), `${model} ${name}`).toBe(true);
      }
    }
  });

  interface Chunk {
    readonly object: string;
    readonly choices: readonly {
      readonly index: number;
      readonly delta: { readonly content?: string };
      readonly finish_reason: string | null;
    }[];
    readonly usage?: Readonly<Record<string, number>> | null;
  }
  const streamed = async (body: object): Promise<readonly Chunk[]> => {
    const answer = await world.chat({ stream: true, ...body });
    const data = sseData(new Uint8Array(await answer.arrayBuffer()));
    expect(data.at(-1)).toBe('[DONE]');
    return data.slice(0, -1).map((one) => JSON.parse(one) as Chunk);
  };

  test('2.3/9 6.1/2 as a stream it is chunks with deltas, a reason at the end, usage where it is asked for, and [DONE]', async () => {
    for (const model of everywhere) {
      const chunks = await streamed({ model, stream_options: { include_usage: true } });
      for (const { object, choices } of chunks) {
        expect(object).toBe('chat.completion.chunk');
        for (const { index } of choices) expect(index).toBe(0);
      }
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello.');
      const reasons = chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason ?? ''));
      expect([reasons.at(-1), reasons.filter((one) => one !== '')]).toEqual(['stop', ['stop']]);
      expect(chunks.at(-1)?.usage).toMatchObject({ total_tokens: expect.any(Number) as number });
      const unasked = await streamed({ model });
      expect(unasked.filter(({ usage }) => usage)).toEqual([]);
    }
  });

  test('2.2/8 6.1/3 the last frame has the usage that is billed', async () => {
    const usage = { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 };
    world.upstream.respond(chat({ content: ['a', 'b', 'c', 'd'], usage }));
    const answer = await world.chat({ stream: true, stream_options: { include_usage: true } });
    const frames = sseData(new Uint8Array(await answer.clone().arrayBuffer()));
    expect(JSON.parse(frames.at(-2) ?? '')).toMatchObject({ usage });
    // 21 × 2 + 4 × 8 euro per million.
    expect(await world.row(answer)).toMatchObject({ usage: { input: 21, output: 4 }, cost_nano_eur: '74000' });
  });
});

/** Reads a stream until something has come. */
async function readUntil(answer: Response, wanted: string): Promise<string> {
  let text = '';
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes(wanted)) break;
  }
  return text;
}

describe('a stream', () => {
  test('6.1/5 says that it is not to be cached or buffered', async () => {
    const { headers } = await world.chat({ stream: true });
    expect(headers.get('cache-control')).toContain('no-cache');
    expect(headers.get('x-accel-buffering')).toBe('no');
  });

  test('6.1/6 is passed on as it comes', async () => {
    const steps = gate();
    world.upstream.respond(chat({ content: ['first', 'second'], gate: steps }));
    const asking = world.chat({ stream: true });
    await steps.step();
    await steps.step();
    // The provider waits with the rest until this has been read.
    expect(await readUntil(await asking, 'first')).not.toContain('second');
    steps.release();
  });

  test('6.1/4 6.2/6 8/7 that is silent for 15 seconds has a comment on chat, and pings on messages', async () => {
    const silent = hang();
    const steps = gate();
    world.upstream.respond([silent, gated(steps, chat({ content: 'Later.' }))]);
    const started = performance.now();
    const headers = { 'x-gw-upstream-timeout': '20' };
    const [commented, pinged] = await Promise.all([
      world.chat({ stream: true }, { headers }).then((answer) => readUntil(answer, ': keepalive\n\n')),
      world.message({ stream: true }, { headers }).then((answer) => readUntil(answer, 'event: ping')),
    ]);
    expect(performance.now() - started).toBeGreaterThan(14_900);
    expect(commented.startsWith(': keepalive\n\n')).toBe(true);
    expect(pinged).toContain('event: ping\ndata: {"type":"ping"}');
    steps.release();
  });

  test('6.1/9 8/9 under tokens has events of 4 MiB, and ends with an error at a larger one', async () => {
    const messages = [{ role: 'user', content: 'ada@example.com' }];
    const long = 'x'.repeat(4 * 1024 * 1024 - 1000);
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const said = { ...chunk, choices: [{ index: 0, delta: { content: long }, finish_reason: 'stop' }] };
    world.upstream.respond(sse([{ data: said }, DONE]));
    const whole = await (await world.chat({ stream: true, messages }, { as: 'tokenizing' })).text();
    expect([whole.includes(long), whole.endsWith('data: [DONE]\n\n')]).toEqual([true, true]);
    world.upstream.respond(sse([hugeFrame(4 * 1024 * 1024 + 100)]));
    const ended = await (await world.chat({ stream: true, messages }, { as: 'tokenizing' })).text();
    expect(ended).toContain('"error":');
    expect(ended).not.toContain('xxxx');
  });
});

const call = (asking: object): Promise<Response> => world.chat({ model: 'upstream/per-call' }, asking);
const statuses = async (...askings: readonly object[]): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const asking of askings) found.push((await call(asking)).status);
  return found;
};

describe('what is counted', () => {
  test('8/1 2.8/2 requests and tokens per minute are of a workload; beyond them 429', async () => {
    expect(await statuses({ as: 'hurried' }, { as: 'hurried' })).toEqual([200, 429]);
    const long = { messages: [{ role: 'user', content: 'word '.repeat(400) }] };
    expect((await world.chat({ ...long, max_tokens: 9 }, { as: 'brief' })).status).toBe(429);
    expect((await world.chat({ max_tokens: 9 }, { as: 'brief' })).status).toBe(200);
  });

  test('8/2 2.8/2 a budget is shared by all keys of its workload; beyond it 402', async () => {
    expect(await statuses({ as: 'shared' }, bearer(secondKey), { as: 'shared' })).toEqual([200, 402, 402]);
  });

  test('8/2 a budget is of a day, of a month or of all time', async () => {
    for (const as of ['total', 'daily', 'monthly']) {
      expect((await call({ as })).status).toBe(200);
      const { error } = (await (await call({ as })).json()) as { error: { code: string; message: string } };
      expect(error).toMatchObject({ code: 'insufficient_quota', message: expect.stringContaining(as) as string });
    }
  });

  test('8/3 2.8/3 1/18 a cap is of all workloads of an organization', async () => {
    expect(await statuses(bearer(cappedKey), bearer(otherCappedKey))).toEqual([200, 402]);
  });

  test('8/11 a term has a label of at most 32 letters', async () => {
    const ask = (label: string): Promise<Response> =>
      world.chat({ gw: { remove: [{ term: 'Hello', label }] } }, { as: 'open' });
    expect((await ask('x'.repeat(32))).status).toBe(200);
    expect((await ask('x'.repeat(33))).status).toBe(400);
  });
});

test('2.8/3 1/18 an organization has a mode, jurisdictions and caches for all of its workloads', async () => {
  const personal = { messages: [{ role: 'user', content: 'ada@example.com' }] };
  expect((await world.chat(personal, bearer(governedKey))).status).toBe(422);
  expect((await world.chat({ model: 'american/m' }, bearer(governedKey))).status).toBe(403);
  expect((await world.chat({ model: 'american/m' })).status).toBe(200);
  const ask = (): Promise<Response> => world.chat({ seed: 3 }, bearer(governedKey));
  await expect.poll(async () => (await ask()).headers.get('x-gw-cache')).toBe('hit');
  const marked = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
  const model = 'anthropic/claude-sonnet-4-6';
  for (const [asking, kept] of [
    [bearer(governedKey), true],
    [{ as: 'open' }, false],
  ] as const) {
    expect((await world.chat({ model, ...parts(marked) }, asking)).status).toBe(200);
    expect(JSON.stringify(world.sentTo('anthropic').at(-1)).includes('cache_control')).toBe(kept);
  }
});

test('2.8/2 an answer may take 10 to 600 seconds, and no workload says otherwise', async () => {
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  for (const answerTimeoutSeconds of [9, 601]) {
    const resources = tenant({ upstreamUrl: world.upstream.url, key: newKey(), workload: { answerTimeoutSeconds } });
    await expect(startGateway({ resources, databaseUrl })).rejects.toThrow('answerTimeoutSeconds');
  }
});

test('6.1/8 8/8 a gateway that is told to end serves its open stream on, and ends it at the end of its grace', async () => {
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  const key = newKey();
  const gateway = await startGateway({
    resources: tenant({ upstreamUrl: world.upstream.url, key }),
    databaseUrl,
    env: { GW_DRAIN_SECONDS: '2' },
  });
  const steps = gate();
  world.upstream.respond(chat({ content: ['a', 'b', 'c'], gate: steps }));
  const asking = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'upstream/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await steps.step();
  await steps.step();
  const answer = await asking;
  const text = answer.arrayBuffer();
  gateway.signal('SIGTERM');
  await expect.poll(() => gateway.log.some((line) => line.includes('"drain.started"'))).toBe(true);
  await steps.step();
  const said = parseSse(new Uint8Array(await text)).flatMap((one) => (one.type === 'event' ? [one.data] : []));
  expect(said.join('')).toContain('"content":"b"');
  expect(JSON.parse(said.at(-1) ?? '')).toMatchObject({ error: { code: 'server_restarting' } });
  expect(await gateway.exited).toBe(0);
  expect(await ledgerRows(databaseUrl, 1)).toMatchObject([{ code: 'server_restarting', outcome: 'failed' }]);
});
