import { afterEach, describe, expect, test, vi } from 'vitest';
import type { McpServerOAuth } from '#/config/snapshot.ts';
import { McpTokenFault } from '#/ports/mcp-servers.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import type { TransportRequest } from '../http/transport.ts';
import { Exchanges } from './exchanges.ts';
import { AccessTokens } from './access-tokens.ts';

afterEach(() => vi.restoreAllMocks());

const AUTH: McpServerOAuth = {
  type: 'client_credentials',
  tokenUrl: 'https://id.example/oauth/token',
  clientId: 'gate:warden ü',
  clientSecret: 's3 cret+%',
  scopes: ['crm.read', 'crm.list'],
};
const GOOD = { access_token: 'token', token_type: 'Bearer', expires_in: 3600 };

/** A clock that tests set, and a token endpoint that answers as they say. */
function world(subject?: string, exchanges = new Exchanges()) {
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const sent: TransportRequest[] = [];
  const state: {
    status: number;
    body: unknown;
    headers: Record<string, string>;
    fault?: UpstreamFault;
    until?: Promise<undefined>;
  } = {
    status: 200,
    body: GOOD,
    headers: {},
  };
  const send = async (request: TransportRequest): Promise<Incoming> => {
    sent.push(request);
    if (state.fault) throw state.fault;
    await state.until;
    const text = typeof state.body === 'string' ? state.body : JSON.stringify(state.body);
    return {
      status: state.status,
      header: (name) => state.headers[name],
      text: async (limit) => {
        if (text.length > limit) throw new UpstreamFault('too_large', 'large');
        return text;
      },
      async *chunks() {},
      close: () => undefined,
    };
  };
  const transport = { send, close: async () => undefined };
  const tokensFor = (of?: string, person = of ?? '') =>
    new AccessTokens(
      AUTH,
      'https://crm.example/mcp',
      transport,
      of === undefined ? undefined : { subject: of, person, exchanges },
    );
  return { tokens: tokensFor(subject), tokensFor, sent, state, pass: (ms: number) => (now += ms) };
}

const faultOf = async (work: unknown): Promise<McpTokenFault> => {
  const thrown = await Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(McpTokenFault);
  return thrown as McpTokenFault;
};

test('asks with the id and the secret of the client, for the server and its scopes, once for all that wait', async () => {
  const { tokens, sent } = world();
  const [one, two] = await Promise.all([tokens.get(), tokens.get()]);
  expect(one).toBe(two);
  expect(one.value).toBe('token');
  expect(sent).toHaveLength(1);
  const [{ origin, path, headers, body }] = sent as [TransportRequest];
  expect(origin + path).toBe(AUTH.tokenUrl);
  expect(Object.fromEntries(new URLSearchParams(body as string))).toEqual({
    grant_type: 'client_credentials',
    resource: 'https://crm.example/mcp',
    scope: 'crm.read crm.list',
  });
  const basic = Buffer.from(headers['authorization']!.slice('Basic '.length), 'base64').toString();
  expect(basic).toBe('gate%3Awarden+%C3%BC:s3+cret%2B%25');
  expect(await tokens.get()).toBe(one);
  expect(sent).toHaveLength(1);
});

test.each([
  [3600, 2_800_000, 3_550_000],
  [60, 43_000, 48_500],
  [1_000_000, 2_800_000, 3_600_000],
  ['60', 43_000, 48_500],
  [undefined, 200_000, 250_000],
  [-5, 200_000, 250_000],
])('a token that holds %s seconds is used for as long as it surely does', async (seconds, least, most) => {
  const { tokens, sent, state, pass } = world();
  state.body = { ...GOOD, expires_in: seconds };
  await tokens.get();
  pass(least - 1);
  await tokens.get();
  expect(sent).toHaveLength(1);
  pass(most - least + 1);
  await tokens.get();
  expect(sent.length).toBeGreaterThan(1);
});

test('a token that a server took is renewed when it is refused; one that it never took, every five seconds at most', async () => {
  const { tokens, sent, pass } = world();
  const first = await tokens.get();
  expect(tokens.refused(first)).toBe(false);
  expect(await tokens.get()).toBe(first);
  first.hasWorked = true;
  expect(tokens.refused(first)).toBe(true);
  const second = await tokens.get();
  expect(second).not.toBe(first);
  // The refusal of an older token takes nothing from the newer.
  expect(tokens.refused(first)).toBe(true);
  expect(await tokens.get()).toBe(second);
  pass(5001);
  expect(tokens.refused(second)).toBe(true);
  await tokens.get();
  expect(sent).toHaveLength(3);
});

test('a token for a user is asked for with the token of the user, whose refusal is no refusal of the client', async () => {
  const { tokens, sent, state, pass } = world('of=the&user');
  await tokens.get();
  expect(Object.fromEntries(new URLSearchParams(sent[0]!.body as string))).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: 'of=the&user',
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: 'https://crm.example/mcp',
    scope: 'crm.read crm.list',
  });
  for (const [status, kind] of [
    [400, 'not_exchanged'],
    [401, 'refused'],
    [500, 'unreachable'],
  ] as const) {
    state.status = status;
    pass(4_000_000);
    expect((await faultOf(tokens.get())).kind).toBe(kind);
  }
});

describe('users of one server', () => {
  test('64 tokens are exchanged at once, and no more; the next has a place when one is done', async () => {
    const { tokensFor, sent, state } = world();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    state.until = promise;
    const all = Array.from({ length: 64 }, async (_, at) => tokensFor(`u${at}`).get());
    const next = tokensFor('next');
    expect((await faultOf(next.get())).kind).toBe('busy');
    expect(sent).toHaveLength(64);
    resolve(undefined);
    await Promise.all(all);
    expect((await next.get()).value).toBe('token');
  });

  test.each([
    [401, true],
    [503, false],
    [429, false],
    [400, false],
    [302, false],
  ])('an endpoint that answers %s to one is left alone for all: %s', async (status, isShared) => {
    const { tokensFor, sent, state, pass } = world();
    const [one, two] = [tokensFor('one'), tokensFor('two')];
    state.status = status;
    await faultOf(one.get());
    await faultOf(one.get());
    expect(sent).toHaveLength(1);
    state.status = 200;
    if (isShared) {
      await faultOf(two.get());
      expect(sent).toHaveLength(1);
      pass(1001);
    }
    expect((await two.get()).value).toBe('token');
    pass(1001);
    expect((await one.get()).value).toBe('token');
  });

  test.each([503, 429])(
    'an endpoint that answers %s to three persons in a row is left alone for all',
    async (status) => {
      const { tokensFor, sent, state, pass } = world();
      state.status = status;
      // However many tokens one person has, it is one.
      for (const token of ['a1', 'a2', 'a3', 'a4']) await faultOf(tokensFor(token, 'ada').get());
      await faultOf(tokensFor('b', 'bob').get());
      state.status = 200;
      expect((await tokensFor('c', 'cleo').get()).value).toBe('token');
      state.status = status;
      for (const person of ['ada', 'bob', 'cleo']) await faultOf(tokensFor(`${person}2`, person).get());
      const asked = sent.length;
      state.status = 200;
      await faultOf(tokensFor('d', 'dan').get());
      expect(sent).toHaveLength(asked);
      pass(1001);
      expect((await tokensFor('d', 'dan').get()).value).toBe('token');
    },
  );

  test('failures at the same time lengthen the rest once', async () => {
    const { tokensFor, sent, state, pass } = world();
    state.status = 503;
    await Promise.all(Array.from({ length: 20 }, (_, at) => faultOf(tokensFor(`u${at}`).get())));
    expect(sent).toHaveLength(20);
    pass(1001);
    state.status = 200;
    expect((await tokensFor('u').get()).value).toBe('token');
  });
});

describe('failures', () => {
  test.each<[string, object, string]>([
    ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, 'answer'],
    ['a refusal', { status: 401, body: { error: 'invalid_client', error_description: AUTH.clientSecret } }, 'refused'],
    ['a fault', { status: 500, body: AUTH.clientSecret }, 'unreachable'],
    ['no connection', { fault: new UpstreamFault('connect', 'secret') }, 'unreachable'],
    ['no answer in time', { fault: new UpstreamFault('timeout', 'secret') }, 'timeout'],
    ['no JSON', { body: '<html>' }, 'answer'],
    ['a list', { body: '[]' }, 'answer'],
    ['a large answer', { body: JSON.stringify({ ...GOOD, more: 'x'.repeat(65_536) }) }, 'answer'],
    ['no token', { body: { ...GOOD, access_token: undefined } }, 'answer'],
    ['an empty token', { body: { ...GOOD, access_token: '' } }, 'answer'],
    ['a huge token', { body: { ...GOOD, access_token: 'x'.repeat(8193) } }, 'answer'],
    ['a token that ends a header', { body: { ...GOOD, access_token: 'x\r\nx-evil: 1' } }, 'answer'],
    ['a token with a blank', { body: { ...GOOD, access_token: 'x y' } }, 'answer'],
    ['a token of another type', { body: { ...GOOD, token_type: 'DPoP' } }, 'answer'],
  ])('%s', async (_name, change, kind) => {
    const { tokens, state } = world();
    Object.assign(state, change);
    const fault = await faultOf(tokens.get());
    expect(fault.kind).toBe(kind);
    expect(fault.message).not.toMatch(/secret|s3|evil/);
  });

  test('an endpoint that fails is left alone, for longer each time and a minute at most', async () => {
    const { tokens, sent, state, pass } = world();
    state.status = 503;
    for (let round = 0; round < 12; round++) {
      await faultOf(tokens.get());
      const asked = sent.length;
      for (let call = 0; call < 50; call++) expect((await faultOf(tokens.get())).retryAfterMs).toBeGreaterThan(0);
      expect(sent).toHaveLength(asked);
      pass(Math.min(60_000, 1000 * 2 ** round));
    }
    expect(sent).toHaveLength(12);
    state.status = 200;
    expect((await tokens.get()).value).toBe('token');
  });

  test('an endpoint may ask for a longer rest, of a minute at most', async () => {
    const { tokens, sent, state, pass } = world();
    Object.assign(state, { status: 429, headers: { 'retry-after': '3600' } });
    await faultOf(tokens.get());
    pass(59_000);
    await faultOf(tokens.get());
    expect(sent).toHaveLength(1);
    pass(1001);
    await faultOf(tokens.get());
    expect(sent).toHaveLength(2);
  });
});
