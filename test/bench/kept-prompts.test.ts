import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { newKey, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { inspectorAt, type Inspector } from './inspector.ts';
import { createClient, openStream } from './load.ts';
import { prose } from './prompts.ts';
import { governedResources } from './resources.ts';

/** A call whose answer has begun drops its prompt: an answer may take an hour, and thousands are open. */

const PROMPT = 200 * 1024;
const CALLS = 20;
/** Connections, and the call without its prompt. */
const MOST = 90_000;

const things = new AsyncDisposableStack();
let gateway: GatewayProcess;
let inspector: Inspector;
const keys = { app: newKey(), cached: newKey() };
/** Calls whose answer has begun. */
let begun = 0;

beforeAll(async () => {
  const upstream = createServer((request, response) => {
    let stream = false;
    request.on('data', (bytes: Buffer) => (stream ||= bytes.includes('"stream":true')));
    request.on('end', () => {
      begun += 1;
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      response.write(stream ? (request.url!.endsWith('/messages') ? MESSAGE : CHUNK) : ' ');
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  things.defer(() => upstream.closeAllConnections());
  things.defer(() => void upstream.close());
  const port = await freePort();
  gateway = await startGateway({
    resources: governedResources(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, keys.app, keys.cached),
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
    flags: ['--max-semi-space-size=32', `--inspect=127.0.0.1:${port}`],
    env: { NODE_DISABLE_COMPILE_CACHE: '1', GW_DRAIN_SECONDS: '1' },
  });
  things.defer(() => gateway.kill());
  inspector = await inspectorAt(port);
  things.defer(() => inspector.close());
});

afterAll(() => things.disposeAsync());

const CHUNK = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'To' }, finish_reason: null }] })}\n\n`;
const MESSAGE = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } } })}\n\n`;

/** Bytes in use after everything else was collected. */
async function inUse(): Promise<number> {
  await inspector.ask('HeapProfiler.collectGarbage');
  await inspector.ask('HeapProfiler.collectGarbage');
  return inspector.evaluate<number>(`(() => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  })()`);
}

/** A prompt of its own for each call: nothing is the same twice. */
let asked = 0;
const said = (secret: string): string => `${secret} ${prose(PROMPT, ++asked)}`;

const SECRET = 'Write to ada.lovelace@example.com about it.';
const messages = (text: string) => [{ role: 'user', content: text }];
const KINDS: Readonly<
  Record<string, { path?: string; key?: string; retained?: number; packed?: number; body: (text: string) => object }>
> = {
  'in the own family': { body: (text) => ({ model: 'upstream/m', messages: messages(text), stream: true }) },
  'translated to messages': { body: (text) => ({ model: 'translated/m', messages: messages(text), stream: true }) },
  'translated from messages': {
    path: '/v1/messages',
    body: (text) => ({ model: 'upstream/m', messages: messages(text), max_tokens: 100, stream: true }),
  },
  'translated from responses': {
    path: '/v1/responses',
    body: (text) => ({
      model: 'upstream/m',
      input: text,
      metadata: { purpose: 'repeated in the answer' },
      stream: true,
    }),
  },
  'of legacy completions': {
    path: '/v1/completions',
    body: (text) => ({ model: 'upstream/m', prompt: text, stream: true }),
  },
  'that is cached and retained, with its request,': {
    key: keys.cached,
    retained: 1.1,
    body: (text) => ({ model: 'upstream/m', messages: messages(text), stream: true }),
  },
  'in one piece, of which its provider sends the head first': {
    // It is about to be over: its text is not packed.
    packed: 1.2,
    body: (text) => ({ model: 'upstream/m', messages: messages(text) }),
  },
};

describe.each(Object.entries(KINDS))(
  'an answer %s',
  (_, { path = '/v1/chat/completions', key = keys.app, retained = 0, packed = 0.6, body }) => {
    it.each([
      ['keeps nothing of a prompt that stays as it is', '', MOST + retained * PROMPT],
      ['keeps what may be asked to restore tags, packed', SECRET, MOST + (retained + packed) * PROMPT],
    ])('%s', async (_title, secret, most) => {
      const client = createClient({ headersTimeout: 0, bodyTimeout: 0 });
      const open = async (calls: number): Promise<void> => {
        const before = begun;
        const target = { origin: gateway.url, key, path };
        for (let call = 0; call < calls; call++)
          openStream(client, target, JSON.stringify(body(said(secret)))).catch(() => {});
        await expect.poll(() => begun - before, { timeout: 60_000 }).toBe(calls);
      };
      // The first of a kind bring in code.
      await open(CALLS);
      const before = await inUse();
      await open(CALLS);
      try {
        await expect
          .poll(async () => Math.round(((await inUse()) - before) / CALLS), { timeout: 30_000, interval: 500 })
          .toBeLessThan(most);
      } finally {
        await client.destroy();
      }
    });
  },
);
