import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Exchange, NoExchange } from './exchange.ts';

const BUSY = { status: 503, body: { fault: { kind: 'busy', message: 'too many' } } };
const WELL = { status: 200, body: {} };
const { signal } = new AbortController();
const QUESTION = { method: 'POST' as const, body: 'a question' };

/** Two pods of a pool: one port, two addresses. */
const HOSTS = ['127.0.0.1', '127.0.0.2'];
const servers: Server[] = [];
const says = new Map<string, { readonly status: number; readonly body: object }>();
const asked: string[] = [];
let port = 0;

beforeAll(async () => {
  for (const host of HOSTS) {
    const server = createServer((request, response) => {
      void request.toArray().then((chunks) => {
        asked.push(`${host} ${request.headers.host} ${Buffer.concat(chunks).toString()}`);
        const { status, body } = says.get(host) ?? WELL;
        response.writeHead(status, { 'retry-after': host.at(-1) }).end(JSON.stringify(body));
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    ({ port } = server.address() as AddressInfo);
  }
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
beforeEach(() => {
  says.clear();
  asked.length = 0;
});

/** Asks a pool with these addresses so many times; each answer by its status and who gave it. */
async function ask(
  times: number,
  hosts: readonly string[],
  url = `http://pool.test:${port}`,
): Promise<readonly string[]> {
  const lookup = async () => hosts.map((address) => ({ address }));
  const exchange = new Exchange({ connectTimeoutMs: 2000, maxAnswerBytes: 1024, lookup });
  const answers: string[] = [];
  try {
    for (let count = 0; count < times; count += 1) {
      const { status, retryAfter } = await exchange.ask({ url, path: '/v1/read' }, QUESTION, signal, 20_000);
      answers.push(`${status} from ${String(retryAfter)}`);
    }
  } finally {
    await exchange.close();
  }
  return answers;
}
const askedOf = (): readonly string[] => asked.map((line) => line.split(' ')[0] ?? '');

describe('a pool behind one name', () => {
  test('is asked in turn, by its name', async () => {
    expect(await ask(4, HOSTS)).toEqual(['200 from 1', '200 from 2', '200 from 1', '200 from 2']);
    expect(asked[1]).toBe(`127.0.0.2 pool.test:${port} a question`);
  });

  test('has another pod where one is busy, which is asked once', async () => {
    says.set('127.0.0.1', BUSY);
    expect(await ask(2, HOSTS)).toEqual(['200 from 2', '200 from 2']);
    expect(askedOf()).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.2']);
  });

  test('is busy where two pods are, and is asked no more', async () => {
    says.set('127.0.0.1', BUSY);
    says.set('127.0.0.2', BUSY);
    expect(await ask(1, [...HOSTS, '127.0.0.3'])).toEqual(['503 from 2']);
    expect(askedOf()).toEqual(HOSTS);
  });

  test('of one address is asked once', async () => {
    says.set('127.0.0.2', BUSY);
    expect(await ask(1, ['127.0.0.2'])).toEqual(['503 from 2']);
    expect(await ask(1, [], `http://127.0.0.2:${port}`)).toEqual(['503 from 2']);
    expect(asked).toHaveLength(2);
  });

  test('does not end with a pod that is gone', async () => {
    expect(await ask(3, ['127.0.0.0', ...HOSTS, '127.0.0.3'])).toHaveLength(3);
    says.set('127.0.0.2', BUSY);
    expect(await ask(1, ['127.0.0.2', '127.0.0.3'])).toEqual(['503 from 2']);
    await expect(ask(1, ['127.0.0.3', '127.0.0.4'])).rejects.toMatchObject({ why: 'unreachable' });
  });

  test('is tried no more after any other answer', async () => {
    for (const answer of [
      { status: 503, body: {} },
      { status: 422, body: BUSY.body },
      { status: 500, body: {} },
    ]) {
      says.set('127.0.0.1', answer);
      expect(await ask(1, HOSTS)).toEqual([`${answer.status} from 1`]);
    }
  });

  test('whose name leads nowhere cannot be reached', async () => {
    const lookup = () => Promise.reject(new Error('ENOTFOUND'));
    const exchange = new Exchange({ connectTimeoutMs: 2000, maxAnswerBytes: 1024, lookup });
    const asking = exchange.ask({ url: 'http://pool.test', path: '/' }, QUESTION, signal, 20_000);
    await expect(asking).rejects.toBeInstanceOf(NoExchange);
    await exchange.close();
  });
});
