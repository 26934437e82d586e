import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { lookup } from 'node:dns';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { S3Client } from '#/adapters/s3/signed-request.ts';
import { createAlertWebhook } from '#/adapters/webhook/alert-webhook.ts';
import { azureTokens } from '#/providers/azure/token.ts';
import { guardedConnector } from '#/providers/http/guarded-connector.ts';
import { createTransport } from '#/providers/http/transport.ts';
import type { Alert } from '#/ports/alerts.ts';
import { tally } from './tally.ts';

/** Servers that lead the gateway elsewhere, with what it has in its hands. */

const tried = tally('redirects and addresses');
const transport = createTransport();
/** What came where nobody is to be led. */
const stolen: string[] = [];
let servers: Server[];
let misleading: string;
let status = 307;

beforeAll(async () => {
  const thief = createServer((incoming, response) => {
    stolen.push(`${incoming.method} ${incoming.url} ${JSON.stringify(incoming.headers)}`);
    response.end('{"access_token":"x","expires_in":3600}');
  });
  const elsewhere = await listen(thief);
  const first = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(status, { location: `${elsewhere}/stolen` }).end();
  });
  misleading = await listen(first);
  servers = [thief, first];
});

afterAll(async () => {
  await transport.close();
  for (const server of servers) server.close();
});

function listen(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
}

const signal = new AbortController().signal;
const ask = (origin: string) =>
  transport.send({
    method: 'POST',
    origin,
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-secret' },
    body: '{}',
    timeoutMs: 10_000,
    idle: false,
    signal,
  });

describe.each([301, 302, 303, 307, 308])('a redirect by %i is not followed', (code) => {
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    provider: async () => (await ask(misleading)).text(1000),
    'token endpoint': () =>
      azureTokens(transport)(
        JSON.stringify({ tenantId: 't', clientId: 'c', clientSecret: 's', tokenUrl: `${misleading}/token` }),
      ).catch(() => undefined),
    'alert webhook': () =>
      createAlertWebhook({ url: misleading, secret: 'a secret of sixteen', waitsMs: [1] }).deliver({
        amount: 1n,
        spent: 1n,
        left: 0n,
        at: 0,
      } as unknown as Alert),
    'object storage': async () => {
      const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b' });
      const s3 = new S3Client({ bucket: 'b', endpoint: misleading, region: 'eu-central-1', credentials });
      await s3.send({ method: 'PUT', key: 'k', body: 'x' });
      await s3.close();
    },
  };

  test.each(Object.keys(ways))('by the %s', async (way) => {
    status = code;
    await ways[way]!();
    expect(stolen).toEqual([]);
    tried.held(`${way} by ${code}`);
  });
});

test('every fetch of the sources says what it does with redirects', () => {
  const root = join(import.meta.dirname, '../../src');
  const silent = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const fetches = text.match(/(?<![.#\w])fetch\((?!address: )/g)?.length ?? 0;
      return fetches > (text.match(/redirect: '(?:error|manual)'/g)?.length ?? 0);
    });
  expect(silent).toEqual([]);
});

describe('a machine is not asked about itself', () => {
  test.each([
    'http://169.254.169.254',
    'http://[fe80::1]',
    'http://[::ffff:169.254.169.254]',
    'http://metadata.google.internal',
  ])('at %s', async (origin) => {
    await expect(ask(origin)).rejects.toMatchObject({
      kind: 'connect',
      message: expect.stringContaining('ERR_MACHINE_ADDRESS') as string,
    });
    tried.held(origin);
  });

  test('by a name that leads there when it is resolved', async () => {
    const answers = [
      [{ address: '169.254.169.254', family: 4 }],
      [
        { address: '127.0.0.1', family: 4 },
        { address: 'fe80::1', family: 6 },
      ],
    ];
    for (const addresses of answers) {
      const resolve = ((_name: string, _how: object, done: (error: null, all: object[]) => void) =>
        done(null, addresses)) as unknown as typeof lookup;
      const agent = new Agent({ connect: guardedConnector({ resolve }) });
      await expect(request('http://models.example', { dispatcher: agent })).rejects.toMatchObject({
        code: 'ERR_MACHINE_ADDRESS',
      });
      await agent.close();
      tried.held('rebound name');
    }
  });

  test('while a name that leads to this machine or its network is asked', async () => {
    const resolve = ((_name: string, _how: object, done: (error: null, all: object[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof lookup;
    const agent = new Agent({ connect: guardedConnector({ resolve }) });
    const { port } = new URL(misleading);
    const answer = await request(`http://models.svc:${port}`, { dispatcher: agent });
    expect(answer.statusCode).toBe(status);
    await answer.body.dump();
    await agent.close();
  });
});

describe('servers of tools do not lead the gateway to itself', () => {
  const asking = async (host: string, own: readonly string[]): Promise<number> => {
    const { port } = new URL(misleading);
    const guarded = createTransport({ ownPorts: () => new Set(own.map((address) => Number(new URL(address).port))) });
    try {
      const origin = `http://${host}:${port}`;
      const asked = { method: 'GET', path: '/metrics', headers: {}, body: undefined, timeoutMs: 10_000 } as const;
      const answer = await guarded.send({ ...asked, origin, idle: false, signal });
      answer.close();
      return answer.status;
    } finally {
      await guarded.close();
    }
  };
  const elsewhere = 'http://127.0.0.1:9';

  test.each(['127.0.0.1', '127.0.0.2', '0.0.0.0', '[::ffff:127.0.0.1]', 'localhost'])('at %s', async (host) => {
    await expect(asking(host, [misleading])).rejects.toMatchObject({
      kind: 'connect',
      message: expect.stringContaining('ERR_MACHINE_ADDRESS') as string,
    });
    if (host === '127.0.0.1') expect(await asking(host, [elsewhere])).toBe(status);
  });

  test('by a name that leads to this machine when it is resolved, also by its address in a network', async () => {
    const { port } = new URL(misleading);
    const network = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
    for (const { address, family } of [{ address: '127.0.0.1', family: 'IPv4' }, ...network]) {
      const resolve = ((_name: string, _how: object, done: (error: null, all: object[]) => void) =>
        done(null, [{ address, family: family === 'IPv4' ? 4 : 6 }])) as unknown as typeof lookup;
      const agent = new Agent({ connect: guardedConnector({ resolve, ownPorts: () => new Set([Number(port)]) }) });
      await expect(request(`http://tools.example:${port}`, { dispatcher: agent })).rejects.toMatchObject({
        code: 'ERR_MACHINE_ADDRESS',
      });
      await agent.close();
    }
  });
});
