import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { BUSY, REVISION, startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { resource } from '../harness/gateway.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { askOwn, bySdk, callOwn, CLIENTS, codeOf, comparable, namesFor, rowAfter } from './built-in-world.ts';
import { post, textOf } from './world.ts';

/** `decide` of the gateway's own tools, before a stand-in of the local models, next to `POST /v1/systemone`. */

const QUESTIONS = {
  urgent: { type: 'noul', instructions: 'It is urgent.' },
  'who?': { type: 'choice', instructions: 'Who does it?', criteria: ['sales', 'help'] },
};
const ARGUMENTS = { state: { mail: 'It burns, says ada@example.com' }, questions: QUESTIONS };

const typed = ({ questions }: Record<string, unknown>): { body: object } => ({
  body: {
    answers: (questions as readonly { options: readonly object[] }[]).map(({ options }) => ({
      probabilities: options.map((_, index) => (index === 0 ? 0.75 : 0.25 / (options.length - 1))),
      answer_confidence: 0.5,
    })),
    revision: REVISION,
  },
});

const cleanup = new AsyncDisposableStack();
let models: ModelsServer;
let server: McpStandIn;
let world: DocumentWorld;

beforeAll(async () => {
  models = cleanup.use(await startModelsServer());
  models.models.set('typed', typed);
  server = cleanup.use(await startMcpServer());
  world = cleanup.use(
    await startDocumentWorld({
      documentsUrl: models.url,
      applications: {
        unlisted: { workload: { allowedModels: ['upstream/*'] } },
        denied: { policy: { allowedTools: ['crm/*'] } },
        named: { policy: { allowedTools: ['gw/decide'] } },
        shadowed: {},
        poor: { workload: { budget: { amount: '0.00000001', period: 'Daily' } } },
        busy: { workload: { limits: { requestsPerMinute: 1 } } },
        blocking: { policy: { dlp: { mode: 'Block' } } },
        open: { policy: { dlp: { mode: 'AllowLog' } } },
        european: { policy: { residency: { allowedJurisdictions: ['EU'] } } },
      },
      more: [
        resource('MCPServer', 'crm', { endpoint: { url: server.url }, jurisdiction: 'US' }),
        resource('MCPServer', 'zoo', { endpoint: { url: server.url }, jurisdiction: 'US' }),
        resource('Policy', 'watched', {
          targetRefs: [{ kind: 'Workload', name: 'shadowed' }],
          mode: 'Shadow',
          defaults: { allowedTools: ['crm/*'] },
        }),
      ],
    }),
  );
}, 60_000);
afterAll(() => cleanup.disposeAsync());
beforeEach(() => {
  models.asked.length = 0;
  models.models.set('typed', typed);
});

test.each(CLIENTS)(
  '%s (%s) lists and calls it on both endpoints',
  async (...client) => {
    for (const [path, name] of [
      ['/v1/mcp/gw', 'decide'],
      ['/v1/mcp', 'gw__decide'],
    ] as const) {
      const { names, result } = await bySdk(world, client, name, ARGUMENTS, path);
      expect(names).toEqual(path === '/v1/mcp' ? ['crm__echo', 'gw__decide', 'zoo__echo'] : ['decide']);
      expect(result.structuredContent).toMatchObject({
        model: 'gw/typed',
        answers: { urgent: { noul: 0.75 }, 'who?': { choice: 'sales' } },
        revision: REVISION,
      });
      expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
    }
  },
  60_000,
);

test.each(['app', 'open', 'european'])('%s: the same answer, row and price as over HTTP', async (as) => {
  const http = await world.post('/v1/systemone', { model: 'gw/typed', ...ARGUMENTS }, { as });
  const tool = await callOwn(world, 'decide', ARGUMENTS, as);
  expect(tool.body.result).toEqual({
    resultType: 'complete',
    content: [{ type: 'text', text: expect.any(String) as string }],
    structuredContent: await http.json(),
  });
  expect(models.asked[1]).toEqual(models.asked[0]);
  expect(JSON.stringify(models.asked[1])).toContain(as === 'open' ? 'ada@example.com' : '«EMAIL_1»');
  const [ofHttp, ofTool] = [await world.row(http), await rowAfter(world, tool)];
  expect(comparable(ofTool)).toEqual(comparable(ofHttp));
  expect(ofTool).toMatchObject({ surface: 'mcp', wire_format: 'systemone', model: 'gw/typed', outcome: 'served' });
  expect(BigInt(ofTool.cost_nano_eur)).toBeGreaterThan(0n);
});

test('arguments go to the model as they are written', async () => {
  const source =
    '{ "st\\u0061te" : {"n":1.0,"b":9007199254740993}, "questions":{"q":{"type":"noul","instructions":"x"}} }';
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"decide","arguments":${source}}}`;
  const sent = await post({ gateway: world.gateway, key: world.keys['app'] ?? '' }, '/v1/mcp/gw', message);
  expect(sent.body.result?.['structuredContent']).toMatchObject({ answers: { q: { type: 'noul' } } });
  expect(sent.body.result).not.toHaveProperty('resultType');
});

test.each<[string, object, string, number]>([
  ['no state', { questions: QUESTIONS }, 'invalid_request', 422],
  ['no questions', { state: 'x' }, 'invalid_request', 422],
  ['another model', { ...ARGUMENTS, model: 'upstream/m' }, 'invalid_request', 400],
  ['an extension', { ...ARGUMENTS, gw: { remove: ['x'] } }, 'invalid_request', 400],
  ['an unknown member', { ...ARGUMENTS, 'ada@example.com': 1 }, 'invalid_request', 400],
  [
    'a prototype',
    JSON.parse('{"state":"x","questions":{},"__proto__":{"model":"upstream/m"}}') as object,
    'invalid_request',
    400,
  ],
  ['a large state', { ...ARGUMENTS, state: 'x'.repeat(140_000) }, 'request_too_large', 413],
])('%s is a result that says so', async (_what, args, code, status) => {
  const sent = await callOwn(world, 'decide', args);
  expect([sent.status, codeOf(sent)]).toEqual([200, code]);
  expect(textOf(sent)).toMatch(new RegExp(`^Failed \\(${code}\\): `));
  expect(sent.text).not.toContain('ada@example.com');
  expect(await rowAfter(world, sent)).toMatchObject({
    surface: 'mcp',
    model: 'gw/typed',
    outcome: 'refused',
    code,
    status,
    cost_nano_eur: '0',
  });
  expect(models.asked).toEqual([]);
});

test('what data protection blocks is refused without a word of it', async () => {
  const sent = await callOwn(world, 'decide', ARGUMENTS, 'blocking');
  expect([codeOf(sent), sent.text.includes('ada@')]).toEqual(['data_protection', false]);
  expect(await rowAfter(world, sent)).toMatchObject({ outcome: 'refused', dlp: { findings: { EMAIL: 1 } } });
});

test('a busy model is a result that says when to come again', async () => {
  models.models.set('typed', () => BUSY);
  const sent = await callOwn(world, 'decide', ARGUMENTS);
  expect(sent.body.result?.['_meta']).toMatchObject({
    'gatewarden.dev/error': { code: 'local_model_busy', retry_after: 2 },
  });
  expect(await rowAfter(world, sent)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0' });
});

test.each([
  ['unlisted', 'permission_denied', /gw\/decide: refused: not on the allow-list of Workload/],
  ['denied', 'permission_denied', /gw\/decide: refused: not on the allow-list of Policy/],
])('%s: not listed, and answered like an unknown tool; the row knows', async (as, code, route) => {
  expect(await namesFor(world, as, '/v1/mcp')).not.toContain('gw__decide');
  const list = await askOwn(world, 'tools/list', {}, { as });
  expect([list.status, list.body.error?.data?.['code']]).toEqual([403, 'permission_denied']);
  const unknown = await callOwn(world, 'nothing', ARGUMENTS, as);
  for (const [path, name] of [
    ['/v1/mcp/gw', 'decide'],
    ['/v1/mcp', 'gw__decide'],
  ] as const) {
    const sent = await askOwn(world, 'tools/call', { name, arguments: ARGUMENTS }, { as, path });
    expect(sent.status).toBe(200);
    const { code: told, message } = sent.body.error ?? {};
    expect([told, message]).toEqual([unknown.body.error?.code, unknown.body.error?.message]);
    const row = await rowAfter(world, sent);
    expect(row).toMatchObject({ outcome: 'refused', code, model: 'gw/typed', cost_nano_eur: '0' });
    expect(row.route).toEqual([expect.stringMatching(route) as string]);
  }
  expect(models.asked).toEqual([]);
});

test('an allow-list that names it opens it', async () => {
  expect(await namesFor(world, 'named')).toEqual(['decide']);
  expect(await namesFor(world, 'named', '/v1/mcp')).toEqual(['gw__decide']);
  expect((await callOwn(world, 'decide', ARGUMENTS, 'named')).body.result?.isError).toBeUndefined();
});

test('a policy that is only watched says what it would refuse', async () => {
  const row = await rowAfter(world, await callOwn(world, 'decide', ARGUMENTS, 'shadowed'));
  expect(row).toMatchObject({ outcome: 'served' });
  expect(row.shadow).toEqual([
    expect.stringMatching(/^allowedTools: mcp\/gw\/decide would be refused: not on the allow-list/) as string,
  ]);
});

test('budget and rate are the errors of the protocol, as for every tool', async () => {
  const poor = await callOwn(world, 'decide', ARGUMENTS, 'poor');
  expect([poor.status, poor.body.error?.code, poor.body.error?.data?.['code']]).toEqual([
    402,
    -32010,
    'insufficient_quota',
  ]);
  const first = await callOwn(world, 'decide', ARGUMENTS, 'busy');
  expect([first.status, first.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '0']);
  const second = await callOwn(world, 'decide', ARGUMENTS, 'busy');
  expect([second.status, second.body.error?.data?.['code']]).toEqual([429, 'rate_limit_exceeded']);
  expect(models.asked).toHaveLength(1);
});

test('a client that leaves pays nothing, and its call is over', async () => {
  const asked = Promise.withResolvers<void>();
  models.models.set('typed', () => {
    asked.resolve();
    return undefined;
  });
  const leaving = new AbortController();
  const calling = fetch(`${world.gateway.url}/v1/mcp/gw`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.keys['app']}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'decide', arguments: ARGUMENTS },
    }),
    signal: leaving.signal,
  });
  await asked.promise;
  leaving.abort();
  await expect(calling).rejects.toThrow(/abort/);
  await expect
    .poll(async () => (await ledgerRows(world.databaseUrl)).filter(({ outcome }) => outcome === 'hung_up'))
    .toMatchObject([{ surface: 'mcp', model: 'gw/typed', cost_nano_eur: '0' }]);
});

test('without the model it is not listed, and a call fails as over HTTP', async () => {
  models.models.delete('typed');
  const sent = await callOwn(world, 'decide', ARGUMENTS);
  expect(codeOf(sent)).toBe('local_model_unavailable');
  await expect.poll(() => namesFor(world, 'app', '/v1/mcp')).toEqual(['crm__echo', 'zoo__echo']);
  const list = await askOwn(world, 'tools/list');
  expect(list.status).toBe(503);
  const all = await askOwn(world, 'tools/list', {}, { path: '/v1/mcp' });
  expect([all.status, all.headers.get('x-gw-unavailable')]).toEqual([200, 'gw']);
});
