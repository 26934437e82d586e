import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readServerStream } from './server-stream.ts';

const notice = (data: string): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data } })}\n\n`;

test('nothing more is read of a stream while a message is dealt with', async () => {
  let read = 0;
  let waiting = 0;
  let most = 0;
  const taken: unknown[] = [];
  const incoming = {
    status: 200,
    header: () => undefined,
    text: async () => '',
    async *chunks() {
      for (let index = 0; index < 20; index += 1) {
        read += 1;
        yield Buffer.from(notice(`${index} ${'x'.repeat(200_000)}`).repeat(3));
      }
    },
    close: () => undefined,
  };
  await readServerStream(incoming, async ({ document }) => {
    waiting += 1;
    most = Math.max(most, waiting);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    taken.push(document.body['method']);
    expect(read).toBe(Math.ceil(taken.length / 3));
    waiting -= 1;
  });
  expect([most, taken.length]).toEqual([1, 60]);
});
