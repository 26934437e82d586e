import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openDocumentEngine } from './documents.ts';

const { signal } = new AbortController();
const file = { name: 'a.txt', mediaType: 'text/plain', bytes: Buffer.from('hello') };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** An engine whose answers are given, and what it was sent. */
async function engineWith(
  answer: (response: ServerResponse) => void,
  timeoutMs = 10_000,
): Promise<{ engine: ReturnType<typeof openDocumentEngine>; sent: string[] }> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      sent.push(Buffer.concat(pieces).toString());
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const engine = openDocumentEngine({ url: () => `http://127.0.0.1:${port}`, timeoutMs });
  cleanups.push(
    () => engine.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { engine, sent };
}

test.each([
  [422, '{"fault":{"kind":"encrypted","message":"m"}}', { kind: 'encrypted', message: 'm', retryAfterMs: undefined }],
  [503, '{"fault":{"kind":"busy","message":"m"}}', { kind: 'busy', retryAfterMs: 7000 }],
  [503, '<html>no upstream</html>', { kind: 'unavailable', retryAfterMs: 2000 }],
  [422, '{"fault":{"kind":"invented","message":"m"}}', { kind: 'unavailable' }],
  [400, '{"fault":{"kind":"unreadable","message":"m"}}', { kind: 'unavailable' }],
  [500, '', { kind: 'unavailable' }],
  [200, '<html>', { kind: 'unavailable' }],
])('%i %s', async (status, body, fault) => {
  const { engine } = await engineWith((response) => response.writeHead(status, { 'retry-after': '7' }).end(body));
  const failed: unknown = await engine.read(file, { recognize: 'never' }, signal).catch((error: unknown) => error);
  expect(failed).toMatchObject({ name: 'DocumentFault', ...fault });
});

test('finished pages are reported to callers that ask', async () => {
  const { engine, sent } = await engineWith((response) => {
    for (const pages of ['0/3', '2/3', 'all', '4/3', '3/3']) response.writeInformation(102, { 'x-gw-pages': pages });
    response.writeInformation(102, {});
    response.end('{"pages":3}');
  });
  const told: [number, number][] = [];
  const read = await engine.read(file, { recognize: 'never' }, signal, (...pages) => told.push(pages));
  expect(read).toEqual({ pages: 3 });
  expect(told).toEqual([
    [0, 3],
    [2, 3],
    [3, 3],
  ]);
  expect(await engine.read(file, { recognize: 'never' }, signal)).toEqual({ pages: 3 });
  expect(sent).toHaveLength(2);
});

test('a name cannot end its header, and an invalid type is not sent', async () => {
  const { engine, sent } = await engineWith((response) => response.end('{}'));
  const name = 'a"\r\nx-evil: 1\r\n\r\nb\u202eä.txt';
  await engine.read({ ...file, name, mediaType: 'text/plain\r\nx: y' }, { recognize: 'never' }, signal);
  const head = sent[0]?.split('\r\n').filter((line) => /^(?:content-|x)/i.test(line));
  expect(head?.slice(1)).toEqual([
    'content-disposition: form-data; name="document"; filename="a___x-evil: 1____b\u202eä.txt"',
    'content-type: application/octet-stream',
  ]);
});

test('silence, a broken answer and no listener are all unavailable; an abort stays an abort', async () => {
  const { engine: silent } = await engineWith(() => {}, 200);
  await expect(silent.render(file, { maxPages: 1 }, signal)).rejects.toMatchObject({ kind: 'unavailable' });
  const { engine: broken } = await engineWith((response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{');
    response.destroy();
  });
  await expect(broken.render(file, { maxPages: 1 }, signal)).rejects.toMatchObject({ kind: 'unavailable' });
  const absent = openDocumentEngine({ url: () => undefined });
  await expect(absent.ping()).rejects.toMatchObject({ kind: 'unavailable' });
  await absent.close();
  const { engine } = await engineWith(() => {});
  const reason = new Error('left');
  await expect(engine.render(file, { maxPages: 1 }, AbortSignal.abort(reason))).rejects.toBe(reason);
});
