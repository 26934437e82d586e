import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { reachEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { chat } from '../harness/answers.ts';
import { newKey, startGateway, tenant } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { startUpstream } from '../harness/upstream.ts';

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

test('the embedded run loses no call to kill -9 either', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewarden-embedded-'));
  cleanup.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const upstream = await startUpstream(
    chat({ content: ['a ', 'b '], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } }),
  );
  cleanup.defer(() => upstream.close());
  const key = newKey();
  const resources = tenant({
    upstreamUrl: upstream.url,
    key,
    workload: { budget: { amount: '100', period: 'Daily' } },
  });
  const start = async () => {
    const gateway = await startGateway({ resources, dataDir });
    cleanup.defer(() => gateway.kill());
    return gateway;
  };
  const ask = (url: string, stream: boolean) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'upstream/m',
        stream,
        max_tokens: 64,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    }).then((answer) => answer.text());
  const first = await start();
  const load = Promise.allSettled(Array.from({ length: 60 }, (_, index) => ask(first.url, index % 2 === 0)));
  await upstream.request(20);
  await first.kill();
  await load;
  const second = await start();
  await ask(second.url, false);
  const dispatched = upstream.requests.length;
  await using embedded = await reachEmbeddedPostgres({ dataDir }).then((reached) => ({
    ...reached,
    [Symbol.asyncDispose]: () => reached.close(),
  }));
  const rows = await ledgerRows(embedded.connectionString, dispatched);
  expect(new Set(rows.map((row) => row.call_id)).size).toBe(rows.length);
  expect(rows.length).toBeGreaterThanOrEqual(dispatched);
  expect(rows.some((row) => row.outcome === 'abandoned')).toBe(true);
  expect((await runGwctl(['audit', 'verify', '--data-dir', dataDir])).out).toMatch(/^intact/);
  await second.stop();
}, 120_000);
