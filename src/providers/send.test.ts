import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, onTestFinished, vi } from 'vitest';
import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import type { VendorId } from '#/vendors/list.ts';
import { UpstreamFault, type Outgoing, type Provider } from '#/ports/provider.ts';
import type { Family } from '#/wire/document/document.ts';
import { createProviders } from './registry.ts';
import { outgoingTo } from './testing/asking.ts';
import { apiKey, configOf } from './testing/config.ts';
import { createTransport, type Transport } from './http/transport.ts';

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let transport: Transport;
let base: string;
let seen: Seen[];
let token: { status: number; body: string };
let stop: () => Promise<void>;

beforeEach(async () => {
  transport = createTransport();
  seen = [];
  token = { status: 200, body: JSON.stringify({ access_token: 'entra-1', expires_in: 3600 }) };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, path: url, headers, body: Buffer.concat(parts).toString('utf8') });
      if (url.startsWith('/token')) response.statusCode = token.status;
      if (url.includes('refused')) response.writeHead(429, { 'retry-after': '2', 'x-should-retry': 'false' });
      response.end(url.startsWith('/token') ? token.body : '{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});

afterEach(async () => {
  await transport.close();
  await stop();
});

type Over = Partial<Omit<ProviderConfig, 'models'>>;

function providerOf(vendor: VendorId, over: Over = {}): Provider {
  const provider = createProviders(transport)(configOf(vendor, { url: `${base}/v1`, ...over }));
  if (!provider) throw new Error(`no way out to ${vendor}`);
  return provider;
}

function outgoing(provider: Provider, family: Family, over: Partial<Outgoing> = {}): Outgoing {
  return outgoingTo(provider, { family, body: '{"model":"m"}', timeoutMs: 20_000, ...over });
}

async function send(provider: Provider, family: Family, over: Partial<Outgoing> = {}): Promise<Seen> {
  const incoming = await provider.send(outgoing(provider, family, over));
  await incoming.text(1000);
  return seen.at(-1)!;
}

describe('where a family is asked for', () => {
  test.each<readonly [VendorId, Family, string, Over]>([
    ['openai', 'chat', '/v1/chat/completions', {}],
    ['openai', 'responses', '/v1/responses', {}],
    ['openai', 'completions', '/v1/completions', {}],
    ['openai', 'embeddings', '/v1/embeddings', {}],
    ['openai', 'moderations', '/v1/moderations', {}],
    ['openai', 'images', '/v1/images/generations', {}],
    ['mistral', 'ocr', '/v1/ocr', {}],
    ['custom', 'rerank', '/v1/rerank', {}],
    ['together', 'rerank', '/v1/rerank', {}],
    ['anthropic', 'messages', '/v1/messages', {}],
    ['custom', 'messages', '/v1/messages', { protocol: 'messages' }],
    ['custom', 'chat', '/v1/chat/completions', {}],
    ['azure', 'chat', '/v1/chat/completions', {}],
    ['azure', 'chat', '/v1/chat/completions?api-version=preview', { apiVersion: 'preview' }],
    ['azure', 'chat', '/v1/chat/completions?api-version=2024-10-21', { apiVersion: '2024-10-21' }],
  ])('%s %s: %s', async (vendor, family, path, over) => {
    expect(await send(providerOf(vendor, over), family)).toMatchObject({ method: 'POST', path, body: '{"model":"m"}' });
  });

  test.each<readonly [string, string | undefined, Family, string]>([
    ['', undefined, 'responses', '/openai/v1/responses'],
    ['/openai', undefined, 'chat', '/openai/v1/chat/completions'],
    ['/openai/v1', undefined, 'chat', '/openai/v1/chat/completions'],
    ['', 'v1', 'chat', '/openai/v1/chat/completions?api-version=v1'],
    ['', '2024-10-21', 'chat', '/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21'],
    ['/openai', '2024-10-21', 'images', '/openai/deployments/my%20gpt/images/generations?api-version=2024-10-21'],
  ])('azure at %j, version %s, %s: %s', async (path, apiVersion, family, expected) => {
    const provider = providerOf('azure', { url: base + path, ...(apiVersion !== undefined && { apiVersion }) });
    expect((await send(provider, family, { model: 'my gpt' })).path).toBe(expected);
    expect(provider.families('gpt-5').includes('responses')).toBe(!expected.includes('deployments'));
  });

  test('streams are asked for as such', async () => {
    expect((await send(providerOf('groq'), 'chat', { stream: true })).headers.accept).toBe('text/event-stream');
    expect((await send(providerOf('groq'), 'chat')).headers.accept).toBe('application/json');
  });
});

describe('who asks', () => {
  const names = ['authorization', 'x-api-key', 'api-key'] as const;
  const auth = ({ headers }: Seen) =>
    Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])));

  test.each<readonly [VendorId, Over, Record<string, string>]>([
    ['openai', {}, { authorization: 'Bearer sk-test' }],
    ['ovhcloud', {}, { authorization: 'Bearer sk-test' }],
    ['azure', {}, { 'api-key': 'sk-test' }],
    ['custom', { credentials: [] }, {}],
    ['custom', {}, { authorization: 'Bearer sk-test' }],
  ])('%s %j', async (vendor, over, expected) => {
    expect(auth(await send(providerOf(vendor, over), 'chat'))).toEqual(expected);
  });

  test.each<readonly [VendorId, Over, Record<string, string>]>([
    ['anthropic', {}, { 'x-api-key': 'sk-test' }],
    ['anthropic', { credentials: [apiKey('sk-ant-oat01-x')] }, { authorization: 'Bearer sk-ant-oat01-x' }],
    ['custom', { protocol: 'messages' }, { 'x-api-key': 'sk-test' }],
    ['custom', { protocol: 'messages', credentials: [] }, {}],
  ])('%s %j, by messages', async (vendor, over, expected) => {
    expect(auth(await send(providerOf(vendor, over), 'messages'))).toEqual(expected);
  });

  test("no credential of the client's goes on", async () => {
    const headers = { authorization: 'Bearer gw_live_x', 'x-api-key': 'gw_live_x', cookie: 'a=b', 'x-custom': '1' };
    const { headers: sent } = await send(providerOf('anthropic'), 'messages', { headers });
    expect(JSON.stringify(sent)).not.toContain('gw_live_x');
    expect([sent.cookie, sent['x-custom']]).toEqual([undefined, undefined]);
  });

  test('is the account that the call is given', async () => {
    const provider = providerOf('openai', { credentials: [apiKey('a'), apiKey('b')] });
    expect(auth(await send(provider, 'chat', { credential: apiKey('b') }))).toEqual({ authorization: 'Bearer b' });
  });
});

describe("headers of the messages vendor's protocol", () => {
  const sent = async (headers: Outgoing['headers'], over: Over = {}) => {
    const { headers: seenHeaders } = await send(providerOf('anthropic', over), 'messages', { headers });
    return [seenHeaders['anthropic-version'], seenHeaders['anthropic-beta']];
  };

  test.each<readonly [Outgoing['headers'], Over, readonly [string, string | undefined]]>([
    [{}, {}, ['2023-06-01', undefined]],
    [{ 'anthropic-version': '2026-10-21' }, {}, ['2026-10-21', undefined]],
    [{ 'anthropic-version': 'latest\r\nx: y' }, {}, ['2023-06-01', undefined]],
    [{ 'anthropic-beta': 'a-1,  b-2,oauth-2025-04-20' }, {}, ['2023-06-01', 'a-1,  b-2,oauth-2025-04-20']],
    [{ 'anthropic-beta': ['a-1', 'b-2'] }, {}, ['2023-06-01', 'a-1,b-2']],
    [{ 'anthropic-beta': 'a-1,  oauth-2025-04-20,b-2' }, { keyOwnership: 'managed' }, ['2023-06-01', 'a-1,b-2']],
    [{ 'anthropic-beta': 'oauth-2025-04-20' }, { keyOwnership: 'managed' }, ['2023-06-01', undefined]],
    [{ 'anthropic-beta': 'a-1,  b-2' }, { keyOwnership: 'managed' }, ['2023-06-01', 'a-1,  b-2']],
  ])('%j %j', async (headers, over, expected) => {
    expect(await sent(headers, over)).toEqual(expected);
  });

  test('go to nobody else', async () => {
    const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1' };
    const { headers: seenHeaders } = await send(providerOf('openai'), 'chat', { headers });
    expect([seenHeaders['anthropic-version'], seenHeaders['anthropic-beta']]).toEqual([undefined, undefined]);
  });
});

describe('tokens of an Entra application', () => {
  const credential = (tokenUrl: string): CredentialConfig => ({
    name: 'app',
    type: 'azure_ad',
    secret: JSON.stringify({ tenantId: 't', clientId: 'c', clientSecret: 's+/', tokenUrl }),
    weight: 1,
  });
  const fetches = () => seen.filter(({ path }) => path.startsWith('/token'));

  test('are fetched once for many calls at once, and sent as bearer tokens', async () => {
    const provider = providerOf('azure', { credentials: [credential(`${base}/token`)] });
    await Promise.all(Array.from({ length: 50 }, () => send(provider, 'chat')));
    expect(fetches()).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(fetches()[0]!.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'c',
      client_secret: 's+/',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
    const calls = seen.filter(({ path }) => !path.startsWith('/token'));
    expect(calls).toHaveLength(50);
    for (const { headers } of calls)
      expect([headers.authorization, headers['api-key']]).toEqual(['Bearer entra-1', undefined]);
  });

  test('are fetched again once they have ended, once for all who wait', async () => {
    token.body = JSON.stringify({ access_token: 'short', expires_in: 100 });
    const provider = providerOf('azure', { credentials: [credential(`${base}/token`)] });
    await send(provider, 'chat');
    token.body = JSON.stringify({ access_token: 'entra-2', expires_in: 3600 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 100_000 });
    onTestFinished(() => void vi.useRealTimers());
    await Promise.all(Array.from({ length: 20 }, () => send(provider, 'chat')));
    expect(fetches().length).toBe(2);
    expect(seen.at(-1)!.headers.authorization).toBe('Bearer entra-2');
  });

  test.each([
    [401, '{"error":"invalid_client","error_description":"s+/ is wrong"}'],
    [200, '{"access_token":5,"expires_in":3600}'],
    [200, '{"access_token":"a"}'],
    [200, '<html>'],
  ])('that are not to be had fail the call without a word of the secret: %i %s', async (status, body) => {
    token = { status, body };
    const provider = providerOf('azure', { credentials: [credential(`${base}/token`)] });
    const fault: unknown = await provider.send(outgoing(provider, 'chat')).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(UpstreamFault);
    expect(String(fault)).not.toContain('s+/');
    token = { status: 200, body: JSON.stringify({ access_token: 'entra-3', expires_in: 3600 }) };
    expect((await send(provider, 'chat')).headers.authorization).toBe('Bearer entra-3');
  });
});

describe('what is passed on', () => {
  const signal = new AbortController().signal;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a');
    yield Buffer.from('b');
  }

  test('keeps method, path, type and body, and gets the credential', async () => {
    const provider = providerOf('openai');
    const incoming = await provider.pass!({
      method: 'POST',
      path: '/audio/transcriptions?x=1',
      contentType: 'multipart/form-data; boundary=b',
      body: pieces(),
      credential: apiKey('sk-test'),
      timeoutMs: 20_000,
      signal,
    });
    expect(await incoming.text(1000)).toBe('{"ok":true}');
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/v1/audio/transcriptions?x=1', body: 'ab' });
    expect(seen[0]!.headers).toMatchObject({
      authorization: 'Bearer sk-test',
      'content-type': 'multipart/form-data; boundary=b',
    });
  });

  test('on Azure names the version', async () => {
    const provider = providerOf('azure', { url: base, apiVersion: 'preview' });
    const passing = { method: 'GET', contentType: undefined, body: undefined, timeoutMs: 20_000, signal } as const;
    const credential = apiKey('k');
    await (await provider.pass!({ ...passing, credential, path: '/files?limit=2' })).text(1000);
    expect(seen[0]).toMatchObject({ method: 'GET', path: '/openai/v1/files?limit=2&api-version=preview', body: '' });
  });
});

test('a refusal is read off the answer as it came', async () => {
  const provider = providerOf('openai', { url: `${base}/refused` });
  const incoming = await provider.send(outgoing(provider, 'chat'));
  const failure = provider.readFailure(incoming, '{"error":{"message":"slow down"}}');
  expect(failure).toEqual({ message: 'slow down', retryAfterMs: 2000, retryable: false, status: undefined });
  incoming.close();
});

describe('families, names and places', () => {
  test('a model that chat does not serve is asked by responses', () => {
    const openai = providerOf('openai');
    expect(openai.families('gpt-4o')[0]).toBe('chat');
    expect(openai.families('gpt-5.2-pro')).not.toContain('chat');
    expect(openai.families('gpt-5.2-pro', { tools: false })).not.toContain('chat');
    expect(openai.families('gpt-5.6')[0]).toBe('responses');
    expect(openai.families('gpt-5.6')).not.toContain('chat');
    expect(openai.families('gpt-5.6', { tools: true })).not.toContain('chat');
    expect(openai.families('gpt-5.6', { tools: false })[0]).toBe('chat');
    const classic = providerOf('azure', { url: base, apiVersion: '2024-10-21' });
    expect(classic.families('gpt-5.6')).toContain('chat');
  });

  test('are as configured', () => {
    const models = [{ id: 'a', upstreamId: 'deployment-a', jurisdiction: 'DE' }, { id: 'b' }];
    const provider = createProviders(transport)(configOf('azure', { models }))!;
    expect(['a', 'b', 'c'].map((model) => provider.upstreamModel(model))).toEqual(['deployment-a', 'b', 'c']);
    expect(['a', 'b', 'c'].map((model) => provider.jurisdiction(model))).toEqual(['DE', 'EU', 'EU']);
  });

  test('every provider is made once per configuration', () => {
    const providers = createProviders(transport);
    const config = configOf('groq');
    expect(providers(config)).toBe(providers(config));
    expect(providers({ ...config })).not.toBe(providers(config));
  });
});
