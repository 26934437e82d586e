import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { request } from 'undici';
import { pageNewsFor } from './page-news.ts';

test.each([
  ['asked', { 'x-gw-pages': 'tell' }, ['0/900', '900/900']],
  ['not asked', {}, []],
])('%s: the first and the last are told, and few between', async (_, headers, ends) => {
  const server = createServer((asked, response) => {
    const news = pageNewsFor(asked.headers, response);
    for (let done = 0; done <= 900; done++) news?.note(done, 900);
    news?.end();
    response.end('answer');
    news?.note(901, 901);
    news?.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const told: unknown[] = [];
  const { port } = server.address() as AddressInfo;
  const { statusCode, body } = await request(`http://127.0.0.1:${port}`, {
    headers,
    onInfo: (info) => void told.push(info.headers['x-gw-pages']),
  });
  expect([statusCode, await body.text()]).toEqual([200, 'answer']);
  expect(told.slice(0, 1)).toEqual(ends.slice(0, 1));
  expect(told.slice(-1)).toEqual(ends.slice(-1));
  expect(told.length).toBeLessThan(10);
  server.closeAllConnections();
  server.close();
});
