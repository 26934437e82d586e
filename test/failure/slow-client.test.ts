import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { sse } from '../harness/answers.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { expectBooksToAgree, startStack, type Stack } from './stack.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.[Symbol.asyncDispose]();
  stack = undefined;
});

test('a client that stops reading neither fills the memory nor holds up the end of the process', async () => {
  stack = await startStack({ env: { GW_DRAIN_SECONDS: '1' } });
  const { upstream, gateway, key } = stack;
  const big = {
    data: {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content: 'x'.repeat(64 * 1024) }, finish_reason: null }],
    },
  };
  upstream.respond(sse(Array.from({ length: 2000 }, () => big)));
  const body = JSON.stringify({ model: 'upstream/m', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
  const client = request(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
  });
  client.on('error', () => {});
  const answered = new Promise<void>((resolve) => client.once('response', (response) => (response.pause(), resolve())));
  client.end(body);
  await answered;
  const metrics = async (): Promise<number> =>
    Number(/gw_resident_bytes (\d+)/.exec(await (await fetch(`${gateway.adminUrl}/metrics`)).text())![1]);
  const before = await metrics();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  // The provider would send 128 MiB if it were let.
  expect((await metrics()) - before).toBeLessThan(64 * 1024 * 1024);
  expect(await gateway.stop()).toBe(0);
  client.destroy();
  const rows = await ledgerRows(stack.databaseUrl, 1);
  expect(rows).toMatchObject([{ outcome: 'failed', code: 'server_restarting', usage_source: 'estimated' }]);
  await expectBooksToAgree(stack, 1);
}, 60_000);
