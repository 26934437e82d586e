import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sendJson, startHttpApi, type HttpApi } from '../harness/http-api.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { apiServer, otherTenant, secret } from './openapi-world.ts';
import { ask, startMcpWorld, textOf, type McpWorld, type McpWorldOptions, type Sent } from './world.ts';

/** Operations of an HTTP API as tools: the request of a call, and the result of its answer. */

const CREDENTIAL = 'shop-credential-1234';
const MAIL = 'ada.lovelace@example.com';
let api: HttpApi;
let foreign: HttpApi;
let world: McpWorld;
let otherKey: string;
let echo: HttpApi['answer'];
let configured: McpWorldOptions & { readonly servers: { readonly shop: ReturnType<typeof apiServer> } };

beforeAll(async () => {
  [api, foreign] = await Promise.all([startHttpApi(), startHttpApi()]);
  echo = api.answer;
  const other = otherTenant(foreign.url);
  otherKey = other.key;
  const auth = { type: 'Header', header: 'X-Api-Key', secretKeyRef: { name: 'shop', key: 'token' } };
  configured = {
    servers: {
      shop: apiServer(api.url, { auth, maxResultKiB: 64, timeoutSeconds: 2 }),
      home: apiServer(api.url, { trust: 'Internal', jurisdiction: 'EU', tools: { include: ['send'] } }),
    },
    policy: { dlp: { mode: 'Tokenize', tools: { internal: 'AllowLog' } } },
    prices: [{ model: 'mcp/shop/createOrder', unit: 'Call', input: '0.5' }],
    more: [secret('shop', { token: CREDENTIAL }), ...other.resources],
  };
  world = await startMcpWorld(configured);
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  await foreign?.[Symbol.asyncDispose]();
});

beforeEach(() => {
  api.answer = echo;
});

const call = (tool: string, args: object, path = '/v1/mcp/shop'): Promise<Sent> =>
  ask(world, 'modern', path, 'tools/call', { name: tool, arguments: args });
const last = () => api.received.at(-1)!;
const codeOf = ({ body }: Sent) =>
  (body.result?.['_meta'] as Record<string, { readonly code?: string }> | undefined)?.['gatewarden.dev/error']?.code;

test('both endpoints list the operations with their schemas and what they do', async () => {
  const own = await ask(world, 'modern', '/v1/mcp/shop', 'tools/list');
  expect(own.body.result?.tools?.map(({ name, annotations }) => [name, annotations])).toEqual([
    ['getCustomer', { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ['getFile', { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ['createOrder', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ['send', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ['login', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ['dropCustomer', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
  ]);
  const all = await ask(world, 'legacy', '/v1/mcp', 'tools/list');
  const names = all.body.result?.tools?.map(({ name }) => name);
  expect(names).toContain('shop__getCustomer');
  expect(names?.filter((name) => name.startsWith('home__'))).toEqual(['home__send']);
});

test('arguments go where the operation has them, encoded', async () => {
  const args = { id: 'ä b?c#d%25;e', fields: ['a,b', 'c&d'], tag: ['x=1', 'y'], trace: 'abc' };
  const answer = await call('getCustomer', args);
  expect(answer.body.result?.isError).toBeUndefined();
  const path = '/v1/customers/%C3%A4%20b%3Fc%23d%2525%3Be?fields=a%2Cb,c%26d&tag=x%3D1&tag=y';
  expect(last()).toMatchObject({ method: 'GET', path, text: '' });
  expect(last().headers).toMatchObject({ 'x-api-key': CREDENTIAL, 'x-trace': 'abc', 'user-agent': 'gatewarden' });
  expect(last().headers['content-length']).toBeUndefined();
  expect(answer.body.result?.['structuredContent']).toEqual({ method: 'GET', path, text: '' });
  expect(JSON.parse(textOf(answer))).toEqual({ method: 'GET', path, text: '' });
});

test('a body is sent as it is written: numbers keep their digits', async () => {
  const source = '{"n":12345678901234567890.10,"e":1E2,"list":[ 1 ]}';
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":{"body":${source}}}}`;
  const { gateway, key } = world;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  await fetch(`${gateway.url}/v1/mcp/shop`, { method: 'POST', headers, body: message });
  expect(last()).toMatchObject({ method: 'POST', path: '/v1/raw', text: source });
  expect(last().headers['content-type']).toBe('application/json');
  await call('login', { body: { user: 'a&b=c', scope: ['x', 'y'], none: null } });
  expect(last().text).toBe('user=a%26b%3Dc&scope=x&scope=y');
});

test.each([
  ['a slash', 'a/b'],
  ['a backslash', 'a\\b'],
  ['a step upwards', '..'],
  ['a step upwards in wide signs, encoded', '%EF%BC%8E%EF%BC%8E'],
  ['a step upwards before a space', '.. '],
  ['an encoded step upwards', '%2e%2e'],
  ['a step encoded twice', '%252e%252e%252fadmin'],
  ['an encoded slash', 'a%2fb'],
  ['wide letters for a step', '\uff0e\uff0e'],
  ['a step with a parameter', '..;x=1'],
  ['a line end', 'a\r\nHost: evil.example'],
  ['nothing', ''],
  ['half a character', '\ud800'],
])('%s in the path is refused, and nothing is sent', async (_, id) => {
  const before = api.received.length;
  const answer = await call('getCustomer', { id });
  expect(answer.body.result?.isError ?? answer.body.error).toBeTruthy();
  if (id.isWellFormed()) expect(codeOf(answer)).toBe('tool_arguments_denied');
  expect(answer.text).not.toContain('evil.example');
  expect(api.received).toHaveLength(before);
});

test('slashes go on encoded where the operation has them, steps upwards never do', async () => {
  await call('getFile', { path: 'docs/a b.md' });
  expect(last().path).toBe('/v1/files/docs%2Fa%20b.md');
  const before = api.received.length;
  for (const path of ['a/../../admin', 'a/%2e%2e/b', './a'])
    expect(codeOf(await call('getFile', { path }))).toBe('tool_arguments_denied');
  expect(api.received).toHaveLength(before);
});

test('arguments against the schema, unknown ones and headers with line ends are refused', async () => {
  const before = api.received.length;
  const refused = await Promise.all([
    call('createOrder', { body: { count: 'three' } }),
    call('createOrder', { body: {}, url: 'http://evil.example' }),
    call('createOrder', {}),
    call('getCustomer', { id: 'a', trace: 'x\r\ny: z' }),
    call('getCustomer', { id: 'a', trace: 'ä' }),
    call('login', { body: { deep: { er: 1 } } }),
  ]);
  expect(refused.map(codeOf)).toEqual(refused.map(() => 'tool_arguments_denied'));
  expect(refused.map(textOf)).toEqual([
    expect.stringContaining('/body/count must be of the type integer'),
    expect.stringContaining('the arguments must have no members but "body"'),
    expect.stringContaining('must have the member "body"'),
    expect.stringContaining('/trace must be at most 4096 printable ASCII characters'),
    expect.stringContaining('/trace must be at most 4096 printable ASCII characters'),
    expect.stringContaining('/body must be a text, a number or a boolean, or a list of them'),
  ]);
  expect(api.received).toHaveLength(before);
  const row = await rowOf(world.databaseUrl, refused[0].headers.get('x-request-id'));
  expect(row.route).toEqual([
    'mcp/shop/createOrder: refused: operation createOrder of MCPServer default/shop: /body/count must be of the type integer',
  ]);
});

test('an external API gets tags and its answer is restored; an internal one gets originals', async () => {
  const answer = await call('createOrder', { body: { mail: MAIL, count: 2 } });
  expect(last().text).toBe('{"mail":"«EMAIL_1»","count":2}');
  expect(answer.body.result?.['structuredContent']).toMatchObject({ text: `{"mail":"${MAIL}","count":2}` });
  expect(textOf(answer)).toContain(MAIL);
  await call('getCustomer', { id: MAIL, tag: [MAIL] });
  expect(last().path).toBe('/v1/customers/%C2%ABEMAIL_1%C2%BB?tag=%C2%ABEMAIL_1%C2%BB');
  await call('send', { body: MAIL }, '/v1/mcp/home');
  expect(last().text).toBe(JSON.stringify(MAIL));
  const before = api.received.length;
  // A header has no place for a tag: a wrong order would be sent.
  const refused = await call('getCustomer', { id: 'a', trace: MAIL });
  expect(codeOf(refused)).toBe('data_protection');
  expect(api.received).toHaveLength(before);
});

test('the row has price, status and the digest of the definition', async () => {
  const answer = await call('createOrder', { body: { count: 1 } });
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({
    model: 'mcp/shop/createOrder',
    provider: 'mcp/shop',
    units: { calls: 1 },
    tool: {
      eras: ['2026-07-28', 'OpenAPI'],
      is_error: false,
      definition: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    },
    attempts: [{ status: 200, sent: true }],
  });
  expect(row.cost_nano_eur).toBe('500000000');
  expect(JSON.stringify(row)).not.toContain(CREDENTIAL);
});

test.each([
  [404, '{"error":"no customer"}', 'The API answered with status 404.\n\n{"error":"no customer"}'],
  [422, '', 'The API answered with status 422.'],
  [
    500,
    'boom '.repeat(10_000),
    `The API answered with status 500.\n\n${'boom '.repeat(1700).slice(0, 8192).trim()}\n[cut]`,
  ],
  [302, 'elsewhere', 'The API answered with status 302: it leads elsewhere, where the gateway does not follow.'],
])('status %d is an error that a model can read', async (status, body, text) => {
  api.answer = (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', location: foreign.url }).end(body);
  const answer = await call('getCustomer', { id: 'a' });
  expect([answer.status, answer.body.result?.isError, textOf(answer)]).toEqual([200, true, text]);
  const row = await rowOf(world.databaseUrl, answer.headers.get('x-request-id'));
  expect(row).toMatchObject({ tool: { is_error: true }, attempts: [{ status }] });
  expect(foreign.received).toEqual([]);
});

test('an API that repeats its credential does not give it away', async () => {
  for (const status of [200, 403, 500]) {
    api.answer = ({ headers }, response) =>
      sendJson(response, status, { headers, encoded: encodeURIComponent(CREDENTIAL) });
    const answer = await call('getCustomer', { id: 'a' });
    expect(answer.text).toContain('[credential]');
    expect(answer.text).not.toContain(CREDENTIAL);
  }
  api.answer = (_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"a":"${CREDENTIAL.replaceAll('-', String.raw`\u002D`)}"}`);
  expect((await call('getCustomer', { id: '1' })).body.result?.['structuredContent']).toEqual({ a: '[credential]' });
  api.answer = (_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/plain; charset=utf-16le' })
      .end(Buffer.from(`It is ${CREDENTIAL}.`, 'utf16le'));
  expect(textOf(await call('getCustomer', { id: '1' }))).toBe('It is [credential].');
  api.answer = (_, response) => response.writeHead(401).end(CREDENTIAL);
  const refused = await call('getCustomer', { id: 'a' });
  expect([refused.status, refused.body.error?.message]).toEqual([
    502,
    'The MCP server shop refused the credential of the gateway.',
  ]);
  expect(refused.text).not.toContain(CREDENTIAL);
  expect(world.gateway.log).not.toContain(CREDENTIAL);
});

test('text is text, a picture a picture, other bytes a file, and nothing is said to be nothing', async () => {
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);
  const answers: readonly [string | undefined, Buffer | string, object][] = [
    ['text/plain; charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1'), { type: 'text', text: 'café' }],
    ['application/xml', '<a/>', { type: 'text', text: '<a/>' }],
    [undefined, 'plain', { type: 'text', text: 'plain' }],
    ['application/json', 'no json', { type: 'text', text: 'no json' }],
    ['image/png', bytes, { type: 'image', mimeType: 'image/png', data: bytes.toString('base64') }],
    [
      'application/octet-stream',
      bytes,
      {
        type: 'resource',
        resource: {
          uri: 'gatewarden:///api/shop/getCustomer',
          mimeType: 'application/octet-stream',
          blob: bytes.toString('base64'),
        },
      },
    ],
    ['application/json', '', { type: 'text', text: 'The API answered with status 200 and no content.' }],
  ];
  for (const [type, body, block] of answers) {
    api.answer = (_, response) => response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(body);
    const answer = await call('getCustomer', { id: 'a' });
    expect(answer.body.result?.content).toEqual([block]);
  }
  api.answer = (_, response) => sendJson(response, 200, [1, 2]);
  expect((await call('getCustomer', { id: 'a' })).body.result?.['structuredContent']).toEqual({ result: [1, 2] });
});

test('answers that are too large, late, compressed or cut off end the call', async () => {
  const kinds: readonly [HttpApi['answer'], unknown][] = [
    [(_, response) => sendJson(response, 200, 'x'.repeat(70_000)), 'result_too_large'],
    [(_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'), 'upstream_error'],
    [(_, response) => void response.writeHead(200, { 'content-length': '10' }).end('x').destroy(), 'upstream_error'],
    [() => undefined, 'upstream_timeout'],
  ];
  for (const [answer, code] of kinds) {
    api.answer = answer;
    const got = await call('getCustomer', { id: 'a' });
    expect(codeOf(got) ?? got.body.error?.data?.['code']).toBe(code);
  }
  // JSON of half the size comes as text alone.
  api.answer = (_, response) => sendJson(response, 200, { x: 'y'.repeat(40_000) });
  const half = await call('getCustomer', { id: 'a' });
  expect([textOf(half).length, half.body.result?.['structuredContent']]).toEqual([40_008, undefined]);
});

test('a request is sent once, whatever the answer', async () => {
  for (const status of [429, 500, 503]) {
    api.answer = (_, response) => response.writeHead(status, { 'retry-after': '1' }).end();
    const before = api.received.length;
    const answer = await call('getFile', { path: 'a' });
    expect(textOf(answer)).toBe(`The API answered with status ${status}. It asks to wait 1 s.`);
    expect(api.received).toHaveLength(before + 1);
  }
});

test('an API that keeps failing is left alone', async () => {
  api.answer = (_, response) => response.writeHead(500).end();
  const tried = api.received.length;
  let answer = await call('send', { body: 1 }, '/v1/mcp/home');
  for (let calls = 0; calls < 20 && answer.status === 200; calls++)
    answer = await call('send', { body: 1 }, '/v1/mcp/home');
  expect([answer.status, answer.body.error?.message]).toEqual([
    503,
    'The MCP server home has failed repeatedly and is left alone for a while. Nothing was sent.',
  ]);
  expect(api.received.length - tried).toBeLessThan(20);
});

test('a changed operation acts on the next call, and one that is gone is unknown', async () => {
  const [first, , , ...rest] = apiServer(api.url).operations;
  const operations = [{ ...first, description: 'Changed', path: '/people/{id}' }, ...rest];
  const before = await call('getCustomer', { id: 'a' });
  world.configure({
    ...configured,
    servers: { ...configured.servers, shop: { ...configured.servers.shop, operations } },
  });
  const listed = async () => (await ask(world, 'modern', '/v1/mcp/shop', 'tools/list')).body.result?.tools;
  await expect.poll(async () => (await listed())?.[0]?.['description'], { timeout: 10_000 }).toBe('Changed');
  const after = await call('getCustomer', { id: 'a' });
  expect(last().path).toBe('/v1/people/a');
  expect((await call('getFile', { path: 'a' })).body.error?.code).toBe(-32602);
  const pins = await Promise.all(
    [before, after].map(
      async ({ headers }) => (await rowOf(world.databaseUrl, headers.get('x-request-id'))).tool?.definition,
    ),
  );
  expect(new Set(pins).size).toBe(2);
  world.configure(configured);
  await expect.poll(async () => (await listed())?.length, { timeout: 10_000 }).toBe(6);
});

test('only operations that change nothing are offered where the resource says so', async () => {
  const shop = { ...configured.servers.shop, tools: { only: 'ReadOnly' } };
  world.configure({ ...configured, servers: { ...configured.servers, shop } });
  const listed = async () =>
    (await ask(world, 'modern', '/v1/mcp/shop', 'tools/list')).body.result?.tools?.map(({ name }) => name);
  await expect.poll(listed, { timeout: 10_000 }).toEqual(['getCustomer', 'getFile']);
  expect((await call('dropCustomer', { id: 'a' })).body.error?.code).toBe(-32602);
  world.configure(configured);
  await expect.poll(async () => (await listed())?.length, { timeout: 10_000 }).toBe(6);
});

test('a tenant reaches its own API with its own credential, and no other', async () => {
  const before = api.received.length;
  const answer = await ask({ ...world, key: otherKey }, 'modern', '/v1/mcp/shop', 'tools/call', {
    name: 'getCustomer',
    arguments: { id: 'a' },
  });
  expect(answer.body.result?.isError).toBeUndefined();
  expect(foreign.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer other-credential-5678']);
  expect(api.received).toHaveLength(before);
  const unknown = await ask({ ...world, key: otherKey }, 'modern', '/v1/mcp/shop', 'tools/call', {
    name: 'createOrder',
    arguments: { body: {} },
  });
  expect(unknown.body.error?.code).toBe(-32602);
  const hidden = await ask({ ...world, key: otherKey }, 'modern', '/v1/mcp/home', 'tools/list');
  expect(hidden.status).toBe(404);
});
