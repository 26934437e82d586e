import type { McpServerConfig, ResolvedPolicy } from '#/config/snapshot.ts';
import { rulesOf } from './argument-rules.ts';
import { matches } from './offer.ts';

/** How long a request for approval waits for a person. */
export const REQUEST_WAITS_MS = 24 * 3_600_000;
/** How long a decision holds: then the same call is asked about again. */
export const DECISION_HOLDS_MS = 15 * 60_000;

/** The rules of its server and the policies that require approval of each call of a tool. Empty: none does. */
export function approversOf(
  server: Pick<McpServerConfig, 'name' | 'rules'>,
  tool: string,
  { toolsToApprove }: Pick<ResolvedPolicy, 'toolsToApprove'>,
): readonly string[] {
  const id = `${server.name}/${tool}`;
  return [
    ...rulesOf(server, tool).flatMap(({ name, rule }) => (rule.needsApproval ? [name] : [])),
    ...toolsToApprove.flatMap(({ tools, from }) => (tools.some((pattern) => matches(pattern, id)) ? [from] : [])),
  ];
}
