import type { ModelRequest } from './canonical.ts';
import type { Traits } from './traits.ts';

/** What an answer may cost in tokens where neither the client nor the catalogue says. */
const ASSUMED_CEILING = 16_384;

/**
 * Token budget for thinking, for models that take a number: the client's own number or the effort's share, within the
 * model's limits. 0: thinking is off. Undefined: nothing to send. // wire-formats 2.3
 */
export function thinkingBudget(
  asked: NonNullable<ModelRequest['reasoning']>,
  maxOutputTokens: number | undefined,
  traits: Traits,
): number | undefined {
  const { budget, canDisable } = traits.reasoning;
  if (asked.effort === 'none' && canDisable) return 0;
  if (budget === undefined) return asked.budget;
  const whole = budget.of ?? maxOutputTokens ?? traits.maxOutputTokens ?? ASSUMED_CEILING;
  const share = asked.effort === 'none' ? 0 : budget.shares[asked.effort];
  const tokens = asked.budget ?? (share === undefined ? undefined : Math.floor(share * whole));
  if (tokens === undefined) return undefined;
  return Math.min(Math.max(tokens, budget.least), budget.most ?? Number.MAX_SAFE_INTEGER);
}

/** Whether the model must call a tool: it cannot think then. // wire-formats 2.3 */
export function forcesTool({ toolChoice: choice, tools }: ModelRequest, traits: Traits): boolean {
  const given = tools.length > 0 && traits.tools && traits.forcedTools;
  return given && (choice?.type === 'required' || choice?.type === 'tool');
}
