import { expect, test } from 'vitest';
import type { McpServerConfig, ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import { Stopped } from '#/call/facts.ts';
import { compileSchema } from '#/values/json-schema/compile-schema.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { routeTool, toolDenial } from './tools.ts';

const RULES = [
  { tools: ['find_*'], needsApproval: false, arguments: compileSchema({ properties: { limit: { maximum: 50 } } }) },
  { tools: ['export'], needsApproval: false, arguments: compileSchema({ required: ['reason'] }) },
  { tools: ['*'], needsApproval: false, arguments: compileSchema({ additionalProperties: { pattern: '^[a-z ]*$' } }) },
];
const SERVER = {
  id: 'acme/crm',
  name: 'crm',
  jurisdiction: 'US',
  trust: 'external',
  sessions: 'shared',
  clientCapabilities: [],
  include: ['find_*', 'export'],
  readOnlyTools: false,
  offer: new Set(['tools']),
  rules: RULES,
} as unknown as McpServerConfig;
const POLICY = {
  origins: [],
  allowedTools: [],
  toolsToApprove: [],
  toolDlp: { internal: 'allow_log', external: 'tokenize', results: 'mask' },
} as unknown as ResolvedPolicy;

function routed(
  tool: string,
  policy: Partial<ResolvedPolicy>,
  shadow?: Partial<ResolvedPolicy>,
  args?: JsonObject,
  definition?: JsonObject,
): object {
  const workload = { policy: { ...POLICY, ...policy }, ...(shadow && { shadow: { ...POLICY, ...shadow } }) };
  try {
    return routeTool(SERVER, { name: tool, definition }, workload as unknown as WorkloadConfig, args);
  } catch (thrown) {
    if (!(thrown instanceof Stopped)) throw thrown;
    const { code, message } = thrown.cause as GatewayError;
    return { ...thrown.facts, code, message };
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

test.each<[string, JsonObject, string | undefined]>([
  ['find_one', { limit: 50 }, undefined],
  ['find_one', { limit: 51 }, 'rules[0] of the MCP server crm: /limit must be at most 50.'],
  ['find_one', { secret: 'X' }, 'rules[2] of the MCP server crm: /* must match the pattern ^[a-z ]*$.'],
  ['export', { limit: 51 }, 'rules[1] of the MCP server crm: the arguments must have the member "reason".'],
  [
    'find_one',
    { text: 'a'.repeat(100_000) },
    'rules[2] of the MCP server crm: the arguments take more than 200000 steps to check: send less.',
  ],
])('rules on %s', (tool, args, message) => {
  const found = routed(tool, {}, undefined, args) as { route: string[]; code?: string; message?: string };
  expect([found.code, found.message]).toEqual([message && 'tool_arguments_denied', message]);
  const line = message
    ? `refused: ${message.replace('the MCP server crm', 'MCPServer acme/crm').slice(0, -1)}`
    : 'selected: ';
  expect(found.route).toEqual([expect.stringContaining(`mcp/crm/${tool}: ${line}`) as string]);
});

test('rules that hold are named, and are not asked without arguments', () => {
  expect(routed('find_one', {}, undefined, { limit: 1 })).toMatchObject({
    route: [expect.stringMatching(/results mask, keeps rules\[0\] rules\[2\]$/)],
  });
  expect(routed('export', {})).toMatchObject({ route: [expect.stringMatching(/results mask$/)] });
});

test.each([
  [{ annotations: { readOnlyHint: true } }, undefined],
  [{ annotations: { readOnlyHint: false } }, 'tool_not_found'],
  [{ annotations: { readOnlyHint: 'true' } }, 'tool_not_found'],
  [{ annotations: null }, 'tool_not_found'],
  [{}, 'tool_not_found'],
  [undefined, undefined],
])('a server that offers only what changes nothing, and a definition %j', (definition, code) => {
  const server = { ...SERVER, readOnlyTools: true };
  expect(toolDenial(server, 'find_one', POLICY, definition)?.code).toBe(code);
  expect(toolDenial(SERVER, 'find_one', POLICY, definition)).toBeUndefined();
});

test('rules and policies that need approval are named, also where only a policy in shadow mode does', () => {
  const list = { toolsToApprove: [{ tools: ['crm/export'], from: 'Policy acme/strict' }] };
  expect(routed('export', list)).toMatchObject({
    route: [expect.stringMatching(/needs approval by Policy acme\/strict$/)],
  });
  expect(routed('find_one', list)).toMatchObject({ route: [expect.stringMatching(/results mask$/)] });
  expect(routed('export', {}, list)).toMatchObject({
    shadow: [{ field: 'toolsToApprove', text: 'mcp/crm/export would need approval' }],
  });
  expect(routed('export', list, {})).toMatchObject({
    shadow: [{ field: 'toolsToApprove', text: 'mcp/crm/export would need no approval' }],
  });
});
