import { expect, test } from 'vitest';
import type { McpServerConfig, ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { routeAnswer, serverDenial } from './servers.ts';

const SERVER = {
  id: 'acme/crm',
  name: 'crm',
  jurisdiction: 'US',
  trust: 'external',
  offer: new Set(['tools']),
} as unknown as McpServerConfig;

function policy(places: readonly string[] | undefined, ...lists: readonly (readonly string[])[]): ResolvedPolicy {
  return {
    allowedJurisdictions: places && new Set(places),
    allowedTools: lists.map((tools, index) => ({ tools, from: `Policy acme/p${index}` })),
    origins: [],
    toolDlp: { external: 'mask', results: 'off' },
  } as unknown as ResolvedPolicy;
}

test.each<[ResolvedPolicy, string | undefined]>([
  [policy(undefined), undefined],
  [policy(['US']), undefined],
  [policy(['EU']), 'residency_denied'],
  [policy([]), 'residency_denied'],
  [policy(undefined, ['crm/*']), undefined],
  [policy(undefined, ['crm/read']), undefined],
  [policy(undefined, ['crm/prompts/*']), undefined],
  [policy(undefined, ['*']), undefined],
  [policy(undefined, ['c*']), undefined],
  [policy(undefined, ['*/read']), undefined],
  [policy(undefined, ['crm']), 'permission_denied'],
  [policy(undefined, ['crm.eu/*', 'cr/*', 'crmx*']), 'permission_denied'],
  [policy(undefined, []), 'permission_denied'],
  [policy(undefined, ['crm/*'], ['hr/*']), 'permission_denied'],
])('policy %# decides on a whole server', (one, code) => {
  expect(serverDenial(SERVER, one)?.code).toBe(code);
});

test.each([undefined, 'read'])('an answer to a server that policy refuses is refused (tool: %s)', (tool) => {
  const route = (one: ResolvedPolicy, shadow?: ResolvedPolicy) =>
    routeAnswer(SERVER, tool, { policy: one, shadow } as unknown as WorkloadConfig);
  const place = tool === undefined ? 'mcp/crm' : 'mcp/crm/read';
  expect(() => route(policy(['EU']))).toThrow(Stopped);
  expect(() => route(policy(undefined, ['hr/*']))).toThrow(Stopped);
  expect(route(policy(['US']), policy(['EU']))).toMatchObject({
    route: [`${place}: selected: in US, trust external, arguments mask`],
    shadow: [{ field: 'residency.allowedJurisdictions' }],
  });
});
