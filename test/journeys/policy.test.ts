import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import type { AuditRow } from '#/seal/row.ts';

/** What a platform engineer sees of policy: in rows, in refusals, in discovery, and in the shadow. */

const keys = { app: newKey(), strict: newKey(), watched: newKey() };
let upstream: Upstream;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const endpoint = { url: upstream.url, allowInsecure: true };
  const workload = (name: keyof typeof keys, policies: readonly object[]): object[] => [
    resource('Workload', name, { organizationRef: { name: 'acme' } }),
    resource('VirtualKey', `${name}-key`, {
      workloadRef: { name },
      hash: { algorithm: 'SHA256', value: hash('sha256', keys[name], 'hex') },
    }),
    ...policies.map((policy, index) =>
      resource('Policy', `${name}-${index}`, { targetRefs: [{ kind: 'Workload', name }], ...policy }),
    ),
  ];
  gateway = await startGateway({
    resources: [
      ...tenant({
        upstreamUrl: upstream.url,
        key: keys.app,
        prices: [{ model: 'upstream/*', input: '2', output: '8' }],
      }),
      resource('Provider', 'abroad', { slug: 'abroad', protocol: 'Custom', jurisdiction: 'US', endpoint }),
      resource('ModelAlias', 'auto', {
        alias: 'gw/auto',
        strategy: 'Auto',
        targets: [{ model: 'abroad/m' }, { model: 'upstream/m', priority: 1 }],
        auto: { routes: [{ task: 'code', model: 'abroad/big' }] },
      }),
      ...workload('strict', [{ defaults: { residency: { allowedJurisdictions: ['CH'] } } }]),
      ...workload('watched', [
        { defaults: { dlp: { mode: 'Tokenize' } } },
        { mode: 'Shadow', defaults: { dlp: { mode: 'Block' }, residency: { allowedJurisdictions: ['CH'] } } },
      ]),
    ],
    redisUrl: inject('redisUrl'),
    databaseUrl,
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

async function ask(
  key: keyof typeof keys,
  content: string,
): Promise<{ status: number; message: string; row: AuditRow }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[key]}` },
    body: JSON.stringify({ model: 'gw/auto', messages: [{ role: 'user', content }] }),
  });
  const { error } = (await answer.json()) as { error?: { message: string } };
  const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
  return { status: answer.status, message: error?.message ?? '', row };
}

async function offered(key: keyof typeof keys): Promise<readonly string[]> {
  const answer = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${keys[key]}` } });
  return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

test('the row of a call says how its route was decided', async () => {
  const { status, row } = await ask('app', 'Hello');
  expect(status).toBe(200);
  expect(row).toMatchObject({ provider: 'upstream', model: 'gw/auto' });
  expect(row).not.toHaveProperty('shadow');
  // The cheapest has a price: of the others none is known.
  expect(row.route).toEqual([
    'gw/auto: automatic: a simple request, cheapest first',
    'upstream/m: selected: chat, verbatim, in EU',
    'abroad/m: selected: chat, verbatim, in US',
    'abroad/big: selected: chat, verbatim, in US',
    'abroad/m: skipped: its price is unknown',
    'abroad/big: skipped: its price is unknown',
  ]);
});

test('a refusal says what was tried, and its row how; discovery offers only what can answer', async () => {
  const { status, message, row } = await ask('strict', 'Hello');
  expect(status).toBe(403);
  expect(message).toContain('upstream/m (in EU, allowed are CH (Policy default/strict-0 (workload)))');
  expect(message).toContain('abroad/m (in US, ');
  expect(row).toMatchObject({ code: 'residency_denied', step: 'route', reason: message });
  expect(row.route).toHaveLength(4);
  expect(await offered('app')).toEqual(['gw/auto']);
  expect(await offered('strict')).toEqual([]);
});

test('a policy in shadow mode refuses nothing, and is in row and metrics', async () => {
  const { status, row } = await ask('watched', 'Mail ada@example.com');
  expect(status).toBe(200);
  expect(row.dlp).toEqual({
    detectors: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
    findings: { EMAIL: 1 },
    mode: 'tokenize',
    unscanned: ['names'],
  });
  expect(row.shadow).toContain('dlp.mode: EMAIL 1 would be refused, not tokenized');
  expect(row.shadow).toContain(
    'residency.allowedJurisdictions: upstream/m would be refused: in EU, allowed are CH (Policy default/watched-1 (shadow workload))',
  );
  expect(row.shadow).toContain('residency.allowedJurisdictions: the call would be refused');
  expect(JSON.stringify(row)).not.toContain('ada@');
  const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  expect(scrape).toContain('gw_shadow_differences_total{field="dlp.mode"} 1\n');
  expect(scrape).toContain('gw_shadow_differences_total{field="residency.allowedJurisdictions"} 1\n');
});

test('the rows verify', async () => {
  const { status, out } = await runGwctl(['audit', 'verify', '--database-url', databaseUrl]);
  expect(status).toBe(0);
  expect(out).toMatch(/3 rows/);
});
