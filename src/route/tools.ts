import type { McpServerConfig, ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { Stopped, type Difference } from '#/call/facts.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { matches, outside, type Denial } from './offer.ts';
import { apiDenial } from './api-arguments.ts';
import { argumentDenial, rulesOf, type PlacedRule } from './argument-rules.ts';
import { approversOf } from './tool-approvals.ts';

/** What price books, allow-lists and audit rows call a server of tools: `mcp/crm`. */
export function toolSlug({ name }: Pick<McpServerConfig, 'name'>): string {
  return `mcp/${name}`;
}

/** Whether a definition says that its tool changes nothing. */
function saysReadOnly({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations['readOnlyHint'] === true;
}

/**
 * Why policy or configuration keeps a tool from a workload: it is then neither listed nor called. `definition`: the accepted
 * one; undefined: it is not known, and not asked about.
 */
export function toolDenial(
  server: McpServerConfig,
  tool: string,
  policy: ResolvedPolicy,
  definition: JsonObject | undefined,
): Denial | undefined {
  const { include, exclude, readOnlyTools } = server;
  if (readOnlyTools && definition && !saysReadOnly(definition))
    return denied(
      'tool_not_found',
      `not among the tools that MCPServer ${server.id} offers: its definition does not say readOnlyHint`,
    );
  const isOffered =
    server.offer.has('tools') &&
    // Allow-lists and prices call prompts and resources so.
    !/^(?:prompts|resources|completion)\//.test(tool) &&
    (include === undefined || include.some((pattern) => matches(pattern, tool))) &&
    exclude?.some((pattern) => matches(pattern, tool)) !== true;
  if (!isOffered) return denied('tool_not_found', `not among the tools that MCPServer ${server.id} offers`);
  const unlisted = unlistedTool(`${server.name}/${tool}`, policy);
  if (unlisted || policy.allowedJurisdictions === undefined) return unlisted;
  return outside(toolSlug(server), server.jurisdiction, policy);
}

/** The denial of a tool that an allow-list lacks. `id`: `<server>/<tool>`. */
export function unlistedTool(id: string, { allowedTools }: ResolvedPolicy): Denial | undefined {
  for (const { tools, from } of allowedTools) {
    if (!tools.some((pattern) => matches(pattern, id)))
      return denied('permission_denied', `not on the allow-list of ${from}`);
  }
  return undefined;
}

/** `why`: the end of a sentence that begins with the tool. */
export function denied(code: Denial['code'], why: string): Denial {
  return { code, why, message: `The tool is ${why}.`, param: 'params.name' };
}

/** How a call of a tool was decided, for the audit row. */
export interface RoutedTool {
  readonly route: readonly string[];
  readonly shadow: readonly Difference[];
}

/** The tool that a call names. */
export interface CalledTool {
  readonly name: string;
  /** Undefined: it is not known. */
  readonly definition?: JsonObject | undefined;
}

/**
 * Decides whether a workload may call a tool with these arguments; undefined: they are not known, and no rule is asked. A
 * policy in shadow mode is asked, too. Throws `tool_not_found`, `permission_denied`, `residency_denied` or
 * `tool_arguments_denied`, in a `Stopped` with how that was decided.
 */
export function routeTool(
  server: McpServerConfig,
  { name: tool, definition }: CalledTool,
  workload: WorkloadConfig,
  args: JsonObject | undefined,
): RoutedTool {
  const { policy, shadow } = workload;
  const id = `${toolSlug(server)}/${tool}`;
  const denial = toolDenial(server, tool, policy, definition);
  const rules = args === undefined ? [] : rulesOf(server, tool);
  const broken = denial ?? (args && apiDenial(server, tool, args)) ?? argumentDenial(server, rules, args);
  const approvers = approversOf(server, tool, policy);
  const facts = {
    route: [
      broken ? `${id}: refused: ${broken.why}` : `${id}: selected: ${describe(server, policy, rules, approvers)}`,
    ],
    shadow: shadow
      ? [
          ...differences(id, denial, toolDenial(server, tool, shadow, definition)),
          ...approvalDifferences(id, approvers, approversOf(server, tool, shadow)),
        ]
      : [],
  };
  if (!broken) return facts;
  throw new Stopped(refusalOf(broken), facts);
}

/** A denial as the client's error. */
export function refusalOf({ code, message, param }: Denial): GatewayError {
  return new GatewayError(code, message, param === undefined ? {} : { param });
}

function describe(
  { jurisdiction, trust }: McpServerConfig,
  { toolDlp }: ResolvedPolicy,
  rules: readonly PlacedRule[],
  approvers: readonly string[],
): string {
  const checked = rules.filter(({ rule }) => rule.arguments);
  const kept = checked.length > 0 ? `, keeps ${checked.map(({ name }) => name).join(' ')}` : '';
  const approval = approvers.length > 0 ? `, needs approval by ${approvers.join(' and ')}` : '';
  return `in ${jurisdiction}, trust ${trust}, arguments ${toolDlp[trust]}, results ${toolDlp.results}${kept}${approval}`;
}

/** What a policy that is only watched decides otherwise on the approval of a call. */
function approvalDifferences(
  id: string,
  enforced: readonly string[],
  watched: readonly string[],
): readonly Difference[] {
  if (enforced.length > 0 === watched.length > 0) return [];
  const would = watched.length > 0 ? 'would need approval' : 'would need no approval';
  return [{ field: 'toolsToApprove', text: `${id} ${would}` }];
}

/** What a policy that is only watched decides otherwise on a tool. */
export function differences(
  id: string,
  enforced: Denial | undefined,
  watched: Denial | undefined,
): readonly Difference[] {
  if ((enforced === undefined) === (watched === undefined)) return [];
  const { code } = (enforced ?? watched)!;
  const field = code === 'residency_denied' ? 'residency.allowedJurisdictions' : 'allowedTools';
  const text = watched ? `${id} would be refused: ${watched.why}` : `${id} would not be refused`;
  return [{ field, text }];
}
