import { setTimeout as sleep } from 'node:timers/promises';
import { inUse, inspectorOf } from './inside.ts';
import { closedLoop, createClient, openStream, quantile } from './load.ts';
import { measure, type Measure } from './measures.ts';
import { startProgram } from './processes.ts';
import { prompt } from './prompts.ts';
import { costOf, inTurns, refuseFailures, type Pair, type Side, type Sides } from './sides.ts';

/** The cost of calls of tools next to a bare relay, a call to a model and a proxy of the vendor's library. */

const CONNECTIONS = 16;
const CALLS = 4000;
const LISTS = 1000;
const STREAMS = 100;
/** For growth: so many calls and streams that clients leave. */
const MANY = Number(process.env['BENCH_MCP_CALLS'] ?? 20_000);
const LEFT = 1000;

interface Asked {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A message of the new era. */
function message(method: string, params: Readonly<Record<string, unknown>> = {}): Asked {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    progressToken: 1,
  };
  return {
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  };
}

/** Its text is that of a prompt of so many bytes, with the same address and number in it. */
function call(bytes: number): Asked {
  const { messages } = JSON.parse(prompt(bytes)) as { messages: readonly { content: string }[] };
  return message('tools/call', { name: 'find', arguments: { text: messages[1]?.content } });
}

const at = (side: Side, { headers }: Asked, path = '/v1/mcp/crm'): Side => ({ ...side, path, headers });
const askedOf = (pair: Pick<Pair, 'bare' | 'governed'>, asked: Asked) => ({
  bare: at(pair.bare, asked),
  governed: at(pair.governed, asked),
});

/** All that `make bench BENCH_ONLY=mcp` measures. */
export async function toolCalls(sides: Sides, rounds: number): Promise<Measure[]> {
  const asked = call(2048);
  const list = message('tools/list');
  const [pair, listing] = [askedOf(sides, asked), askedOf(sides, list)];
  const cost = async (side: Side, body: string, calls = CALLS): Promise<number> =>
    (await costOf(sides.client, side, body, CONNECTIONS, calls)).cpu;
  for (const side of [pair.bare, pair.governed]) await cost(side, asked.body);
  const calls = await inTurns(pair, rounds, (side) => cost(side, asked.body));
  const chats = await inTurns({ bare: sides.governed, governed: pair.governed }, rounds, (side) =>
    cost(side, side.path === undefined ? prompt(2048) : asked.body),
  );
  const lists = await inTurns(listing, rounds, (side) => cost(side, list.body, LISTS));
  const alone = await inTurns(pair, rounds, async (side) => {
    const { latencies, failures } = await closedLoop(sides.client, side, asked.body, 1, 1000);
    refuseFailures(side, failures);
    return quantile(latencies, 0.5);
  });
  return [
    measure('2 KiB tool call: CPU', 'µs/call', calls.bare, calls.governed),
    measure('2 KiB tool call, against a chat call: CPU', 'µs/call', chats.bare, chats.governed),
    await againstLibrary(sides, pair.governed, asked, cost, rounds),
    measure('list of 100 tools: CPU', 'µs/list', lists.bare, lists.governed),
    measure('2 KiB tool call, one at a time: p50', 'ms', alone.bare, alone.governed, 'difference', 'free'),
    await liveToolStreams(sides, rounds),
    ...(await growth(sides)),
  ];
}

/** In the place of `bare` stands a proxy with the library of the protocol on both sides. */
async function againstLibrary(
  sides: Sides,
  governed: Side,
  asked: Asked,
  cost: (side: Side, body: string, calls?: number) => Promise<number>,
  rounds: number,
): Promise<Measure> {
  const proxy = await startProgram('../../tools/mcp/sdk-proxy.js', [`${sides.upstreamUrl}/mcp`]);
  try {
    const side = at({ ...sides.bare, origin: `http://127.0.0.1:${proxy.port}`, pid: proxy.pid }, asked, '/mcp');
    await cost(side, asked.body, 2000);
    const both = await inTurns({ bare: side, governed }, rounds, (one) => cost(one, asked.body, 2000));
    return measure('2 KiB tool call, against a proxy of the library: CPU', 'µs/call', both.bare, both.governed);
  } finally {
    proxy.stop();
  }
}

const STALLED = message('tools/call', { name: 'stall', arguments: { text: 'x' } });

/** Bytes in use for each open stream of progress. */
async function liveToolStreams(sides: Sides, rounds: number): Promise<Measure> {
  await using pair = await sides.another({ inspect: true });
  const client = createClient();
  try {
    const results = await inTurns(askedOf(pair, STALLED), rounds, async (side) => {
      const before = await inUse(inspectorOf(side));
      await Promise.all(Array.from({ length: STREAMS }, () => openStream(client, side, STALLED.body)));
      return ((await inUse(inspectorOf(side))) - before) / STREAMS;
    });
    return measure('open stream of a tool: in use', 'bytes', results.bare, results.governed);
  } finally {
    await client.destroy();
  }
}

/** In the place of `bare` stands what the gateway had in use before: what it keeps of calls and of streams that are left. */
async function growth(sides: Sides): Promise<Measure[]> {
  await using pair = await sides.another({ inspect: true });
  const asked = call(2048);
  const side = at(pair.governed, asked);
  const run = async (calls: number): Promise<number> => {
    const { failures } = await closedLoop(sides.client, side, asked.body, CONNECTIONS, calls);
    refuseFailures(side, failures);
    return inUse(inspectorOf(side));
  };
  await run(MANY / 4);
  const warm = await run(MANY / 4);
  const after = await run(MANY);
  for (let left = 0; left < LEFT; left += STREAMS) {
    const client = createClient();
    const open = Array.from({ length: STREAMS }, () =>
      openStream(client, at(pair.governed, STALLED), STALLED.body).catch(() => {}),
    );
    await Promise.all(open);
    await client.destroy();
  }
  await sleep(1000);
  const left = await inUse(inspectorOf(side));
  return [
    measure('in use after many tool calls, against before', 'bytes', [warm], [after]),
    measure('in use after streams of tools that were left, against before', 'bytes', [after], [left]),
  ];
}
