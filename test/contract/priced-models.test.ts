import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { VENDOR_IDS, VENDORS, type VendorId } from '#/vendors/list.ts';
import { createPriceBook } from '#/meter/pricing/price-book.ts';
import { chat } from '../harness/answers.ts';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** A model that is known and has no price is refused in its first minute. */

const NOW = Date.UTC(2026, 10, 23);
const book = createPriceBook({ usdToEur: '0.92' });
const isPriced = (vendor: VendorId, model: string): boolean =>
  book.find({ prices: new Map() }, { slug: vendor, vendor }, model, NOW) !== undefined;

const KNOWN = VENDOR_IDS.flatMap((vendor) => (VENDORS[vendor].models ?? []).map((model) => [vendor, model] as const));

test.each(KNOWN)('%s %s has a price', (vendor, model) => {
  expect(isPriced(vendor, model)).toBe(true);
});

const CREDENTIAL = { name: 'one', type: 'APIKey', secretKeyRef: { name: 'openai', key: 'key' } };
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'openai', namespace: 'default' },
  stringData: { key: 'sk-test' },
};

/** The names that a vendor's own library completes. */
function namedIn(file: string, type: string): readonly string[] {
  const source = readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8');
  const union = new RegExp(`export type ${type} = ([^;]+);`).exec(source)?.[1] ?? '';
  return [...union.matchAll(/'([^']+)'/g)].map(([, name]) => name!);
}

test.each([
  ['anthropic', '@anthropic-ai/sdk/resources/messages/messages.d.ts', 'Model', ['claude-mythos-preview']],
  ['openai', 'openai/resources/shared.d.ts', 'ChatModel', []],
] as const)(
  'every model that the %s library names has a price, but for those that nobody can have',
  (vendor, file, type, without) => {
    const names = namedIn(file, type);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !isPriced(vendor, name))).toEqual(without);
  },
);

describe('a model that nobody has a price for', () => {
  const key = newKey();
  let upstream: Upstream;
  let gateway: GatewayProcess;
  const resources = (price: 'Known' | 'Estimated'): object[] =>
    tenant({
      upstreamUrl: upstream.url,
      key,
      provider: { slug: 'openai', vendor: 'openai', jurisdiction: 'US', credentials: [CREDENTIAL] },
      policy: { price },
    }).concat(SECRET);

  beforeAll(async () => {
    upstream = await startUpstream(
      chat({ content: 'Hello.', usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } }),
    );
  });
  afterEach(() => gateway?.stop());
  afterAll(() => upstream?.close());

  const start = async (price: 'Known' | 'Estimated'): Promise<string> => {
    const databaseUrl = await createDatabase(inject('databaseUrl'));
    gateway = await startGateway({ resources: resources(price), redisUrl: inject('redisUrl'), databaseUrl });
    return databaseUrl;
  };
  const ask = (model: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 20 }),
    });

  test('is refused, and the refusal says which row to add', async () => {
    await start('Known');
    const refused = await ask('openai/gpt-6.3-sol');
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect([refused.status, error.code]).toEqual([400, 'price_unknown']);
    expect(error.message).toContain('{model: openai/gpt-6.3-sol, input: "<EUR per million tokens>"');
    expect((await ask('openai/gpt-6.1-sol')).status).toBe(200);
  });

  test('is served at the price of the nearest older one of its line where policy says so', async () => {
    const databaseUrl = await start('Estimated');
    const served = await ask('openai/gpt-6.3-sol');
    expect(served.status).toBe(200);
    const row = await rowOf(databaseUrl, served.headers.get('x-request-id'));
    expect(row.price).toBe('estimated: gatewarden prices 2026-11-23 openai/gpt-6.1-sol @0.92');
    // 10 × 2 + 10 × 10 dollars per million, at 0.92.
    expect(row.cost_nano_eur).toBe('110400');
    expect((await ask('openai/nobody-knows-1')).status).toBe(400);
  });
});
