import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { newKey, resource } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { startMcpServer, type McpBehaviour, type McpStandIn } from '../harness/mcp-server.ts';
import { ask, startMcpWorld, type McpWorld, type Sent } from './world.ts';

/** A gateway before two servers that a test steers, of both eras, and what a test asks of them. */

export const MAIL = 'ada@example.com';
const OFFER = ['Tools', 'Resources', 'Prompts', 'Completions', 'Instructions'];
const CAPABILITIES = { resources: {}, prompts: {}, completions: {} };
export type Other = Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => object>>;

export let server: McpStandIn;
export let neighbour: McpStandIn;
export let world: McpWorld;
/** A key of another organization, with a server of its own. */
export const stranger = newKey();
/** Other servers in each test: what gateways keep of them stays. */
export let one = '';
export let two = '';
let count = 0;

beforeAll(async () => {
  server = await startMcpServer({ era: 'modern' });
  neighbour = await startMcpServer();
  world = await startMcpWorld({ servers: {} });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await neighbour?.[Symbol.asyncDispose]();
});

beforeEach(() => {
  count += 1;
  one = `one${count}`;
  two = `two${count}`;
  server.received.length = 0;
  neighbour.received.length = 0;
});

export const answering =
  (other: Other): McpBehaviour['call'] =>
  ({ body }) =>
    other[body.method ?? '']?.(body.params ?? {}) ?? { error: { code: -32601, message: 'unknown' } };

/** Lets both servers answer so from now on, under new names. */
export async function serve(
  other: Other,
  more: { spec?: object; policy?: object; prices?: object[]; about?: object } = {},
) {
  for (const standIn of [server, neighbour]) {
    standIn.behaviour.about = { capabilities: CAPABILITIES, ...more.about };
    standIn.behaviour.other = answering(other);
  }
  const spec = { offer: OFFER, ...more.spec };
  world.configure({
    servers: { [one]: { url: server.url, ...spec }, [two]: { url: neighbour.url, ...spec } },
    policy: more.policy ?? { dlp: { mode: 'Tokenize' } },
    prices: more.prices ?? [],
    more: [
      { ...resource('Organization', 'other', { contact: { email: 'ops@other.example' } }), metadata: at('other') },
      { ...resource('Workload', 'app', { organizationRef: { name: 'other' } }), metadata: at('app') },
      {
        ...resource('VirtualKey', 'k', {
          workloadRef: { name: 'app' },
          hash: { algorithm: 'SHA256', value: hash('sha256', stranger, 'hex') },
        }),
        metadata: at('k'),
      },
    ],
  });
  await expect.poll(async () => (await ask(world, 'legacy', `/v1/mcp/${one}`, 'ping')).status).toBe(200);
}

const at = (name: string) => ({ name, namespace: 'other' });

export const read = (uri: string, path = `/v1/mcp/${one}`): Promise<Sent> =>
  ask(world, 'modern', path, 'resources/read', { uri }, { 'mcp-name': uri });
export const text = (uri: string, said: string) => ({ contents: [{ uri, mimeType: 'text/plain', text: said }] });
export const list = async (method: string, path = '/v1/mcp'): Promise<readonly Record<string, unknown>[]> => {
  const { body } = await ask(world, 'modern', path, method);
  const { resources, resourceTemplates, prompts } = (body.result ?? {}) as Record<
    string,
    readonly Record<string, unknown>[]
  >;
  return resources ?? resourceTemplates ?? prompts ?? [];
};
export const row = ({ headers }: Sent) => rowOf(world.databaseUrl, headers.get('x-request-id'));
