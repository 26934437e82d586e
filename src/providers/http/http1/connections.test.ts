import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UpstreamFault } from '#/ports/provider.ts';
import { hasOpenssl, makeClusterKeys } from '../../../../test/harness/cluster-keys.ts';
import { skipUnless } from '../../../../test/harness/skip.ts';
import { createTransport, type Transport, type TransportRequest } from '../transport.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

let transport: Transport;
beforeEach(() => (transport = createTransport()));
afterEach(() => transport.close());

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function ask(origin: string, over: Partial<TransportRequest> = {}): Promise<string> {
  const { signal } = new AbortController();
  const request = { origin, path: '/', headers: {}, body: '{}', timeoutMs: 20_000, idle: false, signal } as const;
  return transport.send({ method: 'POST', ...request, ...over }).then((incoming) => incoming.text(10_000_000));
}

async function faultOf(promise: Promise<unknown>): Promise<UpstreamFault> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(UpstreamFault);
  return thrown as UpstreamFault;
}

const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
};

describe('a server of our own', () => {
  let server: Server;
  let origin: string;
  let sockets: Socket[];
  let requests: string[];
  let onRequest: (socket: Socket, number: number) => void;

  beforeEach(async () => {
    sockets = [];
    requests = [];
    onRequest = (socket) => void socket.write(OK);
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', (bytes) => onRequest(socket, requests.push(bytes.toString('latin1'))));
    });
    origin = `http://127.0.0.1:${await listening(server)}`;
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('gets head and body in one piece, each character of a field a byte', async () => {
    await ask(origin, { headers: { 'x-a': '\xe9' }, body: '{"a":"\u00e9"}' });
    const head = `host: ${origin.slice(7)}\r\nconnection: keep-alive\r\nx-a: \xe9\r\ncontent-length: 10`;
    expect(requests).toEqual([`POST / HTTP/1.1\r\n${head}\r\n\r\n{"a":"\xc3\xa9"}`]);
  });

  it('is asked on one connection again, and on as many as there are calls at once', async () => {
    await Promise.all([ask(origin), ask(origin), ask(origin)]);
    await turns(1);
    await Promise.all([ask(origin), ask(origin), ask(origin)]);
    expect(sockets).toHaveLength(3);
  });

  it('that closed an idle connection is asked on another', async () => {
    await ask(origin);
    await turns(2);
    await new Promise<void>((resolve) => {
      sockets[0]!.once('close', () => resolve());
      sockets[0]!.end();
    });
    expect(await ask(origin)).toBe('ok');
    expect(sockets).toHaveLength(2);
  });

  it('that closes as it is asked again is not asked once more by us', async () => {
    onRequest = (socket, number) => void (number === 1 ? socket.write(OK) : socket.destroy());
    await ask(origin);
    await turns(2);
    expect(await faultOf(ask(origin))).toMatchObject({ kind: 'reset', sent: true });
    expect(requests).toHaveLength(2);
  });

  it('that has let go of all idle connections is asked again on a new one', async () => {
    await Promise.all([ask(origin), ask(origin), ask(origin)]);
    await turns(2);
    const rested = new Set(sockets);
    onRequest = (socket) => void (rested.has(socket) ? socket.resetAndDestroy() : socket.write(OK));
    expect(await faultOf(ask(origin))).toMatchObject({ kind: 'reset' });
    expect(await ask(origin)).toBe('ok');
    expect(sockets).toHaveLength(4);
  });

  it('that closes idle connections soon is not asked on them', async () => {
    onRequest = (socket) => void socket.write(OK.replace('\r\n', '\r\nkeep-alive: timeout=2\r\n'));
    await ask(origin);
    await turns(2);
    await ask(origin);
    expect(sockets).toHaveLength(2);
  });

  it('that says more than was asked is not asked on that connection again', async () => {
    onRequest = (socket, number) => void socket.write(number === 1 ? OK + OK.replace('ok', 'no') : OK);
    expect(await ask(origin)).toBe('ok');
    await turns(2);
    expect(await ask(origin)).toBe('ok');
    expect(sockets).toHaveLength(2);
  });

  it('that answers before anything is asked is not believed', async () => {
    server.on('connection', (socket: Socket) => socket.write(OK));
    async function* late(): AsyncGenerator<Uint8Array> {
      // Nothing of the request is written before its first piece is there.
      await new Promise((resolve) => sockets[0]!.once('close', resolve));
      yield Buffer.from('x');
    }
    expect(await faultOf(ask(origin, { body: late() }))).toMatchObject({ kind: 'reset' });
    expect(requests).toEqual([]);
  });

  it('that speaks something else has not spoken HTTP, and need not end its line for that', async () => {
    onRequest = (socket) => void socket.write('SSH-2.0');
    expect((await faultOf(ask(origin))).kind).toBe('protocol');
  });

  it('that says more than may be taken at once is asked again on the same connection', async () => {
    const much = 'x'.repeat(2_000_000);
    onRequest = (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${much.length}\r\n\r\n${much}`);
    for (let round = 0; round < 3; round++) {
      expect((await ask(origin)).length).toBe(much.length);
      await turns(2);
    }
    expect(sockets).toHaveLength(1);
  });

  it('that answers before it has all of a request is not asked on that connection again', async () => {
    onRequest = (socket, number) => void (number === 1 && socket.write(OK));
    const ended = Promise.withResolvers<void>();
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          yield Buffer.from('x');
          await turns(1);
        }
      } finally {
        ended.resolve();
      }
    }
    expect(await ask(origin, { body: endless() })).toBe('ok');
    await ended.promise;
    onRequest = (socket) => void socket.write(OK);
    await ask(origin);
    expect(sockets).toHaveLength(2);
  });

  it('sends a long text whole, no character of it in two', async () => {
    const text = '🧑‍🚀'.repeat(200_000);
    let came = 0;
    const size = Buffer.byteLength(text);
    onRequest = (socket) => {
      const last = requests.pop()!;
      const head = last.indexOf('\r\n\r\n');
      if (came === 0) expect(last).toContain(`content-length: ${size}\r\n`);
      came += came === 0 ? last.length - head - 4 : last.length;
      if (came === size) socket.write(OK);
    };
    expect(await ask(origin, { body: text })).toBe('ok');
  });

  it('is given up with its calls, and not asked afterwards', async () => {
    onRequest = () => void transport.close();
    expect((await faultOf(ask(origin))).kind).toBe('reset');
    expect(await faultOf(ask(origin))).toMatchObject({ kind: 'reset', sent: false });
    expect(sockets).toHaveLength(1);
  });

  it('is not asked what could not be written', async () => {
    expect(await faultOf(ask(origin, { headers: { a: 'b\r\nc: d' } }))).toMatchObject({ kind: 'reset', sent: false });
    expect(sockets).toHaveLength(0);
  });
});

describe('over TLS', skipUnless(hasOpenssl(), 'openssl is not installed'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-http1-'));
  const before = getCACertificates('default');
  let server: Server;
  let port: number;
  let names: (string | false | null)[];

  beforeAll(async () => {
    makeClusterKeys(folder);
    const [key, cert] = ['apiserver.key', 'apiserver.crt'].map((name) => readFileSync(join(folder, name)));
    server = createTlsServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'] }, (socket: TLSSocket) => {
      names.push(socket.servername ?? null, socket.alpnProtocol);
      socket.on('error', () => {});
      socket.on('data', () => socket.write(OK));
    });
    server.on('tlsClientError', () => {});
    port = await listening(server);
  });
  beforeEach(() => (names = []));
  afterEach(() => setDefaultCACertificates(before));
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  it('nobody is asked whose certificate nobody vouches for', async () => {
    expect(await faultOf(ask(`https://localhost:${port}`))).toMatchObject({ kind: 'reset', sent: false });
    expect(names).toEqual([]);
  });

  it('HTTP/1.1 is agreed on, on one connection that names the host', async () => {
    setDefaultCACertificates([...before, readFileSync(join(folder, 'ca.crt'), 'utf8')]);
    for (let round = 0; round < 2; round++) {
      expect(await ask(`https://localhost:${port}`)).toBe('ok');
      await turns(2);
    }
    expect(names).toEqual(['localhost', 'http/1.1']);
  });

  it('nobody is asked whose certificate is for another', async () => {
    setDefaultCACertificates([...before, readFileSync(join(folder, 'ca.crt'), 'utf8')]);
    expect(await faultOf(ask(`https://127.0.0.2:${port}`))).toMatchObject({ kind: 'connect', sent: false });
  });
});
