import { expect, test } from 'vitest';
import type { McpServerConfig, ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { routeTool } from './tools.ts';

const SERVER = {
  id: 'acme/crm',
  name: 'crm',
  jurisdiction: 'US',
  trust: 'external',
  include: ['find_*', 'export'],
} as unknown as McpServerConfig;
const POLICY = {
  origins: [],
  allowedTools: [],
  toolDlp: { internal: 'allow_log', external: 'tokenize', results: 'mask' },
} as unknown as ResolvedPolicy;

function routed(tool: string, policy: Partial<ResolvedPolicy>, shadow?: Partial<ResolvedPolicy>): object {
  const workload = { policy: { ...POLICY, ...policy }, ...(shadow && { shadow: { ...POLICY, ...shadow } }) };
  try {
    return routeTool(SERVER, tool, workload as unknown as WorkloadConfig);
  } catch (thrown) {
    if (!(thrown instanceof Stopped)) throw thrown;
    return { ...thrown.facts, code: (thrown.cause as { code: string }).code };
  }
}

const EU = { allowedJurisdictions: new Set(['EU']) };
const ORDERS = { allowedTools: [{ tools: ['orders/*', 'crm/export'], from: 'Policy acme/strict' }] };

test.each<[string, string, Partial<ResolvedPolicy>, string | undefined, RegExp]>([
  [
    'an offered tool',
    'find_one',
    {},
    undefined,
    /^mcp\/crm\/find_one: selected: in US, trust external, arguments tokenize, results mask$/,
  ],
  ['another one', 'drop', {}, 'tool_not_found', /refused: not among the tools that MCPServer acme\/crm offers/],
  ['one that no list has', 'find_one', ORDERS, 'permission_denied', /not on the allow-list of Policy acme\/strict/],
  ['one that every list has', 'export', ORDERS, undefined, /selected/],
  ['a place', 'export', EU, 'residency_denied', /in US, allowed are EU/],
])('%s', (_name, tool, policy, code, route) => {
  const found = routed(tool, policy) as { route: string[]; code?: string };
  expect(found.code).toBe(code);
  expect(found.route).toEqual([expect.stringMatching(route)]);
});

test('a policy in shadow mode says what it would have decided', () => {
  expect(routed('find_one', {}, ORDERS)).toMatchObject({
    shadow: [{ field: 'allowedTools', text: expect.stringContaining('mcp/crm/find_one would be refused') as string }],
  });
  expect(routed('find_one', ORDERS, {})).toMatchObject({
    code: 'permission_denied',
    shadow: [{ field: 'allowedTools' }],
  });
  expect(routed('find_one', {}, EU)).toMatchObject({ shadow: [{ field: 'residency.allowedJurisdictions' }] });
});
