import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { chat, json, sse, text } from '../harness/answers.ts';
import type { UpstreamRequest } from '../harness/exchange.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { mediaType, readFrames } from '../matrix/stand-in/framing.ts';
import {
  HAIKU,
  OPUS,
  type Format,
  messages,
  bedrock,
  vertex,
  FORMATS,
  BETAS,
  bodyOf,
  CLIENT,
  ANSWER,
  EVENTS,
  typeOf,
  streamed,
  eventsOf,
} from './claude-code-formats.ts';

/**
 * What Claude Code's compatibility guide asks of a gateway (code.claude.com/docs/en/llm-gateway-protocol), item by item,
 * in its three formats, each in front of the vendor it was made for.
 */
const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const root = upstream.url.replace(/\/v1$/, '');
  const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }];
  const vendors = [
    { slug: 'anthropic', url: upstream.url, spec: { vendor: 'anthropic' } },
    { slug: 'busy', url: upstream.url, spec: { vendor: 'anthropic' } },
    { slug: 'bedrock', url: root, spec: { vendor: 'bedrock', region: 'us-east-1' } },
    { slug: 'vertex', url: root, spec: { vendor: 'vertex', project: 'p-one', region: 'europe-west1' } },
  ];
  gateway = await startGateway({
    resources: [
      ...tenant({ upstreamUrl: upstream.url, key, policy: { dlp: { mode: 'Tokenize' } } }).filter(
        (one) => (one as { kind: string }).kind !== 'PriceBook',
      ),
      resource('PriceBook', 'prices', {
        prices: ['upstream', ...vendors.map(({ slug }) => slug)].map((slug) => ({
          model: `${slug}/*`,
          input: '2',
          output: '8',
        })),
      }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { main: 'sk-own' },
      },
      ...vendors.map(({ slug, url, spec }) =>
        resource('Provider', slug, {
          slug,
          endpoint: { url, allowInsecure: true },
          jurisdiction: 'EU',
          credentials,
          retry: { attempts: 1 },
          circuitBreaker: { minRequests: 100_000 },
          ...spec,
        }),
      ),
      resource('Policy', 'cache', {
        targetRefs: [{ kind: 'Organization', name: 'acme' }],
        defaults: { caching: { promptCache: 'Enabled' } },
      }),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl,
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...CLIENT, ...headers },
    body,
  });
}

const seen = (): UpstreamRequest => upstream.requests.at(-1)!;

describe.each(FORMATS)('in the format of $name', (format) => {
  beforeEach(() => upstream.respond(json({})));

  test('the body reaches the vendor byte for byte, every member and cache marker in its place', async () => {
    upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
    const answer = await post(format.path(false), bodyOf(format, false));
    expect([answer.status, await answer.text()]).toEqual([200, ANSWER]);
    expect(seen().path).toBe(format.sentTo(false));
    expect(seen().body).toBe(bodyOf(format, false));
  });

  test('a stream arrives whole and in order, as the kind of stream that its client reads', async () => {
    upstream.respond(streamed(format));
    const answer = await post(format.path(true), bodyOf(format, true));
    expect(answer.headers.get('content-type')?.split(';')[0]).toBe(mediaType(format.framing));
    expect(await eventsOf(answer, format)).toEqual(EVENTS);
    expect(seen().path).toBe(format.sentTo(true));
    expect(seen().body).toBe(bodyOf(format, true));
  });

  test('the call is sealed and billed as one of messages', async () => {
    upstream.respond(streamed(format));
    const answer = await post(format.path(true), bodyOf(format, true));
    await answer.arrayBuffer();
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ surface: 'messages', wire_format: 'messages', losses: [] });
    expect(row).toMatchObject({ provider: format.name === 'messages' ? 'anthropic' : format.name });
    // 10 × 2 + 5 × 8 euro per million.
    expect(row.cost_nano_eur).toBe('60000');
  });

  test('what data protection finds is replaced, the attribution block never', async () => {
    upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
    const spoken = (said: string): string => bodyOf(format, false).replace('"text":"Hi"', `"text":"${said}"`);
    const answer = await post(format.path(false), spoken('Write to ada@example.com'));
    expect(answer.status).toBe(200);
    expect(seen().body).toBe(spoken('Write to «EMAIL_1»'));
  });

  test('a refusal by the vendor keeps its words, by which the client mends its next request', async () => {
    const said = "messages.3: Input tag 'advisor_20260301' found; output_config.effort: Extra inputs are not permitted";
    const error = { type: 'invalid_request_error', message: said };
    const told = format.name === 'bedrock' ? { message: said } : { type: 'error', error };
    upstream.respond(json(told, 400, { 'x-amzn-errortype': 'ValidationException:http://x' }));
    const answer = await post(format.path(false), bodyOf(format, false));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: 'error', error });
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  test('when to come back is told in whole seconds', async () => {
    const error = { type: 'overloaded_error', message: 'Busy' };
    upstream.respond(json({ type: 'error', error }, 429, { 'retry-after': '6.2' }));
    // A provider of its own, since it is left alone for so long.
    const body = bodyOf(format, false).replace(`"model":"${format.model}"`, '"model":"busy/m"');
    const answer = await post(format.path(false, 'busy/m'), body);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-7]$/)]);
  });

  test('a stranger is told so in the envelope that its client reads', async () => {
    const answer = await post(format.path(false), bodyOf(format, false), { authorization: 'Bearer gw_live_none' });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
    expect(answer.headers.get('x-amzn-errortype')).toBe(
      format.name === 'bedrock' ? 'UnrecognizedClientException' : null,
    );
  });

  test('the key of the gateway goes to nobody', async () => {
    upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
    await post(format.path(false), bodyOf(format, false), { 'x-api-key': key });
    expect(JSON.stringify(seen().headers)).not.toContain(key);
  });
});

describe('headers', () => {
  const sent = async (format: Format, headers: Record<string, string> = {}): Promise<UpstreamRequest['headers']> => {
    upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
    expect((await post(format.path(false), bodyOf(format, false), headers)).status).toBe(200);
    return seen().headers;
  };

  test('version and beta flags go on as they came, unknown ones too, where the vendor takes them in headers', async () => {
    for (const format of [messages, vertex]) {
      expect(await sent(format)).toMatchObject({
        'anthropic-version': '2023-06-01',
        'anthropic-beta': BETAS.join(','),
      });
    }
  });

  test("the list of the vendor's own headers is open; what could say something else is not told", async () => {
    const headers = await sent(messages, {
      'anthropic-workspace-id': 'wrkspc_01AbC',
      'anthropic-note': 'call Ada Lovelace',
      'anthropic-dangerous-direct-browser-access': 'true',
    });
    expect(headers).toMatchObject({ 'anthropic-next-thing': 'level-2', 'anthropic-workspace-id': 'wrkspc_01AbC' });
    expect(headers).not.toHaveProperty('anthropic-note');
    expect(headers).not.toHaveProperty('anthropic-dangerous-direct-browser-access');
  });

  test('who works on what stays here: session, agents, hints', async () => {
    for (const format of FORMATS) {
      const names = Object.keys(await sent(format));
      expect(names.filter((name) => /^x-(claude-code|app|stainless)/.test(name))).toEqual([]);
    }
  });

  test('a beta flag of the body that is none is refused where flags stand in the body', async () => {
    const flawed = bodyOf(bedrock, false).replace('"claude-code-20250219"', '"Ada Lovelace"');
    const answer = await post(bedrock.path(false), flawed);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('anthropic_beta') as string });
  });

  test('a guardrail that nobody would apply is refused', async () => {
    const answer = await post(bedrock.path(false), bodyOf(bedrock, false), {
      'x-amzn-bedrock-guardrailidentifier': 'gr-1',
    });
    expect([answer.status, answer.headers.get('x-amzn-errortype')]).toEqual([400, 'ValidationException']);
  });
});

describe('a format in front of another vendor', () => {
  test.each([bedrock, vertex])(
    '$name before the Messages API: what stands elsewhere there is told there',
    async (format) => {
      upstream.respond(streamed(messages));
      const answer = await post(format.path(true, `anthropic/${OPUS}`), bodyOf(format, true));
      expect(await eventsOf(answer, format)).toEqual(EVENTS);
      const { path, headers, body } = seen();
      expect([path, headers['anthropic-beta']]).toEqual(['/v1/messages', BETAS.join(',')]);
      expect(JSON.parse(body)).toEqual({ ...JSON.parse(bodyOf(messages, true)) });
    },
  );

  test.each([bedrock, vertex])('$name before a model of another maker', async (format) => {
    upstream.respond(chat({ content: 'Hello.' }));
    const answer = await post(format.path(true, 'upstream/small'), bodyOf(format, true));
    const types = (await eventsOf(answer, format)).map(typeOf);
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
    expect(seen().path).toBe('/v1/chat/completions');
  });

  test('a failure in mid-stream is an exception in frames', async () => {
    upstream.respond(
      sse([
        { raw: `event: message_start\ndata: ${EVENTS[0]}\n\n` },
        { raw: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n' },
      ]),
    );
    const answer = await post(bedrock.path(true, `anthropic/${OPUS}`), bodyOf(bedrock, true));
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.toString('latin1')).toContain('serviceUnavailableException');
    expect(readFrames(bytes, 'event-stream').at(-1)?.data).toEqual({ message: 'Busy' });
  });
});

describe('optional and other addresses', () => {
  const counted = { messages: [{ role: 'user', content: 'Hello there' }], max_tokens: 1 };

  test('tokens are counted alike in all formats', async () => {
    const native = await post('/v1/messages/count_tokens?beta=true', JSON.stringify({ model: OPUS, ...counted }));
    const { input_tokens } = (await native.json()) as { input_tokens: number };
    expect(input_tokens).toBeGreaterThan(5);
    const inner = Buffer.from(JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', ...counted })).toString(
      'base64',
    );
    const invoke = await post(
      `/model/${encodeURIComponent(HAIKU)}/count-tokens`,
      JSON.stringify({ input: { invokeModel: { body: inner } } }),
    );
    expect(await invoke.json()).toEqual({ inputTokens: input_tokens });
    const raw = await post(
      '/v1/projects/any/locations/any/publishers/anthropic/models/count-tokens:rawPredict',
      JSON.stringify({ model: OPUS, anthropic_version: 'vertex-2023-10-16', ...counted }),
    );
    expect(await raw.json()).toEqual({ input_tokens });
  });

  test.each(['{}', '[]', '{"input":{"converse":{}}}'])('%s is nothing to count', async (body) => {
    expect((await post(`/model/${encodeURIComponent(HAIKU)}/count-tokens`, body)).status).toBe(400);
  });

  test('a method of models that is not served is not found', async () => {
    const answer = await post(vertex.path(false).replace('rawPredict', 'predict'), bodyOf(vertex, false));
    expect(answer.status).toBe(404);
  });

  test.each([bedrock, vertex])('a wrong method is told in the words of $name', async (format) => {
    const answer = await fetch(gateway.url + format.path(false), { headers: { authorization: `Bearer ${key}` } });
    const { status, headers } = answer;
    const isAws = format === bedrock;
    expect([status, headers.get('allow'), headers.has('x-amzn-errortype')]).toEqual([405, 'POST', isAws]);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });

  test.each(['/', '/api/hello', '/anthropic/api/hello'])('the probe at %s', async (path) => {
    const answer = await fetch(gateway.url + path, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });

  test('profiles are looked up in vain, which the client takes', async () => {
    const answer = await fetch(`${gateway.url}/inference-profiles?type=SYSTEM_DEFINED`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(404);
  });

  test('models are discovered with both headers, at once and at the address itself', async () => {
    const answer = await fetch(`${gateway.url}/v1/models?limit=1000`, {
      redirect: 'error',
      headers: { authorization: `Bearer ${key}`, 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    });
    const { data } = (await answer.json()) as { data: { id: string; display_name: string }[] };
    const claude = data.filter(({ id }) => /claude|anthropic/i.test(id));
    expect(claude.length).toBeGreaterThan(5);
    expect(claude.every(({ display_name }) => display_name !== '')).toBe(true);
  });
});

describe('what data protection does to a conversation', () => {
  test('it does alike in every turn, so that thinking stays bound to what it was about', async () => {
    upstream.respond(text(ANSWER, { headers: { 'content-type': 'application/json' } }));
    const turn = (more: string): string =>
      bodyOf(messages, false)
        .replace('"text":"Hi"', '"text":"I am ada@example.com"')
        .replace('"content":"x"', `"content":"x ${more}"`);
    await post(messages.path(false), turn(''));
    const first = seen().body;
    await post(messages.path(false), turn('and bob@example.com'));
    expect(seen().body).toBe(first.replace('"content":"x "', '"content":"x and «EMAIL_2»"'));
  });
});
