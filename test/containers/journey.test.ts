import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runK6 } from '../harness/k6.ts';
import { ledgerRows, rowOf } from '../harness/ledger-rows.ts';
import { skipUnless } from '../harness/skip.ts';
import { paced } from '../harness/paced-answer.ts';
import { local, once, WANTED } from './podman.ts';
import { startService, type Service } from '../harness/kubernetes-service.ts';
import { startWorld, type GatewayPod, type World } from './world.ts';

/** Spec 6.1.5. */
const GRACE_MS = 300_000;
/** Until those who send connections have heard that a pod is leaving; less than the chart's `leaveSeconds`. */
const NEWS_MS = 3000;
/** Longer than any other stream, and than an answer may take: 600 s. */
const ENDLESS = 590;
/** Ends within the grace, if only just. */
const LONG = 290;

const WHY = 'wants images and containers: `make test-containers`';

describe('the pods of the chart, as containers', skipUnless(WANTED, WHY), () => {
  const cleanup = new AsyncDisposableStack();
  let world: World;
  let service: Service;
  let gateways: readonly GatewayPod[];
  let calls = 0;

  beforeAll(async () => {
    await local('bases');
    await local('build', 'gatewarden');
    await local('build', 'gatewarden-inference');
    world = cleanup.use(await startWorld());
    world.upstream.respond(paced);
    service = cleanup.use(await startService());
    gateways = [await world.gateway(), await world.gateway()];
    service.endpoints = gateways.map(({ port }) => port);
  }, 1_800_000);
  afterAll(() => cleanup.disposeAsync(), 120_000);

  const ask = (body: object, url = service.url): Promise<Response> => {
    calls++;
    return fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Go on.' }], stream: true, ...body }),
    });
  };

  test('configuration applied to the API server is in force on both gateways, says the controller', async () => {
    await expect
      .poll(() => world.cluster.condition('Workload', 'app', 'Programmed'), { timeout: 60_000 })
      .toBe('True Programmed');
  });

  test('the official OpenAI client is answered, buffered and streamed, and both calls are sealed', async () => {
    const openai = new OpenAI({ apiKey: world.key, baseURL: `${service.url}/v1`, maxRetries: 0 });
    const messages = [{ role: 'user', content: 'Hello?' }] as const;
    const { data, response } = await openai.chat.completions
      .create({ model: 'upstream/quick', messages: [...messages] })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Hello.');
    const stream = await openai.chat.completions.create({
      model: 'upstream/quick',
      messages: [...messages],
      stream: true,
    });
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello.');
    calls += 2;
    expect(await rowOf(world.databaseUrl, response.headers.get('x-request-id'))).toMatchObject({ outcome: 'served' });
    expect((await ledgerRows(world.databaseUrl, calls)).map(({ outcome }) => outcome)).toEqual(['served', 'served']);
  });

  test('the command line in the image verifies the chain', async () => {
    const verify = ['node', 'src/cli/gwctl.ts', 'audit', 'verify'];
    expect(
      await once('localhost/gatewarden', verify, '--read-only', '--env', `DATABASE_URL=${world.databaseUrl}`),
    ).toMatch(/2 rows/);
  });

  test('a local model answers from the container of the engine, which has the small nets for every language', async () => {
    const answer = await fetch(`${service.url}/v1/systemone`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gw/typed',
        state: { mail: 'The house is on fire!' },
        questions: { urgent: { type: 'noul', instructions: 'It is urgent.' } },
      }),
    });
    calls++;
    expect(answer.status, await answer.clone().text()).toBe(200);
    expect(await answer.json()).toHaveProperty('answers.urgent');
    const nets = /"small_nets":\[([^\]]*)\]/.exec(await world.inference.log())?.[1]?.split(',');
    expect(nets).toHaveLength(8);
  });

  test('a rolling restart under load fails no call, and cuts no stream before its five minutes', async () => {
    const endless = await Promise.all(gateways.map(({ port }) => open(ask, port, ENDLESS)));
    const long = await Promise.all(gateways.map(({ port }) => open(ask, port, LONG)));
    const env = { GW_URL: service.url, GW_KEY: world.key, GW_SHARE: '0', GW_P95_MS: '60000', GW_P99_MS: '60000' };
    const load = Promise.all([
      runK6('streams.ts', { ...env, GW_MODEL: 'upstream/2', GW_STREAMS: '10', GW_SECONDS: '90' }),
      runK6('streams.ts', { ...env, GW_MODEL: 'upstream/30', GW_STREAMS: '10', GW_SECONDS: '90' }),
      runK6('soak.ts', { ...env, GW_MODEL: 'upstream/quick', GW_RATE: '5', GW_SECONDS: '90' }),
    ]);
    const leaving: Promise<{ code: number; toldAt: number }>[] = [];
    for (const old of gateways) {
      await sleep(10_000);
      const successor = await world.gateway();
      service.endpoints = [...service.endpoints, successor.port];
      const toldAt = performance.now();
      leaving.push(old.stop(old.graceSeconds).then((code) => ({ code, toldAt })));
      await sleep(NEWS_MS);
      service.endpoints = service.endpoints.filter((port) => port !== old.port);
    }
    for (const run of await load) {
      expect(run.crossed, run.output).toEqual([]);
      expect(run.code, run.output).toBe(0);
      expect(run.metrics['gw_calls']?.count).toBeGreaterThan(20);
      calls += run.metrics['gw_calls']?.count ?? 0;
    }
    for (const stream of long) expect((await stream.end).text.trimEnd()).toMatch(/data: \[DONE\]$/);
    for (const [index, stream] of endless.entries()) {
      const { text, at } = await stream.end;
      const { code, toldAt } = await leaving[index]!;
      expect(text.trimEnd().split('\n\n').at(-1)).toContain('"code":"server_restarting"');
      expect(at - toldAt).toBeGreaterThanOrEqual(GRACE_MS);
      // Neither killed nor ended with something unsettled.
      expect(code).toBe(0);
    }
    const rows = await ledgerRows(world.databaseUrl, calls);
    expect(rows).toHaveLength(calls);
    const failed = rows.filter(({ outcome }) => outcome !== 'served');
    expect(failed.map(({ code }) => code)).toEqual(['server_restarting', 'server_restarting']);
    for (const { duration_ms } of failed) expect(duration_ms).toBeGreaterThanOrEqual(GRACE_MS);
  }, 900_000);
});

interface OpenStream {
  /** All that came, and when the last of it did. */
  readonly end: Promise<{ readonly text: string; readonly at: number }>;
}

/** Opens a stream at one gateway; resolves once its first piece is there. */
async function open(
  ask: (body: object, url: string) => Promise<Response>,
  port: number,
  seconds: number,
): Promise<OpenStream> {
  const answer = await ask({ model: `upstream/${seconds}` }, `http://127.0.0.1:${port}`);
  expect(answer.status).toBe(200);
  const read = async (): Promise<{ text: string; at: number }> => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of answer.body as AsyncIterable<Uint8Array>) text += decoder.decode(bytes, { stream: true });
    return { text, at: performance.now() };
  };
  return { end: read() };
}
