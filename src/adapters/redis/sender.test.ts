import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendingOn, type Send } from './sender.ts';

const TIMEOUT_MS = 300;
let server: Server;
let client: Redis;
let send: Send;
/** A command that is not answered. */
const SILENT = 'echo';

beforeEach(async () => {
  server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const commands = bytes.toString().match(/^\*\d+\r?$/gm) ?? [];
      if (!bytes.includes(SILENT)) socket.write('+PONG\r\n'.repeat(commands.length));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = new Redis({ port, lazyConnect: true, enableReadyCheck: false, maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  await client.connect();
  send = sendingOn(client, TIMEOUT_MS);
});

afterEach(async () => {
  client.disconnect();
  await new Promise((resolve) => server.close(resolve));
});

/** Nothing is read and no timer runs. */
function heldUp(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('a process that was held up reads the answers that came before it gives them up', async () => {
  const answers = [send('ping', [], 'utf8'), send('ping', [], 'utf8')];
  heldUp(TIMEOUT_MS + 100);
  expect(await Promise.all(answers.map((answer) => answer.catch(() => 'gave up')))).toEqual(['PONG', 'PONG']);
});

test('a command without an answer times out, whether the event loop is blocked or not', async () => {
  await expect(send(SILENT, ['x'], 'utf8')).rejects.toThrow('Command timed out');
  const late = send(SILENT, ['x'], 'utf8');
  heldUp(TIMEOUT_MS + 100);
  await expect(late).rejects.toThrow('Command timed out');
});
