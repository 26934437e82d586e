import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { EVERYTHING, node, Peers, speak } from './peers.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** Real servers that ask real clients for more, of both eras, with the gateway between them. */

const peers = new Peers();
let world: McpWorld;

beforeAll(async () => {
  const port = await freePort();
  const [, modern] = await Promise.all([
    peers.start(node(EVERYTHING), ['streamableHttp'], /listening|running|started/i, { PORT: String(port) }),
    peers.start(node('everything-server.js'), ['modern'], /http:\S+/),
  ]);
  const clientCapabilities = ['Elicitation', 'Sampling', 'Roots'];
  world = await startMcpWorld({
    servers: {
      legacy: { url: `http://127.0.0.1:${port}/mcp`, sessions: 'PerClient', clientCapabilities },
      modern: { url: modern, clientCapabilities },
    },
  });
}, 90_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  peers[Symbol.dispose]();
});

interface Report {
  readonly asked: readonly { readonly method: string; readonly params?: object }[];
  readonly logged: readonly { readonly data?: unknown }[];
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text?: string }[] };
  readonly session: string | null;
}

const report = (path: string, tool: string, args: object | 'wait', mode: string): Promise<Report> =>
  speak(node('asked-client.js'), [
    `${world.gateway.url}${path}`,
    world.key,
    tool,
    args === 'wait' ? args : JSON.stringify(args),
    mode,
  ]);

const methodsOf = ({ asked }: Report): readonly string[] => asked.map(({ method }) => method);
const said = ({ result }: Report): string => result?.content.map(({ text }) => text).join('\n') ?? '';

test.each(['v1', 'v2'])(
  '%s answers what a legacy server asks',
  async (mode) => {
    for (const [path, prefix] of [
      ['/v1/mcp/legacy', ''],
      ['/v1/mcp', 'legacy__'],
    ] as const) {
      const prompt = 'Mail ada@example.com';
      const sampled = await report(path, `${prefix}trigger-sampling-request`, { prompt, maxTokens: 10 }, mode);
      expect(methodsOf(sampled)).toContain('sampling/createMessage');
      expect(JSON.stringify(sampled.asked)).toContain('Mail ada@example.com');
      expect(said(sampled)).toContain('write to bob@example.com');
      expect(sampled.session).toMatch(/^[\w-]+$/);
    }
    // It asks for the folders by itself, on the stream of the session, when a client has opened it.
    const rooted = await report('/v1/mcp/legacy', 'get-roots-list', {}, mode);
    expect(methodsOf(rooted)).toEqual(['roots/list']);
    expect(said(rooted)).toContain('file:///home/«EMAIL_1»');
    const waited = await report('/v1/mcp/legacy', '', 'wait', mode);
    expect(waited.logged.map(({ data }) => data)).toEqual(['Roots updated: 1 root(s) received from client']);
  },
  120_000,
);

test.each(['v1', 'v2'])(
  '%s has an answer refused whose tag the form would not take',
  async (mode) => {
    const refused = await report('/v1/mcp/legacy', 'trigger-elicitation-request', {}, mode);
    expect(methodsOf(refused)).toContain('elicitation/create');
    expect(said(refused)).toMatch(/refused/);
    expect(said(refused)).not.toContain('bob@example.com');
  },
  60_000,
);

test('a modern client answers a modern server in rounds', async () => {
  const elicited = await report('/v1/mcp/modern', 'test_input_required_result_elicitation', {}, 'v2-auto');
  expect(elicited.asked).toEqual([{ method: 'elicitation/create', params: expect.any(Object) as object }]);
  expect(said(elicited)).toContain('Bob');
  const several = await report('/v1/mcp', 'modern__test_input_required_result_multi_round', {}, 'v2-auto');
  expect(several.asked.length).toBeGreaterThan(1);
  expect(several.result?.isError).not.toBe(true);
  const sampled = await report('/v1/mcp/modern', 'test_input_required_result_sampling', {}, 'v2-auto');
  expect(said(sampled)).toContain('write to bob@example.com');
}, 90_000);

test('a legacy client learns that a modern server cannot ask it', async () => {
  const asking = report('/v1/mcp/modern', 'test_input_required_result_elicitation', {}, 'v1');
  await expect(asking).rejects.toThrow(/-32021: .*client capabilities do not declare/);
}, 60_000);
