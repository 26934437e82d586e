import type { Lose, ModelRequest } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { defined } from '../hub/defined-members.ts';
import { encodeThinking } from '../messages/encode-thinking.ts';
import { forcesTool } from '../hub/reasoning.ts';
import { ceilingOf } from '../hub/sampling.ts';
import type { Traits } from '../hub/traits.ts';

/** Reasoning settings of a model, in the words of its vendor. */
export interface Thinking {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  readonly isOn: boolean;
  /** It takes neither a ceiling nor sampling in addition. */
  readonly isBare: boolean;
}

const NO_THINKING: Thinking = { fields: {}, isOn: false, isBare: false };
/** The effort with which Nova accepts no other parameter. */
const BARE_EFFORT = 'high';
/** What an answer may have at most where neither the client nor the catalogue says. */
const ASSUMED_CEILING = 16_384;

/** The parameters for the requested effort; names those that cannot be sent as losses. // wire-formats 2.3 */
export function thinkingOf(request: ModelRequest, traits: Traits, lose: Lose): Thinking {
  if (request.reasoning === undefined) return NO_THINKING;
  if (traits.claude) return claudeThinking(request, traits, lose);
  const { effort } = request.reasoning;
  const { control, words, canDisable, field } = traits.reasoning;
  const word = words[effort];
  if (field === 'reasoningConfig' && effort === 'none' && canDisable) {
    return { ...NO_THINKING, fields: { reasoningConfig: { type: 'disabled' } } };
  }
  if (control === 'effort' && word !== undefined) return effortFields(word, traits);
  lose('reasoning_effort');
  return NO_THINKING;
}

/** In the words of its own family. */
function claudeThinking(request: ModelRequest, traits: Traits, lose: Lose): Thinking {
  const ceiling = ceilingOf(request, traits) ?? traits.maxOutputTokens ?? ASSUMED_CEILING;
  const { on, thinking, config } = encodeThinking(request, ceiling, traits, lose);
  return { fields: defined<JsonObject>({ thinking, output_config: config }), isOn: on, isBare: false };
}

function effortFields(word: string, { reasoning }: Traits): Thinking {
  switch (reasoning.field) {
    case 'reasoningConfig': {
      const reasoningConfig = { type: 'enabled', maxReasoningEffort: word };
      return { fields: { reasoningConfig }, isOn: true, isBare: word === BARE_EFFORT };
    }
    case 'reasoning.effort':
      return { fields: { reasoning: { effort: word } }, isOn: true, isBare: false };
    default:
      return { fields: { reasoning_effort: word }, isOn: true, isBare: false };
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

/** At most one call per answer, which only Claude supports. */
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
