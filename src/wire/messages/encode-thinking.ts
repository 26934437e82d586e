import type { Effort, Lose, ModelRequest, Part } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { forcesTool, thinkingBudget } from '../hub/reasoning.ts';
import type { Traits } from '../hub/traits.ts';

/** Fewest tokens that this family lets a model think with. // wire-formats 2.3 */
const LEAST_BUDGET = 1024;

/** From the lowest on: the effort for a model whose thinking cannot be turned off. */
const LOW: readonly Effort[] = ['none', 'minimal', 'low'];

/** Thinking settings of a model. */
export interface Thinking {
  /** Thinking is on: this excludes sampling, forced tools and prefill. */
  readonly on: boolean;
  readonly thinking?: JsonObject;
  /** For `output_config`. */
  readonly config?: JsonObject;
}

const UNTOLD: Thinking = { on: false };

/** The requested effort in this model's terms; names losses. // wire-formats 2.3 */
export function encodeThinking(request: ModelRequest, maxTokens: number, traits: Traits, lose: Lose): Thinking {
  const { reasoning } = request;
  if (reasoning === undefined) return UNTOLD;
  const { control, canDisable, words } = traits.reasoning;
  const unthinking = reasoning.effort === 'none';
  if (control === 'none' && unthinking) return UNTOLD;
  if (unthinking && canDisable && control !== 'level') return { on: false, thinking: { type: 'disabled' } };
  if (control !== 'effort' && cannotThink(request, traits)) {
    lose('reasoning_effort');
    return UNTOLD;
  }
  if (control === 'budget') return budgeted(reasoning, maxTokens, traits, lose);
  const word = unthinking
    ? LOW.map((effort) => words[effort]).find((low) => low !== undefined)
    : words[reasoning.effort];
  if (word === undefined || (control !== 'adaptive' && control !== 'effort')) {
    lose('reasoning_effort');
    return UNTOLD;
  }
  if (control === 'effort') return { on: false, config: { effort: word } };
  // Without the word, newer models show none of it.
  return { on: true, thinking: { type: 'adaptive', display: 'summarized' }, config: { effort: word } };
}

/**
 * No model thinks that must call a tool. One that is given a budget goes on from a call of its own only behind the
 * thinking that led to it, signed, which most families have no place for. // wire-formats 2.3
 */
function cannotThink(request: ModelRequest, traits: Traits): boolean {
  if (forcesTool(request, traits)) return true;
  if (traits.reasoning.control !== 'budget') return false;
  const last = request.turns.findLast(({ role }) => role === 'assistant')?.parts ?? [];
  return last.some(({ type }) => type === 'tool-call') && !isProven(firstOfTurn(request.turns)?.parts[0]);
}

/** The model's first turn since the user's last one: results of its calls do not count. */
function firstOfTurn(turns: ModelRequest['turns']): ModelRequest['turns'][number] | undefined {
  const lastAsked = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && !parts.some(({ type }) => type === 'tool-result'),
  );
  return turns.slice(lastAsked + 1).find(({ role }) => role === 'assistant');
}

function isProven(part: Part | undefined): boolean {
  if (part?.type === 'reasoning') return part.proof?.family === 'messages';
  return part?.type === 'opaque' && part.family === 'messages' && part.name === 'redacted_thinking';
}

/** The budget is part of the answer's ceiling, and must leave something of it. */
function budgeted(
  asked: NonNullable<ModelRequest['reasoning']>,
  maxTokens: number,
  traits: Traits,
  lose: Lose,
): Thinking {
  const budget = Math.min(thinkingBudget(asked, maxTokens, traits) ?? 0, maxTokens - 1);
  // One model takes both.
  const word = traits.reasoning.words[asked.effort];
  const config = word === undefined ? {} : { config: { effort: word } };
  if (budget >= LEAST_BUDGET) return { on: true, thinking: { type: 'enabled', budget_tokens: budget }, ...config };
  lose('reasoning_effort');
  return UNTOLD;
}
