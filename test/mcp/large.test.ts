import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowOf } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { ask, codeOf, startMcpWorld, textOf, type McpWorld, type Sent } from './world.ts';

/** The largest results, the longest lists and the longest names that servers may have. */

const MAIL = 'ada.lovelace@example.com';
const TOOLS = 1000;
const MIB = 1024 * 1024;
/** As many characters as a name may have. */
const LONG = 'x'.repeat(120);
const ERAS = ['legacy', 'modern'] as const;

let many: McpStandIn;
let large: McpStandIn;
let tight: McpStandIn;
let world: McpWorld;

const nameOf = (at: number): string => `${at % 3 === 0 ? LONG : 'tool'}_${String(at).padStart(4, '0')}`;

beforeAll(async () => {
  many = await startMcpServer({
    tools: Array.from({ length: TOOLS }, (_, at) => ({ name: nameOf(at), inputSchema: { type: 'object' } })),
  });
  large = await startMcpServer({
    call: ({ body }) => {
      const { bytes, mail } = body.params!['arguments'] as { bytes: number; mail: string };
      const line = `${mail} has a line of its own in this long text\n`;
      const text = line + 'a line of a text\n'.repeat(Math.floor((bytes - 2 * line.length) / 17)) + line;
      return { content: [{ type: 'text', text }] };
    },
  });
  tight = await startMcpServer({
    call: ({ body }) => {
      const { bytes } = body.params!['arguments'] as { bytes: number };
      const result = (text: string) => ({ content: [{ type: 'text', text }] });
      return result('x'.repeat(bytes - JSON.stringify(result('')).length));
    },
  });
  world = await startMcpWorld({
    servers: {
      many: { url: many.url },
      more: { url: many.url },
      large: { url: large.url },
      tight: { url: tight.url, maxResultKiB: 16 },
    },
    prices: [{ model: 'mcp/large/*', unit: 'Call', input: '0.001' }],
  });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  for (const server of [many, large, tight]) await server?.[Symbol.asyncDispose]();
});

/** All pages of a list. */
async function listAll(era: (typeof ERAS)[number], path: string): Promise<readonly string[][]> {
  const pages: string[][] = [];
  let cursor: unknown;
  do {
    const { body } = await ask(world, era, path, 'tools/list', cursor === undefined ? {} : { cursor });
    pages.push((body.result?.tools ?? []).map(({ name }) => name));
    cursor = body.result?.['nextCursor'];
  } while (cursor !== undefined && pages.length < 20);
  return pages;
}

test.each(ERAS)('a %s client lists 1,000 tools of a server in pages, and calls the last', async (era) => {
  const pages = await listAll(era, '/v1/mcp/many');
  expect(pages.map(({ length }) => length)).toEqual([500, 500]);
  expect(pages.flat()).toEqual(Array.from({ length: TOOLS }, (_, at) => nameOf(at)));
  const params = { name: nameOf(TOOLS - 1), arguments: { mail: MAIL } };
  expect(textOf(await ask(world, era, '/v1/mcp/many', 'tools/call', params))).toBe(`{"mail":"${MAIL}"}`);
});

test.each(ERAS)(
  'a %s client lists 2,000 tools of all servers, under names that no client finds too long',
  async (era) => {
    const names = (await listAll(era, '/v1/mcp')).flat();
    expect(names).toHaveLength(2 * TOOLS + 2);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,47}$/);
    const called: Sent[] = [];
    for (const at of [0, 1, 999, 1001, 2000]) {
      const name = names[at]!;
      called.push(await ask(world, era, '/v1/mcp', 'tools/call', { name, arguments: { mail: MAIL, bytes: 500 } }));
    }
    for (const one of called) expect(textOf(one)).toContain(MAIL);
  },
);

test.each(ERAS.flatMap((era) => [false, true].map((streams) => [era, streams] as const)))(
  'a %s client gets a result of nearly 10 MiB (streams: %s), with both addresses in it',
  async (era, streams) => {
    large.behaviour.streams = streams;
    const args = { mail: MAIL, bytes: 9.3 * MIB };
    const answer = await ask(world, era, '/v1/mcp/large', 'tools/call', { name: 'echo', arguments: args });
    const text = textOf(answer);
    expect(codeOf(answer)).toBe('');
    expect(text.length).toBeGreaterThan(9 * MIB);
    expect(text.split(MAIL)).toHaveLength(3);
    expect(text).not.toContain('«');
  },
);

test('a result over 10 MiB is refused and charged, and the next call is served', async () => {
  const send = (bytes: number): Promise<Sent> =>
    ask(world, 'legacy', '/v1/mcp/large', 'tools/call', { name: 'echo', arguments: { mail: MAIL, bytes } });
  const refused = await send(11 * MIB);
  expect(codeOf(refused)).toBe('result_too_large');
  const row = await rowOf(world.databaseUrl, refused.headers.get('x-request-id'));
  expect([row.cost_nano_eur, row.outcome]).toEqual(['1000000', 'failed']);
  expect(textOf(await send(500))).toContain(MAIL);
});

test.each([false, true])('a limit holds byte for byte (streams: %s)', async (streams) => {
  tight.behaviour.streams = streams;
  for (const [bytes, code] of [
    [16_384, ''],
    [16_385, 'result_too_large'],
    [60_000, 'result_too_large'],
  ] as const) {
    const params = { name: 'echo', arguments: { bytes } };
    expect(codeOf(await ask(world, 'legacy', '/v1/mcp/tight', 'tools/call', params))).toBe(code);
  }
});
