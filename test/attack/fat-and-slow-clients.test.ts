import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import Anthropic from '@anthropic-ai/sdk';
import { request } from 'undici';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { chat } from '../harness/answers.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { tally } from './tally.ts';

/** Clients that send much, at once, slowly, or without ever coming to an end. */

const MIB = 1024 * 1024;
const ROOM_MIB = 512;
/** The largest body that is taken. */
const LIMIT_MIB = 24;
const tried = tally('fat and slow clients x answers');

const [greedy, limited, other] = [newKey(), newKey(), newKey()];
let upstream: Upstream;
let gateway: GatewayProcess;

function tenantsOf(upstreamUrl: string): object[] {
  const keyOf = (name: string, workload: string, secret: string): object =>
    resource('VirtualKey', name, {
      workloadRef: { name: workload },
      hash: { algorithm: 'SHA256', value: hash('sha256', secret, 'hex') },
    });
  return [
    ...tenant({ upstreamUrl, key: greedy }),
    resource('Workload', 'limited', { organizationRef: { name: 'acme' }, limits: { requestsPerMinute: 5 } }),
    keyOf('limited-key', 'limited', limited),
    resource('Organization', 'other', { contact: { email: 'ops@other.example' }, priceBookRef: { name: 'prices' } }),
    resource('Workload', 'theirs', { organizationRef: { name: 'other' } }),
    keyOf('other-key', 'theirs', other),
  ];
}

beforeAll(async () => {
  upstream = await startUpstream(chat({ content: 'Hello.' }));
  gateway = await startGateway({
    resources: tenantsOf(upstream.url),
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
    env: { GW_BODY_MEMORY_MIB: String(ROOM_MIB), GW_BODY_LIMIT_MIB: String(LIMIT_MIB) },
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

function bodyOf(mib: number): Buffer<ArrayBuffer> {
  const content = 'The quick brown fox jumps over it. '.repeat(Math.floor((mib * MIB) / 35));
  return Buffer.from(JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content }] }));
}

const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** Sends without saying how much it will be: the gateway learns of each byte as it comes. */
async function upload(key: string, body: Uint8Array<ArrayBuffer>): Promise<number> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < body.length; at += 256 * 1024) yield body.subarray(at, at + 256 * 1024);
  }
  const answer = await request(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: headersOf(key),
    body: Readable.from(pieces(), { objectMode: false }),
  });
  await answer.body.dump();
  return answer.statusCode;
}

/** The most memory the gateway has had so far, in MiB. */
function peakMib(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

async function roomTaken(): Promise<number> {
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return Number(/^gw_body_memory_bytes (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN);
}

const givenBack = () => expect.poll(roomTaken, { timeout: 30_000 }).toBe(0);

describe('large bodies', () => {
  test('of one key at once take no more memory than it has a share in, and another organization is served', async () => {
    const before = peakMib();
    const body = bodyOf(20);
    const sent = Array.from({ length: 24 }, () => upload(greedy, body));
    const theirs = Array.from({ length: 10 }, () => upload(other, bodyOf(0.002)));
    expect(await Promise.all(theirs)).toEqual(Array.from({ length: 10 }, () => 200));
    const statuses = await Promise.all(sent);
    for (const [index, status] of statuses.entries()) {
      if (status === 429 || status === 200) tried.held(`upload ${index}`);
      else tried.passed(`upload ${index} is answered ${status}`);
    }
    expect(statuses).toContain(200);
    expect(statuses).toContain(429);
    const grown = peakMib() - before;
    expect(grown).toBeLessThan(ROOM_MIB);
    await givenBack();
  });

  test('of a key that may make five requests a minute are refused as they arrive', async () => {
    const body = bodyOf(2);
    const statuses = await Promise.all(Array.from({ length: 20 }, () => upload(limited, body)));
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(5);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(15);
    // What the counters have left is known: not one more body is taken in.
    const sent = await sendHead(limited, 20 * MIB);
    expect(sent).toMatch(/^HTTP\/1\.1 429 /);
    for (const _ of statuses) tried.held('upload beyond the requests per minute');
    await givenBack();
  });
});

/** Sends the head of a request and nothing of its body; resolves with what comes back. */
function sendHead(key: string, length: number, more = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', reject);
    socket.once('data', (bytes: Buffer) => {
      socket.destroy();
      resolve(bytes.toString('latin1'));
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`,
    );
  });
}

test('a client that asks before it sends is told no before it has sent anything, and yes when it is wanted', async () => {
  const expects = 'Expect: 100-continue\r\n';
  expect(await sendHead(newKey(), 1000, expects)).toMatch(/^HTTP\/1\.1 401 /);
  expect(await sendHead(greedy, 100 * MIB, expects)).toMatch(/^HTTP\/1\.1 413 /);
  expect(await sendHead(greedy, 1000, expects)).toMatch(/^HTTP\/1\.1 100 /);
  await givenBack();
});

describe('a refusal while the body is being sent is read as one', () => {
  const fat = 'The quick brown fox jumps over it. '.repeat(Math.floor((LIMIT_MIB + 8) * MIB) / 35);
  const cases = [
    ['too large', 413, () => greedy],
    ['unknown key', 401, () => newKey()],
    ['beyond its rate', 429, () => limited],
  ] as const;

  test.each(cases)('by undici: %s', async (_name, status, key) => {
    for (let round = 0; round < 5; round++) {
      const statusCode = await upload(key(), Buffer.from(fat));
      expect(statusCode).toBe(status);
      tried.held(`undici ${status}`);
    }
  });

  test.each(cases)('by fetch: %s', async (_name, status, key) => {
    for (let round = 0; round < 5; round++) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: headersOf(key()),
        body: fat,
      });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ error: { code: expect.any(String) as string } });
      tried.held(`fetch ${status}`);
    }
  });

  test.each(cases)("by OpenAI's client: %s", async (_name, status, key) => {
    const client = new OpenAI({ apiKey: key(), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const call = client.chat.completions.create({ model: 'upstream/m', messages: [{ role: 'user', content: fat }] });
    await expect(call).rejects.toMatchObject({ status });
    tried.held(`openai ${status}`);
  });

  test.each(cases)("by Anthropic's client: %s", async (_name, status, key) => {
    const client = new Anthropic({ apiKey: key(), authToken: null, baseURL: gateway.url, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: fat }];
    const call = client.messages.create({ model: 'upstream/m', max_tokens: 9, messages });
    await expect(call).rejects.toMatchObject({ status });
    tried.held(`anthropic ${status}`);
  });
});

test('a path that nobody serves takes in no body', async () => {
  const before = peakMib();
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const answer = await fetch(`${gateway.url}/v1/nothing`, {
        method: 'POST',
        headers: headersOf('x'),
        body: bodyOf(24),
      });
      return answer.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([404]));
  expect(peakMib() - before).toBeLessThan(8 * 24);
});

describe('slow clients', () => {
  test('are told so after ten seconds, and their room is given back', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    const answered = new Promise<string>((resolve) =>
      socket.once('data', (bytes: Buffer) => resolve(bytes.toString())),
    );
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${greedy}\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n{"model":"`,
    );
    const drip = setInterval(() => socket.write('x'), 200);
    try {
      expect(await answered).toMatch(/^HTTP\/1\.1 408 [^]*arrived too slowly/);
      tried.held('a byte now and then');
    } finally {
      clearInterval(drip);
      socket.destroy();
    }
    await givenBack();
  });

  test('that hang up in the middle give back what they had', async () => {
    const { hostname, port } = new URL(gateway.url);
    for (let round = 0; round < 20; round++) {
      const socket = connect(Number(port), hostname);
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${other}\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n${'x'.repeat(100_000)}`,
      );
      await expect.poll(roomTaken).toBeGreaterThan(0);
      socket.destroy();
      await givenBack();
      tried.held('hang-up');
    }
  });
});
