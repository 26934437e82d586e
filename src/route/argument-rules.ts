import type { McpServerConfig, ToolRuleConfig } from '#/config/snapshot.ts';
import { TooMuchWork, Work } from '#/values/json-schema/work.ts';
import { matches, type Denial } from './offer.ts';

/** Steps of all rules of one call: some 10 ms. */
const MOST_STEPS = 200_000;

/** Where a rule stands in its resource. */
export interface PlacedRule {
  readonly name: string;
  readonly rule: ToolRuleConfig;
}

/** The rules that are about a tool, in the order of the resource. */
export function rulesOf({ rules }: Pick<McpServerConfig, 'rules'>, tool: string): readonly PlacedRule[] {
  return rules.flatMap((rule, index) =>
    rule.tools.some((pattern) => matches(pattern, tool)) ? [{ name: `rules[${index}]`, rule }] : [],
  );
}

/**
 * Why a rule keeps these arguments from a tool, as the client wrote them. It tells the rule, the place and the allowed values,
 * never the value. Arguments that take too long to check are refused.
 */
export function argumentDenial(
  server: McpServerConfig,
  rules: readonly PlacedRule[],
  args: unknown,
): Denial | undefined {
  const work = new Work(MOST_STEPS);
  for (const { name, rule } of rules) {
    const why = brokenBy(rule, args, work);
    if (why === undefined) continue;
    return {
      code: 'tool_arguments_denied',
      why: `${name} of MCPServer ${server.id}: ${why}`,
      message: `${name} of the MCP server ${server.name}: ${why}.`,
      param: 'params.arguments',
    };
  }
  return undefined;
}

function brokenBy(rule: ToolRuleConfig, args: unknown, work: Work): string | undefined {
  try {
    const refusal = rule.arguments?.(args, undefined, work);
    return refusal && `${refusal.pointer === '' ? 'the arguments' : refusal.pointer} must ${refusal.must}`;
  } catch (thrown) {
    if (thrown instanceof TooMuchWork) return `the arguments take more than ${MOST_STEPS} steps to check: send less`;
    throw thrown;
  }
}
