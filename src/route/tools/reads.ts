import type { McpServerConfig, ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { matches, outside, type Denial } from '../offer.ts';
import { denied, differences, refusalOf, toolSlug, type RoutedTool } from '../tools.ts';

/** What of a server is read besides calling its tools. */
export type ReadKind = 'prompts' | 'resources';

/** Why policy or configuration keeps a prompt from a workload. */
export function promptDenial(server: McpServerConfig, name: string, policy: ResolvedPolicy): Denial | undefined {
  return readDenial(server, 'prompts', name, policy);
}

/**
 * Why policy or configuration keeps a prompt or a resource from a workload: it is then neither listed nor read. `name`: of
 * the prompt, or the server's own address of the resource.
 */
export function readDenial(
  server: McpServerConfig,
  kind: ReadKind,
  name: string,
  policy: ResolvedPolicy,
): Denial | undefined {
  if (!server.offer.has(kind)) {
    const why = `not offered: MCPServer ${server.id} does not offer ${kind}`;
    return kind === 'prompts'
      ? denied('prompt_not_found', why)
      : { ...denied('resource_not_found', why), param: 'params.uri' };
  }
  for (const { tools, from } of policy.allowedTools) {
    if (tools.some((pattern) => isAllowed(pattern, server.name, kind, name))) continue;
    const why = `not on the allow-list of ${from}`;
    return { code: 'permission_denied', why, message: `The ${SINGULAR[kind]} is ${why}.`, param: 'params' };
  }
  if (policy.allowedJurisdictions === undefined) return undefined;
  return outside(toolSlug(server), server.jurisdiction, policy);
}

const SINGULAR: Readonly<Record<ReadKind, string>> = { prompts: 'prompt', resources: 'resource' };

/** A pattern of tools, such as `crm/re*`, allows neither prompts nor resources; `crm/*` allows all of a server. */
function isAllowed(pattern: string, server: string, kind: ReadKind, name: string): boolean {
  const behind = pattern.slice(pattern.indexOf('/') + 1);
  return (behind === '*' || behind.startsWith(`${kind}/`)) && matches(pattern, `${server}/${kind}/${name}`);
}

/**
 * Decides whether a workload may read a prompt or a resource. `id`: what rows call it. A policy in shadow mode is asked, too.
 * Throws what `readDenial` says, in a `Stopped` with how that was decided.
 */
export function routeRead(
  server: McpServerConfig,
  { id, kind, name }: { readonly id: string; readonly kind: ReadKind; readonly name: string },
  { policy, shadow }: WorkloadConfig,
): RoutedTool {
  const denial = readDenial(server, kind, name, policy);
  const place = `${toolSlug(server)}/${id}`;
  const { toolDlp } = policy;
  const how = `in ${server.jurisdiction}, trust ${server.trust}, arguments ${toolDlp[server.trust]}, results ${toolDlp.results}`;
  const facts = {
    route: [denial ? `${place}: refused: ${denial.why}` : `${place}: selected: ${how}`],
    shadow: shadow ? differences(place, denial, readDenial(server, kind, name, shadow)) : [],
  };
  if (!denial) return facts;
  throw new Stopped(refusalOf(denial), facts);
}
