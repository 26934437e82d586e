import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UpstreamFault } from '#/ports/provider.ts';
import { createTransport, type Transport, type TransportRequest } from './transport.ts';

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void;

let transport: Transport;
let handler: Handler;
let origin: string;
let connections: number;
let stop: () => Promise<void>;

beforeEach(async () => {
  transport = createTransport();
  connections = 0;
  const server = createServer((incoming, response) => handler(incoming, response));
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});

afterEach(async () => {
  await transport.close();
  await stop();
});

function request(over: Partial<TransportRequest> = {}): TransportRequest {
  const signal = new AbortController().signal;
  return {
    method: 'POST',
    origin,
    path: '/v1/x?y=1',
    headers: { 'content-type': 'application/json' },
    body: '{"a":"ä"}',
    timeoutMs: 20_000,
    idle: false,
    signal,
    ...over,
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Answers with what came: method, path, framing and body. */
const mirror: Handler = (incoming, response) => {
  void bodyOf(incoming).then((body) => {
    const { method, url, headers } = incoming;
    const framing = headers['content-length'] ?? headers['transfer-encoding'];
    response.end(JSON.stringify({ method, url, framing, expect: headers.expect, body: body.toString('utf8') }));
  });
};

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function faultOf(promise: Promise<unknown>): Promise<UpstreamFault> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(UpstreamFault);
  return thrown as UpstreamFault;
}

describe('what is sent', () => {
  const bodies: readonly (readonly [string, () => TransportRequest['body'], string, string])[] = [
    ['a string', () => '{"a":"ä"}', '10', '{"a":"ä"}'],
    ['bytes', () => new Uint8Array(Buffer.from('xyz')), '3', 'xyz'],
    ['pieces', () => pieces('one ', 'two'), 'chunked', 'one two'],
    ['no pieces', () => pieces(), '0', ''],
    ['nothing', () => undefined, '0', ''],
  ];
  it.each(bodies)('%s', async (_name, body, framing, arrived) => {
    handler = mirror;
    const answer = await transport.send(request({ body: body() }));
    expect(JSON.parse(await answer.text(1000))).toEqual({ method: 'POST', url: '/v1/x?y=1', framing, body: arrived });
  });

  it('a long text with half characters has the length that it says', async () => {
    handler = mirror;
    const body = `${'x'.repeat(256 * 1024 - 1)}\ud800\u{1f600}x`;
    const answer = await transport.send(request({ body }));
    const said = JSON.parse(await answer.text(1_000_000)) as { body: string };
    expect(said.body).toBe(Buffer.from(body).toString());
  });

  it.each(['GET', 'DELETE'] as const)('a %s without a body', async (method) => {
    handler = mirror;
    const answer = await transport.send(request({ method, body: undefined }));
    expect(JSON.parse(await answer.text(1000))).toMatchObject({ method, body: '' });
  });

  it('uses one connection for calls one after the other, whatever their bodies', async () => {
    handler = mirror;
    for (const body of ['{}', pieces('{', '}'), new Uint8Array(2), undefined]) {
      await (await transport.send(request({ body }))).text(1000);
      // The pool takes a connection back a turn of the event loop after the answer's last byte.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connections).toBe(1);
  });

  it('holds a streamed body back while nobody reads it', async () => {
    const piece = new Uint8Array(64 * 1024);
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given++;
        yield piece;
      }
    }
    const arrived = Promise.withResolvers<void>();
    handler = (incoming) => {
      incoming.pause();
      arrived.resolve();
    };
    const abort = new AbortController();
    const answer = transport.send(request({ body: endless(), signal: abort.signal }));
    await arrived.promise;
    let before = -1;
    while (given !== before) {
      before = given;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // The kernel's buffers take some megabytes; an endless source would have given without end.
    expect(given * piece.length).toBeLessThan(64 * 1024 * 1024);
    abort.abort();
    expect((await faultOf(answer)).kind).toBe('aborted');
  });

  it('closes the source of a streamed body when the call is given up', async () => {
    const closed = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield Buffer.from('a');
        started.resolve();
        for (;;) {
          yield Buffer.from('b');
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        closed.resolve();
      }
    }
    handler = (incoming) => void incoming.resume();
    const abort = new AbortController();
    const answer = transport.send(request({ body: source(), signal: abort.signal }));
    await started.promise;
    abort.abort();
    expect((await faultOf(answer)).kind).toBe('aborted');
    await closed.promise;
  });

  it('calls a body that fails the fault of the sender', async () => {
    handler = (incoming) => void incoming.resume();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      throw new Error('secret of the client');
    }
    const fault = await faultOf(transport.send(request({ body: broken() })));
    expect(fault.kind).toBe('aborted');
    expect(fault.message).not.toContain('secret');
  });
});

describe('what comes back', () => {
  it('is the head first, whatever the status, with redirects as they are', async () => {
    handler = (_incoming, response) => response.writeHead(302, { location: '/elsewhere', 'x-a': 'b' }).end('moved');
    const answer = await transport.send(request());
    expect([answer.status, answer.header('location'), answer.header('x-a')]).toEqual([302, '/elsewhere', 'b']);
    expect(await answer.text(100)).toBe('moved');
  });

  it('is refused when it is too large', async () => {
    handler = (_incoming, response) => response.end('x'.repeat(1001));
    const answer = await transport.send(request());
    expect((await faultOf(answer.text(1000))).kind).toBe('too_large');
  });

  it('is a reset when the connection is cut before or within the answer', async () => {
    handler = (incoming) => incoming.socket.destroy();
    expect((await faultOf(transport.send(request()))).kind).toBe('reset');
    handler = (incoming, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('abc', () => incoming.socket.destroy());
    };
    const answer = await transport.send(request());
    expect((await faultOf(answer.text(100))).kind).toBe('reset');
  });

  it('is no connection where nobody listens, without saying where', async () => {
    const { port } = new URL(origin);
    await stop();
    const fault = await faultOf(transport.send(request()));
    expect(fault.kind).toBe('connect');
    expect(fault.message).not.toContain(port);
    stop = () => Promise.resolve();
  });
});

describe('time', () => {
  it('runs out for an answer that does not come', async () => {
    handler = () => {};
    expect((await faultOf(transport.send(request({ timeoutMs: 30 })))).kind).toBe('timeout');
  });

  it('does not run while nobody takes what has come', async () => {
    const whole = Buffer.alloc(8 * 1024 * 1024, 'x');
    handler = (_incoming, response) => response.end(whole);
    const incoming = await transport.send(request({ timeoutMs: 100, idle: true }));
    let size = 0;
    for await (const chunk of incoming.chunks()) {
      if (size === 0) await new Promise((resolve) => setTimeout(resolve, 500));
      size += chunk.length;
    }
    expect(size).toBe(whole.length);
  });

  it('runs out for an answer that does not end, and begins anew with every byte when idle', async () => {
    handler = (_incoming, response) => {
      response.write('a');
    };
    const whole = await transport.send(request({ timeoutMs: 60 }));
    expect((await faultOf(whole.text(100))).kind).toBe('timeout');
    const idle = await transport.send(request({ timeoutMs: 60, idle: true }));
    expect((await faultOf(idle.text(100))).kind).toBe('timeout');
  });

  it('runs out for an answer that comes a byte at a time for ever', async () => {
    const bounded = createTransport({ streamSeconds: 0.3 });
    let drip: NodeJS.Timeout | undefined;
    handler = (_incoming, response) => {
      drip = setInterval(() => response.write('a'), 10);
      response.once('close', () => clearInterval(drip));
    };
    try {
      const incoming = await bounded.send(request({ idle: true }));
      const fault = await faultOf(incoming.text(10_000));
      expect(fault).toMatchObject({ kind: 'timeout', sent: true, cause: { seconds: 0.3 } });
    } finally {
      clearInterval(drip);
      await bounded.close();
    }
  });

  it('is up at once for a call that was given up before', async () => {
    handler = mirror;
    expect((await faultOf(transport.send(request({ signal: AbortSignal.abort() })))).kind).toBe('aborted');
  });
});
