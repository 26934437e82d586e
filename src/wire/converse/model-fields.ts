import type { Lose, ModelRequest } from '../canonical.ts';
import type { JsonObject } from '../json.ts';
import { thinkingBudget } from '../reasoning.ts';
import { ceilingOf } from '../sampling.ts';
import type { Traits } from '../traits.ts';
import { forcesTool } from './encode-tools.ts';

/** How a model is told to think, in words of its own vendor's. */
export interface Thinking {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  readonly isOn: boolean;
  /** It takes neither a ceiling nor sampling beside it. */
  readonly isBare: boolean;
}

const NO_THINKING: Thinking = { fields: {}, isOn: false, isBare: false };
const BARE_EFFORT = 'high';

/** What is sent for the effort asked for; what cannot be is lost by name. // wire-formats 2.3 */
export function thinkingOf(request: ModelRequest, traits: Traits, lose: Lose): Thinking {
  if (request.reasoning === undefined) return NO_THINKING;
  const thinking = isClaudeForced(request, traits) ? undefined : told(request, request.reasoning, traits);
  if (thinking === undefined) lose('reasoning_effort');
  return thinking ?? NO_THINKING;
}

/** Claude cannot think when it must call a tool; not to think is what was asked then. */
function isClaudeForced(request: ModelRequest, traits: Traits): boolean {
  return traits.claude && request.reasoning?.effort !== 'none' && forcesTool(request, traits);
}

function told(
  request: ModelRequest,
  asked: NonNullable<ModelRequest['reasoning']>,
  traits: Traits,
): Thinking | undefined {
  const { control, words, canDisable } = traits.reasoning;
  const word = words[asked.effort];
  switch (control) {
    case 'adaptive':
      if (asked.effort === 'none' && canDisable) return { ...NO_THINKING, fields: { thinking: { type: 'disabled' } } };
      if (word === undefined) return undefined;
      return on({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: word } });
    case 'budget':
      return budget(request, asked, traits);
    case 'effort':
      return effort(word, traits);
    case 'none':
    case 'level':
      return undefined;
  }
}

function on(fields: JsonObject): Thinking {
  return { fields, isOn: true, isBare: false };
}

/** Claude's budget must leave something of the ceiling for the answer. It does not think unless told to. */
function budget(
  request: ModelRequest,
  asked: NonNullable<ModelRequest['reasoning']>,
  traits: Traits,
): Thinking | undefined {
  const ceiling = ceilingOf(request, traits);
  const tokens = thinkingBudget(asked, ceiling, traits);
  if (tokens === 0) return NO_THINKING;
  if (tokens === undefined) return undefined;
  const within = Math.min(tokens, (ceiling ?? traits.maxOutputTokens ?? Infinity) - 1);
  if (within < (traits.reasoning.budget?.least ?? 1)) return undefined;
  return on({ thinking: { type: 'enabled', budget_tokens: within } });
}

function effort(word: string | undefined, { reasoning }: Traits): Thinking | undefined {
  if (word === undefined) return undefined;
  switch (reasoning.field) {
    case 'reasoningConfig':
      if (word === 'disabled') return { ...NO_THINKING, fields: { reasoningConfig: { type: 'disabled' } } };
      return {
        fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: word } },
        isOn: true,
        isBare: word === BARE_EFFORT,
      };
    case 'reasoning.effort':
      return on({ reasoning: { effort: word } });
    default:
      return on({ reasoning_effort: word });
  }
}

/** The most likely tokens to choose from: each vendor has a member of its own for it, or none. */
export function topKField(topK: number | undefined, traits: Traits, lose: Lose): JsonObject {
  if (topK === undefined) return {};
  if (traits.claude) return { top_k: topK };
  if (traits.reasoning.field === 'reasoningConfig') return { inferenceConfig: { topK } };
  lose('top_k');
  return {};
}

/** At most one call an answer, which only Claude can be told. */
export function singleCallField(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  const { parallelTools, tools, toolChoice } = request;
  if (parallelTools !== false || tools.length === 0 || toolChoice?.type === 'none') return {};
  if (!traits.claude) {
    lose('parallel_tool_calls');
    return {};
  }
  const isForced = forcesTool(request, traits);
  const type = !isForced ? 'auto' : toolChoice?.type === 'tool' ? 'tool' : 'any';
  const name = isForced && toolChoice?.type === 'tool' ? { name: toolChoice.name } : {};
  return { tool_choice: { type, ...name, disable_parallel_tool_use: true } };
}
