import type { McpServerConfig, ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { outside, type Denial } from '../offer.ts';
import { denied, differences, refusalOf, toolDenial, toolSlug, type RoutedTool } from '../tools.ts';

/** Why policy keeps a whole server from a workload: nothing is sent there, and it asks nothing. */
export function serverDenial(server: McpServerConfig, policy: ResolvedPolicy): Denial | undefined {
  for (const { tools, from } of policy.allowedTools) {
    if (tools.some((pattern) => mayFit(pattern, server.name))) continue;
    const why = `not on the allow-list of ${from}`;
    return { ...denied('permission_denied', why), message: `The MCP server ${server.name} is ${why}.` };
  }
  if (policy.allowedJurisdictions === undefined) return undefined;
  return outside(toolSlug(server), server.jurisdiction, policy);
}

/** Whether a pattern fits anything of a server. */
function mayFit(pattern: string, server: string): boolean {
  const own = `${server}/`;
  const star = pattern.indexOf('*');
  const before = star < 0 ? pattern : pattern.slice(0, star);
  return before.startsWith(own) || (star >= 0 && own.startsWith(before));
}

/**
 * Decides whether a client may answer what a server asks. `tool`: the one that asks; undefined: the server asks by itself.
 * A policy in shadow mode is asked, too. Throws as `routeTool` does.
 */
export function routeAnswer(
  server: McpServerConfig,
  tool: string | undefined,
  { policy, shadow }: WorkloadConfig,
): RoutedTool {
  const denialBy = (one: ResolvedPolicy): Denial | undefined =>
    tool === undefined ? serverDenial(server, one) : toolDenial(server, tool, one, undefined);
  const denial = denialBy(policy);
  const place = tool === undefined ? toolSlug(server) : `${toolSlug(server)}/${tool}`;
  const how = `in ${server.jurisdiction}, trust ${server.trust}, arguments ${policy.toolDlp[server.trust]}`;
  const facts = {
    route: [denial ? `${place}: refused: ${denial.why}` : `${place}: selected: ${how}`],
    shadow: shadow ? differences(place, denial, denialBy(shadow)) : [],
  };
  if (!denial) return facts;
  throw new Stopped(refusalOf(denial), facts);
}
