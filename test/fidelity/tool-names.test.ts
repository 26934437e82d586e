import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { json, sse } from '../harness/answers.ts';
import { completion, completionFrames } from '../harness/chat-format.ts';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Tools whose names a provider would refuse: it gets others, and the client never hears of them. */

const key = newKey();
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    resources: tenant({ upstreamUrl: upstream.url, key }),
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const NAME = `mcp__${'a'.repeat(80)}`;
const ASK = {
  model: 'upstream/m',
  max_tokens: 10,
  tools: [{ name: NAME, input_schema: { type: 'object' } }],
  tool_choice: { type: 'tool', name: NAME },
  messages: [
    { role: 'user', content: 'now' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: NAME, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'noon' }] },
  ],
};

/** Names of tools in what was sent, in the order they stand there. */
function namesIn(body: string): string[] {
  return [...body.matchAll(/"name":"([^"]*)"/g)].map(([, name = '']) => name);
}

test.each([false, true])('streamed: %s', async (stream) => {
  // The stand-in calls what it was offered.
  upstream.respond(async (exchange) => {
    const [name = ''] = namesIn(exchange.request.body);
    const script = { toolCalls: [{ id: 'c1', name, arguments: '{}' }] };
    await (stream ? sse([...completionFrames(script), { data: '[DONE]' }]) : json(completion(script)))(exchange);
  });
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...ASK, stream }),
  });
  const text = await answer.text();
  expect([answer.status, namesIn(text)]).toEqual([200, [NAME]]);
  const sent = namesIn(upstream.requests.at(-1)?.body ?? '');
  expect(sent).toHaveLength(3);
  expect(new Set(sent).size).toBe(1);
  expect(sent[0]).toMatch(/^[\w-]{1,64}$/);
});
