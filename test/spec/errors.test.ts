import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chat, cutOff, hang, json } from '../harness/answers.ts';
import { newKey, resource } from '../harness/gateway.ts';
import { REVISION } from '../harness/models-server.ts';
import { bearer, organization, parts, startSpecWorld, type SpecWorld } from './world.ts';
import { managed } from './managed.ts';

/** Sections 5 and 7: who is let in, and what those are told who are not. */

const [secondKey, unplanned] = [newKey(), newKey()];
const SCOPE = { mode: 'Block', scope: 'Questions about tax.' };
const MAIL = 'ada@example.com';
const AUDIO = parts({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } });
let world: SpecWorld;

beforeAll(async () => {
  world = await startSpecWorld({
    applications: {
      listed: { workload: { allowedModels: ['upstream/m'] } },
      poor: { workload: { budget: { amount: '0.00000001', period: 'Total' } } },
      slow: { workload: { limits: { requestsPerMinute: 1 } } },
      swiss: { policy: { residency: { allowedJurisdictions: ['CH'] } } },
      guarded: { policy: { scopeGuard: SCOPE } },
      blocking: { policy: { dlp: { mode: 'Block' } } },
      open: { policy: { dlp: { mode: 'AllowLog' } } },
      caching: { policy: { dlp: { mode: 'AllowLog' }, caching: { promptCache: 'Enabled' } } },
      patient: { workload: { answerTimeoutSeconds: 600 } },
      hasty: { workload: { answerTimeoutSeconds: 10 } },
    },
    prices: ['anthropic', 'groq', 'bedrock'].map((vendor) => ({
      model: `managed-${vendor}/*`,
      input: '2',
      output: '8',
    })),
    more: ({ providers }) => [
      ...organization('unplanned', unplanned, { plan: { type: 'None' } }),
      managed('anthropic', `${providers}/anthropic/v1`),
      managed('groq', `${providers}/groq/v1`),
      managed('bedrock', `${providers}/bedrock`, { region: 'eu-central-1' }),
    ],
  });
}, 60_000);

afterAll(() => world?.[Symbol.asyncDispose]());
let sent = 0;
const requests = (): number => world.upstream.requests.length + world.providers.seen.length;

beforeEach(() => {
  world.upstream.respond(chat({ content: 'Hello.' }));
  sent = requests();
});

interface ChatError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
  readonly gw?: { readonly cause: string; readonly attempts: readonly Record<string, unknown>[] };
}

/** The error of a refusal, and that nobody else was asked. */
async function refused(answer: Response | Promise<Response>): Promise<ChatError & { readonly status: number }> {
  const { status, error } = await failed(answer);
  expect(requests()).toBe(sent);
  return { ...error, status };
}

async function failed(answer: Response | Promise<Response>): Promise<{ status: number; error: ChatError }> {
  const told = await answer;
  const { error } = (await told.json()) as { error: ChatError };
  return { status: told.status, error };
}

describe('section 5', () => {
  test('5/1 every path of /v1 asks for a virtual key, as a bearer', async () => {
    const paths = ['chat/completions', 'completions', 'embeddings', 'moderations', 'responses', 'systemone', 'ocr'];
    const more = ['messages', 'messages/count_tokens', 'documents/anonymize', 'images/generations', 'audio/speech'];
    for (const path of [...paths, ...more, 'videos', 'files']) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
      expect((await fetch(`${world.gateway.url}/v1/${path}`, init)).status, path).toBe(401);
    }
    expect((await fetch(`${world.gateway.url}/v1/models`)).status).toBe(401);
    expect((await world.chat()).status).toBe(200);
  });

  test('5/2 on the messages surface the key may stand in x-api-key instead', async () => {
    const body = { model: 'upstream/m', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${world.gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    expect((await post({ 'x-api-key': world.keys['app'] ?? '' })).status).toBe(200);
    expect((await post({ authorization: `Bearer ${world.keys['app']}` })).status).toBe(200);
    expect((await post({})).status).toBe(401);
  });

  test('5/3 9/3 vendor-version is read, never required, and only its shape is looked at', async () => {
    const asked = async (version?: string): Promise<number> => {
      const headers = version === undefined ? {} : { 'vendor-version': version };
      return (await world.message({}, { headers })).status;
    };
    expect(await asked()).toBe(200);
    expect(await asked('2023-06-01')).toBe(200);
    expect(await asked('1999-01-31')).toBe(200);
    expect(await asked('the newest')).toBe(400);
  });

  test('5/6 a model off the list of its workload: 403 before anything is sent, and sealed', async () => {
    const answer = await world.chat({ model: 'openai/gpt-5.4' }, { as: 'listed' });
    const row = await world.row(answer.clone());
    expect(await refused(answer)).toMatchObject({ status: 403, type: 'permission_error' });
    expect(row).toMatchObject({ outcome: 'refused', status: 403, code: 'permission_denied' });
    expect((await world.chat({}, { as: 'listed' })).status).toBe(200);
    expect((await world.chat({ model: 'groq/openai/gpt-oss-120b' })).status).toBe(200);
  });

  test('5/8 7.1/8 no key and an unknown key are told 401 authentication_error', async () => {
    for (const authorization of [undefined, 'Bearer gw_test_nobody', 'Basic abc']) {
      const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
      const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body: '{}' });
      expect(await refused(answer)).toMatchObject({ status: 401, type: 'authentication_error' });
    }
  });

  test('5/10 7.1/6 the removed header x-gw-dlp is refused with 400; modes are set by workload', async () => {
    const answer = world.chat({}, { headers: { 'x-gw-dlp': 'off' } });
    expect(await refused(answer)).toMatchObject({ status: 400, type: 'invalid_request_error' });
    const personal = { messages: [{ role: 'user', content: MAIL }] };
    expect((await world.chat(personal, { as: 'open' })).status).toBe(200);
    expect((await world.chat(personal, { as: 'blocking' })).status).toBe(422);
  });
});

describe('section 7.1', () => {
  test('7.1/1 7.1/2 the envelope has message, type, param and code', async () => {
    const invalid = await failed(world.chat({ messages: 'Hello' }));
    expect(Object.keys(invalid.error).sort()).toEqual(['code', 'message', 'param', 'type']);
    expect(invalid).toMatchObject({ status: 400, error: { type: 'invalid_request_error', code: 'invalid_request' } });
    const denied = await failed(world.chat({ model: 'openai/gpt-5.4' }, { as: 'listed' }));
    expect(denied).toMatchObject({ status: 403, error: { type: 'permission_error', code: 'permission_denied' } });
    for (let turn = 0; turn < 2; turn++) await world.chat({}, { as: 'slow' });
    const limited = await failed(world.chat({}, { as: 'slow' }));
    expect(limited).toMatchObject({ status: 429, error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } });
  });

  test('7.1/4 a malformed body, and malformed parameters, are 400', async () => {
    const headers = { authorization: `Bearer ${world.keys['app']}`, 'content-type': 'application/json' };
    const post = (body: string): Promise<Response> =>
      fetch(`${world.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    for (const body of ['{"model":', '[]', '"x"', '{"model":"upstream/m"}', '{"model":"upstream/m","messages":{}}']) {
      expect(await refused(post(body)), body).toMatchObject({ status: 400, type: 'invalid_request_error' });
    }
    for (const more of [{ stream: 'yes' }, { max_tokens: 'many' }, { reasoning_effort: 'vast' }]) {
      const told = await refused(world.chat(more));
      expect(told, JSON.stringify(more)).toMatchObject({ status: 400, type: 'invalid_request_error' });
    }
  });

  test('7.1/5 2.2/1 a model without its provider is 400 and says so; so is none', async () => {
    const told = await refused(world.chat({ model: 'gpt-4o' }));
    expect(told).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'model' });
    expect(told.message).toMatch(/provider/);
    expect(await refused(world.chat({ model: undefined }))).toMatchObject({ status: 400, param: 'model' });
    expect((await world.chat({ model: 'upstream/m' })).status).toBe(200);
  });

  const cached = (ttl: string) => parts({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl } });
  const CLAUDE = 'claude-sonnet-4-6';

  test('7.1/7 2.2/12 an account of the installation pays for no hour of cache, dear tier or long context', async () => {
    const as = 'caching';
    const post = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
      world.message({ model: `managed-anthropic/${CLAUDE}`, ...body }, { as, headers });
    const isRefused = { status: 400, type: 'invalid_request_error' };
    expect(await refused(post(cached('1h')))).toMatchObject(isRefused);
    expect(await refused(world.chat({ model: `managed-anthropic/${CLAUDE}`, ...cached('1h') }, { as }))).toMatchObject(
      isRefused,
    );
    for (const id of ['eu.amazon.nova-2-lite-v1:0', 'eu.anthropic.claude-haiku-4-5-20251001-v1:0']) {
      const told = await refused(world.chat({ model: `managed-bedrock/${id}`, ...cached('1h') }, { as }));
      expect(told).toMatchObject(isRefused);
    }
    expect(await refused(post({ service_tier: 'priority' }))).toMatchObject(isRefused);
    expect(await refused(post({}, { 'vendor-beta': 'context-1m-2025-08-07' }))).toMatchObject(isRefused);
    for (const body of [cached('5m'), { service_tier: 'auto' }, { service_tier: 'standard_only' }]) {
      expect((await post(body)).status).toBe(200);
    }
    for (const service_tier of ['auto', 'default', 'flex']) {
      const answer = await world.chat({ model: 'managed-groq/llama', service_tier, ...cached('1h') }, { as });
      expect(answer.status, service_tier).toBe(200);
    }
  });

  test('7.1/7 on the own account of the organization these go on as they are', async () => {
    const body = { model: `anthropic/${CLAUDE}`, service_tier: 'priority', ...cached('1h') };
    const headers = { 'vendor-beta': 'context-1m-2025-08-07' };
    expect((await world.message(body, { as: 'caching', headers })).status).toBe(200);
    expect(world.sentTo('anthropic').at(-1)).toMatchObject({ service_tier: 'priority', ...cached('1h') });
    expect(world.providers.seen.at(-1)?.headers['anthropic-beta']).toContain('context-1m-2025-08-07');
  });

  test('7.1/9 without a plan, and over its budget, a call is 402 and reaches nobody', async () => {
    const spent = await refused(world.chat({}, { as: 'poor' }));
    expect(spent).toMatchObject({ status: 402, type: 'insufficient_quota', code: 'insufficient_quota' });
    const unpaid = await refused(world.chat({}, bearer(unplanned)));
    expect(unpaid).toMatchObject({ status: 402, type: 'insufficient_quota' });
  });

  test('7.1/10 a model off the list is 403 permission_error', async () => {
    const told = await refused(world.chat({ model: 'openai/gpt-5.4' }, { as: 'listed' }));
    expect(told).toMatchObject({ status: 403, type: 'permission_error' });
  });

  test('7.1/11 where no jurisdiction is allowed the call is 403, and the body says which', async () => {
    const told = await refused(world.chat({}, { as: 'swiss' }));
    expect(told).toMatchObject({ status: 403, type: 'permission_error' });
    expect(told.message).toMatch(/EU.*CH/);
  });

  test('7.1/12 what is beside the purpose of a workload is 403 scope_violation with the reason', async () => {
    const judged = { body: { answers: [{ probabilities: [0.02, 0.98], answer_confidence: 0.9 }], revision: REVISION } };
    world.models.models.set('typed', () => judged);
    const told = await refused(world.chat({}, { as: 'guarded' }));
    expect(told).toMatchObject({ status: 403, code: 'scope_violation' });
    expect(told.message).toMatch(/scope|purpose|about/i);
  });

  test('7.1/17 where nobody judges the purpose, the call is 503 scope_guard_unavailable with a time to retry', async () => {
    world.models.models.delete('typed');
    const answer = await world.chat({}, { as: 'guarded' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused(answer)).toMatchObject({ status: 503, code: 'scope_guard_unavailable' });
  });

  test('7.1/13 what data protection refuses is 422 before anything is sent, and so is sound under block', async () => {
    for (const body of [{ messages: [{ role: 'user', content: MAIL }] }, AUDIO]) {
      const told = await refused(world.chat(body, { as: 'blocking' }));
      expect(told).toMatchObject({ status: 422, type: 'invalid_request_error' });
    }
  });

  test('7.1/15 over its rate a workload is told 429 at the gateway', async () => {
    await world.chat({}, { as: 'slow' });
    sent = requests();
    const told = await refused(world.chat({}, { as: 'slow' }));
    expect(told).toMatchObject({ status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' });
  });

  test('7.1/19 8/6 a provider that does not answer in time: 504 with cause timeout, asked once', async () => {
    world.upstream.respond(hang());
    const answer = world.chat({}, { headers: { 'x-gw-upstream-timeout': '1' } });
    const { status, error } = await failed(answer);
    expect([status, error.type, error.gw?.cause]).toEqual([504, 'api_error', 'timeout']);
    expect(requests()).toBe(sent + 1);
  });

  test('7.1/19 8/6 the time is 300 seconds, or what the workload says; a request may shorten it only', async () => {
    const given = async (as: string): Promise<string | null> => {
      const answer = await world.chat({}, { as, headers: { 'x-gw-upstream-timeout': '9999' } });
      expect(answer.status).toBe(200);
      return answer.headers.get('x-gw-upstream-timeout');
    };
    expect([await given('app'), await given('patient'), await given('hasty')]).toEqual(['300', '600', '10']);
  });

  test('7.1/20 a provider that fails after retries: its words, the cause, and every attempt', async () => {
    world.upstream.respond(json({ error: { message: 'come back tomorrow' } }, 500));
    const { status, error } = await failed(world.chat());
    expect([status, error.type]).toEqual([502, 'api_error']);
    expect(error.message).toContain('come back tomorrow');
    expect(error.gw?.attempts.length).toBeGreaterThan(1);
    for (const attempt of error.gw?.attempts ?? []) {
      expect(attempt).toMatchObject({ status: 500, duration_ms: expect.any(Number) as number });
    }
    world.upstream.respond(cutOff());
    const cut = await failed(world.chat());
    expect(cut.status).toBe(502);
    expect(cut.error.gw?.attempts[0]).toMatchObject({ error: expect.any(String) as string });
  });

  test('7.1/21 typed decisions fail with 400, 413, 422 and 503', async () => {
    const decide = async (body: object): Promise<number> => (await world.post('/v1/systemone', body)).status;
    const q = { type: 'noul', instructions: 'It is so.' };
    expect(await decide({ model: 'gw/typed/router', state: 'x', questions: {} })).toBe(400);
    expect(await decide({ model: 'gw/typed', state: 'x'.repeat(131_072), questions: { q } })).toBe(413);
    expect(await decide({ model: 'gw/typed', questions: { q } })).toBe(422);
    expect(await decide({ model: 'gw/typed', state: 'x', questions: { q } })).toBe(503);
  });
});

describe('section 7.2', () => {
  const TYPES = [
    'invalid_request_error',
    'authentication_error',
    'billing_error',
    'permission_error',
    'not_found_error',
    'conflict_error',
    'request_too_large',
    'rate_limit_error',
    'api_error',
    'overloaded_error',
  ];
  interface Told {
    readonly type: string;
    readonly error: { readonly type: string; readonly message: string };
    readonly request_id: string;
  }

  const FAILURES: readonly (readonly [status: number, type: string, ask: () => Promise<Response>])[] = [
    [400, 'invalid_request_error', () => world.message({ messages: 'Hi' })],
    [401, 'authentication_error', () => world.message({}, bearer('gw_test_nobody'))],
    [402, 'billing_error', () => world.message({}, { as: 'poor' })],
    [403, 'permission_error', () => world.message({ model: 'openai/gpt-5.4' }, { as: 'listed' })],
    [404, 'not_found_error', () => world.message({ model: 'nobody/m' })],
    [
      422,
      'invalid_request_error',
      () => world.message({ messages: [{ role: 'user', content: MAIL }] }, { as: 'blocking' }),
    ],
    [429, 'rate_limit_error', async () => (await world.message({}, { as: 'slow' }), world.message({}, { as: 'slow' }))],
    [503, 'api_error', () => world.message({}, { as: 'guarded' })],
  ];

  test('7.2/1 7.2/2 every failure on the messages paths has the one envelope and a type of the list', async () => {
    for (const [status, type, ask] of FAILURES) {
      const answer = await ask();
      const told = (await answer.json()) as Told;
      expect([answer.status, told.type, told.error.type]).toEqual([status, 'error', type]);
      expect(TYPES).toContain(told.error.type);
      expect(told.error.message).not.toBe('');
      expect(told.request_id).toBe(answer.headers.get('request-id'));
    }
    world.upstream.respond(json({ error: { message: 'no' } }, 500));
    const failure = (await (await world.message()).json()) as Told;
    expect(failure).toMatchObject({ type: 'error', error: { type: 'api_error' } });
  });

  test('7.2/1 7.2/2 also what is wrong before a body is read, too large, or of an overloaded provider', async () => {
    world.upstream.respond(json({ error: { message: 'busy' } }, 529));
    const at = `${world.gateway.url}/anthropic/v1/messages`;
    const headers = { 'x-api-key': world.keys['app'] ?? '', 'content-type': 'application/json' };
    const many = `{"model":"upstream/m","a":[${'0,'.repeat(300_000)}0]}`;
    const told = async (answering: Promise<Response>): Promise<unknown> => {
      const answer = await answering;
      const body = (await answer.json()) as Told;
      expect([body.type, body.request_id]).toEqual(['error', answer.headers.get('request-id')]);
      return [answer.status, body.error.type];
    };
    const invalid = 'invalid_request_error';
    expect(await told(fetch(at, { method: 'PUT', headers }))).toEqual([405, invalid]);
    expect(
      await told(fetch(at, { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body: 'x' })),
    ).toEqual([415, invalid]);
    expect(await told(fetch(at, { method: 'POST', headers, body: '{' }))).toEqual([400, invalid]);
    expect(await told(fetch(at, { method: 'POST', headers, body: many }))).toEqual([413, 'request_too_large']);
    expect(await told(fetch(`${at}/count_tokens`, { method: 'POST', headers, body: '{}' }))).toEqual([400, invalid]);
    expect(await told(fetch(`${world.gateway.url}/anthropic/v1/models/nobody%2Fm`, { headers }))).toEqual([
      404,
      'not_found_error',
    ]);
    expect(await told(world.message())).toEqual([503, 'overloaded_error']);
  });

  test('7.2/3 the id of the request is in request-id, and it is the one of the audit row', async () => {
    for (const answer of [await world.message(), await world.message({ messages: 'Hi' })]) {
      const id = answer.headers.get('request-id');
      expect(id).toMatch(/^\S+$/);
      expect((await world.row(answer)).call_id).toBe(id);
      expect(answer.headers.get('x-request-id')).toBe(id);
    }
  });

  test('7.2/4 4.5/9 4.5/21 mcp_servers is 400 invalid_request_error', async () => {
    const answer = await world.message({ mcp_servers: [{ type: 'url', url: 'https://x.example', name: 'x' }] });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    expect(requests()).toBe(sent);
  });
});

describe('while the store of keys cannot be read', () => {
  test('5/9 7.1/18 unknown keys are told 503 auth_unavailable with a time, known ones are served', async () => {
    world.gateway.configure([resource('Workload', 'app', { organizationRef: { name: 7 } })]);
    const ask = (): Promise<Response> => world.chat({}, bearer(secondKey));
    await expect.poll(async () => (await ask()).status, { timeout: 20_000 }).toBe(503);
    const answer = await ask();
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused(answer)).toMatchObject({ status: 503, code: 'auth_unavailable' });
    expect((await world.chat()).status).toBe(200);
  });
});
