import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { AccessTokenFault } from '#/ports/access-tokens.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { createTokenChecker } from './token-checker.ts';

const ISSUER = 'https://id.example';
const RESOURCE = 'https://gw.example/v1/mcp';
const NOW = () => Math.floor(Date.now() / 1000);
type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
let keys: Keys;
let others: Keys;

beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true });
  others = await generateKeyPair('RS256', { extractable: true });
});
afterEach(() => vi.restoreAllMocks());

const jwk = async ({ publicKey }: Keys, kid: string) => ({ ...(await exportJWK(publicKey)), kid, use: 'sig' });
const claims = (more: Readonly<Record<string, unknown>> = {}): JWTPayload => ({
  iss: ISSUER,
  aud: RESOURCE,
  exp: NOW() + 300,
  client_id: 'agent',
  ...more,
});
const sign = (
  payload: JWTPayload = claims(),
  header: object = {},
  by: Keys['privateKey'] = keys.privateKey,
): Promise<string> => new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'a', ...header }).sign(by);

/** An issuer whose keys a test sets, and a clock for how long they are kept. */
async function world() {
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const state: { text: string; status: number; fault: boolean; silent?: boolean } = {
    text: JSON.stringify({ keys: [await jwk(keys, 'a')] }),
    status: 200,
    fault: false,
  };
  let fetched = 0;
  const send = async (): Promise<Incoming> => {
    fetched += 1;
    if (state.silent === true) return new Promise(() => {});
    if (state.fault) throw new UpstreamFault('connect', 'gone');
    return {
      status: state.status,
      header: () => undefined,
      text: async (limit) => {
        if (state.text.length > limit) throw new UpstreamFault('too_large', 'large');
        return state.text;
      },
      async *chunks() {},
      close: () => undefined,
    };
  };
  const transport = { send, close: async () => undefined };
  const checker = createTokenChecker({ issuer: ISSUER, jwksUrl: `${ISSUER}/jwks` }, transport);
  return { checker, state, fetched: () => fetched, pass: (ms: number) => (now += ms) };
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => 'good',
    (error: unknown) => error,
  );
  return thrown instanceof AccessTokenFault ? `${thrown.kind}: ${thrown.message}` : String(thrown);
}

test('a good token is known by its claims; its keys are fetched once', async () => {
  const { checker, fetched } = await world();
  for (const header of [{}, { typ: 'JWT' }, { typ: 'at+jwt' }, { typ: 'application/AT+JWT' }])
    expect(await checker.check(await sign(claims(), header), RESOURCE)).toMatchObject({ client_id: 'agent' });
  expect(await checker.check(await sign(claims({ aud: ['x', RESOURCE] })), RESOURCE)).toBeDefined();
  expect(fetched()).toBe(1);
});

describe('a token is not taken', () => {
  const bad: Record<string, () => Promise<string>> = {
    'for another resource': () => sign(claims({ aud: `${RESOURCE}/crm` })),
    'for a resource that begins like ours': () => sign(claims({ aud: `${RESOURCE}.evil.example` })),
    'without an audience': () => sign(claims({ aud: undefined })),
    'of another issuer': () => sign(claims({ iss: `${ISSUER}/` })),
    expired: () => sign(claims({ exp: NOW() - 31 })),
    'without an end': () => sign(claims({ exp: undefined })),
    'not valid yet': () => sign(claims({ nbf: NOW() + 60 })),
    'of a stranger with our key id': () => sign(claims(), {}, others.privateKey),
    'that brings its own key': async () => sign(claims(), { jwk: await jwk(others, 'a') }, others.privateKey),
    'that names its own keys': () => sign(claims(), { jku: 'https://evil.example/jwks' }, others.privateKey),
    'without a signature': async () => new UnsecuredJWT(claims()).encode(),
    'with the public key as a secret': async () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', kid: 'a' })
        .sign(new TextEncoder().encode(await exportSPKI(keys.publicKey))),
    'that is an id token of another type': () => sign(claims(), { typ: 'logout+jwt' }),
    'bound to a key of its client': () => sign(claims({ cnf: { jkt: 'x' } })),
    'with an extension that must be understood': async () => {
      const [, payload, signature] = (await sign()).split('.');
      const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'a', crit: ['x'], x: 1 })).toString('base64url');
      return `${header}.${payload}.${signature}`;
    },
    'that is huge': async () => `${await sign()}${'A'.repeat(8192)}`,
    'without parts': async () => 'eyJ.eyJ.',
    'whose claims are a list': async () => {
      const [header, , signature] = (await sign()).split('.');
      return `${header}.${Buffer.from('[]').toString('base64url')}.${signature}`;
    },
    'with other claims than were signed': async () => {
      const [header, , signature] = (await sign()).split('.');
      const payload = Buffer.from(JSON.stringify(claims({ client_id: 'other' }))).toString('base64url');
      return `${header}.${payload}.${signature}`;
    },
  };
  test.each(Object.keys(bad))('%s', async (name) => {
    const { checker } = await world();
    const token = await bad[name]!();
    const fault = await faultOf(checker.check(token, RESOURCE));
    expect(fault).toMatch(/^bad: The access token /);
    expect(fault).not.toContain(token.slice(0, 40));
  });
});

describe('keys', () => {
  test('a token that names no key is tried with four of them', async () => {
    const { checker, state, pass } = await world();
    const nameless = await sign(claims(), { kid: undefined });
    const withKeys = async (...all: readonly Keys[]): Promise<string> => {
      state.text = JSON.stringify({ keys: await Promise.all(all.map((one, at) => jwk(one, `k${at}`))) });
      pass(600_001);
      return faultOf(checker.check(nameless, RESOURCE));
    };
    expect(await withKeys(keys)).toBe('good');
    expect(await withKeys(others, keys)).toBe('good');
    expect(await withKeys(others, others, others, keys)).toBe('good');
    expect(await withKeys(others, others, others, others, keys)).toMatch(/^bad/);
    expect(await withKeys(others, others)).toMatch(/^bad/);
    const expired = await sign(claims({ exp: NOW() - 31 }), { kid: undefined });
    await withKeys(others, keys);
    expect(await faultOf(checker.check(expired, RESOURCE))).toMatch(/expired/);
  });

  test('10,000 tokens with unknown keys have the issuer asked once in half a minute', async () => {
    const { checker, state, fetched, pass } = await world();
    await checker.check(await sign(), RESOURCE);
    const [, payload, signature] = (await sign()).split('.');
    const unknown = (kid: string): string =>
      `${Buffer.from(JSON.stringify({ alg: 'RS256', kid })).toString('base64url')}.${payload}.${signature}`;
    const newest = 'unavailable: the newest keys of the issuer are not known';
    expect(await faultOf(checker.check(unknown('k'), RESOURCE))).toBe(newest);
    pass(30_001);
    const all = Array.from({ length: 10_000 }, (_, at) => faultOf(checker.check(unknown(`k${at}`), RESOURCE)));
    expect(new Set(await Promise.all(all))).toEqual(
      new Set(['bad: The access token is signed with a key that its issuer does not have.']),
    );
    expect(fetched()).toBe(2);
    await checker.check(await sign(), RESOURCE);
    state.fault = true;
    pass(30_001);
    expect(await faultOf(checker.check(unknown('k'), RESOURCE))).toBe(newest);
    expect(fetched()).toBe(3);
  });

  test('a new key is found at once, and one that was replaced is good for ten minutes at most', async () => {
    const { checker, state, pass } = await world();
    const old = await sign(claims({ exp: NOW() + 9999 }));
    await checker.check(old, RESOURCE);
    state.text = JSON.stringify({ keys: [await jwk(others, 'b')] });
    pass(30_001);
    await checker.check(await sign(claims(), { kid: 'b' }, others.privateKey), RESOURCE);
    expect(await faultOf(checker.check(old, RESOURCE))).toMatch(/^unavailable/);
    pass(30_001);
    expect(await faultOf(checker.check(old, RESOURCE))).toMatch(/^bad/);
    state.text = JSON.stringify({ keys: [await jwk(keys, 'b')] });
    pass(600_001);
    expect(await faultOf(checker.check(await sign(claims(), { kid: 'b' }, others.privateKey), RESOURCE))).toMatch(
      /^bad/,
    );
  });

  test('an issuer that cannot be asked is believed for an hour, and then no more', async () => {
    const { checker, state, pass, fetched } = await world();
    const token = await sign();
    await checker.check(token, RESOURCE);
    state.fault = true;
    pass(3_500_000);
    await checker.check(token, RESOURCE);
    pass(200_000);
    expect(await faultOf(checker.check(token, RESOURCE))).toMatch(/^unavailable/);
    const before = fetched();
    for (let tries = 0; tries < 100; tries++) await faultOf(checker.check(token, RESOURCE));
    expect(fetched()).toBe(before);
  });

  test('no token waits for an issuer that failed before, as long as its last keys hold', async () => {
    const { checker, state, pass, fetched } = await world();
    const token = await sign();
    await checker.check(token, RESOURCE);
    state.fault = true;
    pass(600_001);
    await checker.check(token, RESOURCE);
    state.silent = true;
    pass(30_001);
    await checker.check(token, RESOURCE);
    expect(fetched()).toBe(3);
  });

  test.each<[string, object]>([
    ['no connection', { fault: true }],
    ['a redirect', { status: 302 }],
    ['no JSON', { text: '<html>' }],
    ['no keys', { text: '{"keys":[]}' }],
    ['a large answer', { text: `{"keys":[{}],"x":"${'x'.repeat(300_000)}"}` }],
  ])('without keys no token is taken: %s', async (_name, change) => {
    const { checker, state, fetched, pass } = await world();
    Object.assign(state, change);
    const token = await sign();
    const all = await Promise.all(Array.from({ length: 100 }, () => faultOf(checker.check(token, RESOURCE))));
    expect(new Set(all)).toEqual(new Set(['unavailable: the keys of the issuer are not known']));
    expect(fetched()).toBe(1);
    Object.assign(state, { fault: false, status: 200, text: JSON.stringify({ keys: [await jwk(keys, 'a')] }) });
    pass(2001);
    await checker.check(token, RESOURCE);
  });
});
