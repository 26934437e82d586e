import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { AuditRow } from '#/seal/row.ts';
import { json } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** How a gateway prices calls by a signed snapshot, what its rows tell of it, and how a row alone explains its bill. */

const key = newKey();
const folder = mkdtempSync(join(tmpdir(), 'gatewarden-prices-'));
const at = (name: string): string => join(folder, name);
let databaseUrl: string;
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(at('key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  await snapshot(0.000001);
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key,
        prices: [
          { model: 'upstream/m', input: '2', output: '8' },
          { model: 'upstream/m', serviceTier: 'Flex', input: '1', output: '4' },
          { model: 'upstream/free', input: '0', output: '0' },
        ],
      }),
      resource('Provider', 'openai', {
        slug: 'openai',
        endpoint: { url: upstream.url, allowInsecure: true },
        jurisdiction: 'US',
        keyOwnership: 'Organization',
        credentials: [{ name: 'one', type: 'APIKey', secretKeyRef: { name: 'openai', key: 'key' } }],
      }),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'openai', namespace: 'default' },
        stringData: { key: 'sk-1' },
      },
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl,
    env: { GW_PRICES_FILE: at('prices.json'), GW_PRICES_KEY_FILE: at('key.pub'), GW_USD_TO_EUR: '0.92,2026-01-02=0.5' },
  });
}, 120_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  if (databaseUrl) await dropDatabase(inject('databaseUrl'), databaseUrl);
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly status: number;
  readonly out: string;
}

async function gwctl(...args: readonly string[]): Promise<Ended> {
  const { status, out, err } = await runGwctl(args, { env: { PATH: process.env['PATH'] } });
  return { status, out: out + err };
}

/** Puts a snapshot in place in which `own-model` costs this much a token; in priority four times as much. */
async function snapshot(input: number): Promise<void> {
  const entry = {
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: input,
    output_cost_per_token: input * 4,
    input_cost_per_token_priority: input * 4,
    output_cost_per_token_priority: input * 16,
  };
  writeFileSync(at('litellm.json'), JSON.stringify({ 'own-model': entry, 'gpt-4o': { ...entry } }));
  const files = ['--key', at('key.pem'), '--out', at('new.json'), '--litellm', at('litellm.json')];
  const { status, out } = await gwctl('price', 'snapshot', ...files);
  expect([status, out.includes('openai/gpt-4o input: genai-prices 2.5, litellm')]).toEqual([0, true]);
  renameSync(at('new.json'), at('prices.json'));
}

async function ask(model: string, body: object = {}): Promise<{ status: number; message: string; row: AuditRow }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...body }),
  });
  const { error } = (await answer.json()) as { error?: { message: string } };
  return {
    status: answer.status,
    message: error?.message ?? '',
    row: await rowOf(databaseUrl, answer.headers.get('x-request-id')),
  };
}

const explain = (row: AuditRow, ...more: readonly string[]): Promise<Ended> =>
  gwctl('price', 'explain', row.call_id, '--database-url', databaseUrl, ...more);

function answerIn(service_tier: string | undefined): void {
  upstream.respond(
    json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'm',
      service_tier,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    }),
  );
}

test('a custom endpoint has no price but an explicit one, and zero is one', async () => {
  answerIn(undefined);
  const refused = await ask('upstream/gpt-4o');
  expect(refused.status).toBe(400);
  expect(refused.message).toContain('upstream/gpt-4o, whose provider is a custom endpoint');
  expect(refused.message).toContain('PriceBook (priceBookRef): {model: upstream/gpt-4o, input: ');
  expect(refused.message).toContain('upstream/* stands for all models of a provider');
  expect(refused.row).toMatchObject({ code: 'price_unknown', cost_nano_eur: '0', held_nano_eur: '0' });
  const free = await ask('upstream/free');
  expect([free.status, free.row.cost_nano_eur, free.row.price]).toEqual([
    200,
    '0',
    'PriceBook default/prices upstream/free',
  ]);
});

test.each([
  ['/v1/videos', { prompt: 'A fox', seconds: '4' }, 'unit: Second, input: "<EUR per second>"}'],
  ['/v1/images/generations', { prompt: 'A fox' }, 'unit: Image, input: "<EUR per image>"}'],
])('%s without a price says in which unit to give it one', async (path, body, row) => {
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'upstream/unpriced', ...body }),
  });
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect(error).toMatchObject({ code: 'price_unknown', message: expect.stringContaining(row) as string });
});

test('the tier that is answered decides the bill, the one that is asked for the hold', async () => {
  answerIn('flex');
  const flex = await ask('upstream/m', { service_tier: 'flex' });
  expect(flex.row).toMatchObject({ service_tier: 'flex', cost_nano_eur: String(100 * 1000 + 10 * 4000) });
  answerIn('default');
  const ordinary = await ask('upstream/m', { service_tier: 'flex' });
  expect(ordinary.row).toMatchObject({ cost_nano_eur: String(100 * 2000 + 10 * 8000) });
  expect(ordinary.row).not.toHaveProperty('service_tier');
  const { out, status } = await explain(flex.row, '--config', gateway.configDir);
  expect([status, out]).toEqual([0, expect.stringContaining('sealed cost: 0.00014 EUR, the same')]);
  expect(out).toContain('rates of the service tier flex');
  // Without the folder it says what is missing, and tells nothing else.
  const without = await explain(flex.row);
  expect([without.status, without.out]).toEqual([1, expect.stringContaining('--config DIR')]);
});

test('by the snapshot: held in the dearest tier the vendor may choose, billed in the one it chose', async () => {
  answerIn('priority');
  // As long as the other, so that as much is held.
  const chosen = await ask('openai/own-model', { service_tier: 'auto', user: 'abc' });
  const told = await ask('openai/own-model', { service_tier: 'default', user: '' });
  expect(chosen.row).toMatchObject({ service_tier: 'priority', cost_nano_eur: String(100 * 2000 + 10 * 8000) });
  expect(chosen.row.price).toMatch(/^prices \d{4}-\d\d-\d\d [0-9a-f]{12} openai\/own-model @0\.5 of 2026-01-02$/);
  expect(BigInt(chosen.row.held_nano_eur)).toBe(4n * BigInt(told.row.held_nano_eur));
  const prices = ['--prices', at('prices.json'), '--public-key', at('key.pub')];
  const { out, status } = await explain(chosen.row, ...prices);
  expect([status, out]).toEqual([0, expect.stringContaining('sealed cost: 0.00028 EUR, the same')]);
  expect((await explain(chosen.row)).out).toContain('give that snapshot: --prices FILE');
  const unknown = await ask('openai/own-model', { service_tier: 'scale' });
  expect([unknown.status, unknown.message]).toEqual([400, expect.stringContaining('in the service tier scale')]);
});

test('a replaced snapshot holds without a restart; one that was changed does not', async () => {
  answerIn('default');
  const before = await ask('openai/own-model');
  await snapshot(0.000003);
  await expect
    .poll(async () => (await ask('openai/own-model')).row.price, { timeout: 20_000, interval: 500 })
    .not.toBe(before.row.price);
  const after = await ask('openai/own-model');
  expect(BigInt(after.row.cost_nano_eur)).toBe(3n * BigInt(before.row.cost_nano_eur));
  // The row of before names a snapshot that is no longer at hand, and says what has become of the price.
  const prices = ['--prices', at('prices.json'), '--public-key', at('key.pub')];
  const { status, out } = await explain(before.row, ...prices);
  expect([status, out]).toEqual([1, expect.stringContaining('the prices given here differ')]);
  writeFileSync(at('prices.json'), '{"signature":{"value":"AAAA"}}');
  await expect.poll(() => gateway.log.join('\n'), { timeout: 20_000 }).toMatch(/"event":"prices.rejected","why":"\w/);
  expect((await ask('openai/own-model')).row.price).toBe(after.row.price);
  const verified = await gwctl('price', 'verify', at('prices.json'), '--public-key', at('key.pub'));
  expect([verified.status, verified.out]).toEqual([1, expect.stringContaining('was changed since')]);
});
