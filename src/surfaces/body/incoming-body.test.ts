import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { AuthenticatedRequest } from '../endpoint/endpoint.ts';
import { BodyRoom } from './body-room.ts';
import { IncomingBody } from './incoming-body.ts';

const KEY = { id: 'k', workload: { id: 'w', organization: { id: 'o' } } };

/** A server that answers with the characters of each body, and a connection to it. */
async function connected(room: BodyRoom): Promise<Socket> {
  const app = Fastify({ logger: false });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload));
  app.decorateRequest('authenticated', undefined);
  app.post('/', async (request, reply) => {
    request.authenticated = { key: KEY } as unknown as AuthenticatedRequest;
    using body = new IncomingBody(request, reply, { room });
    const text = await body.json().catch((thrown: unknown) => (thrown as Error).message);
    return [`<${text}>`, `${room.taken} taken`].join(' ');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true);
  onTestFinished(async () => {
    socket.destroy();
    await app.close();
  });
  await once(socket, 'connect');
  return socket;
}

function headOf(body: Buffer): string {
  return `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
}

async function answerOf(socket: Socket): Promise<string> {
  let text = '';
  while (!text.includes('taken')) text += String((await once(socket, 'data'))[0]);
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

test.each(['{"a":"plain"}', '{"a":"für 你好 😀"}'])(
  '%s is the same, and takes as much room, whether it comes with its head or in any two parts',
  async (text) => {
    const room = new BodyRoom(1_000_000, 100_000);
    const socket = await connected(room);
    const body = Buffer.from(text);
    socket.write(Buffer.concat([Buffer.from(headOf(body)), body]));
    const whole = await answerOf(socket);
    expect(whole).toContain(`<${text}> ${body.length * (Buffer.byteLength(text) === text.length ? 8 : 14)} taken`);
    for (let at = 0; at < body.length; at += 1) {
      socket.write(Buffer.concat([Buffer.from(headOf(body)), body.subarray(0, at)]));
      await sleep(2);
      socket.write(body.subarray(at));
      expect(await answerOf(socket), `parted at ${at}`).toBe(whole);
    }
    expect(room.taken).toBe(0);
  },
);

test('a body that arrives with its head is refused like any other if it is not text or exceeds the memory', async () => {
  const room = new BodyRoom(1000, 10_000);
  const socket = await connected(room);
  const odd = Buffer.from([0x22, 0xff, 0x22]);
  socket.write(Buffer.concat([Buffer.from(headOf(odd)), odd]));
  expect(await answerOf(socket)).toContain('not valid UTF-8');
  const wide = Buffer.from('ü'.repeat(62));
  socket.write(Buffer.concat([Buffer.from(headOf(wide)), wide]));
  expect(await answerOf(socket)).toContain('needs more memory');
  const large = Buffer.alloc(126, 'a');
  socket.write(Buffer.concat([Buffer.from(headOf(large)), large]));
  expect(await answerOf(socket)).toContain('too large');
  expect(room.taken).toBe(0);
});
