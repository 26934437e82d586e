import { isMarked } from '../hub/cache-mark.ts';
import type { Lose, ModelRequest, TextPart } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { jsonInstruction } from '../hub/json-instruction.ts';
import { defined } from '../hub/defined-members.ts';
import { thinkingBudget } from '../hub/reasoning.ts';
import { ceilingOf, samplingOf, stopsOf, withoutTools } from '../hub/sampling.ts';
import type { Traits } from '../hub/traits.ts';
import { contents } from './encode-turns.ts';

/** Asked-for tier -> this family's word. `auto` is what it does anyway. // wire-formats 2.7 */
const TIERS: Readonly<Record<string, string>> = {
  default: 'standard',
  standard: 'standard',
  standard_only: 'standard',
  flex: 'flex',
  priority: 'priority',
};

/**
 * A body for `generateContent`: the model and whether to stream are in the address, not in it. Throws `BadRequestShape`
 * for content that the model cannot be given. // wire-formats 2.1
 */
export function encodeRequest(asked: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  const request = withoutTools(asked, traits, lose);
  loseTheRest(request, lose);
  const format = answerFormat(request, traits, lose);
  const system = [...spoken(request.system), ...format.instructions];
  const config = { ...generationConfig(request, traits, lose), ...format.config };
  return {
    contents: contents(request, traits, lose),
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...tools(request, traits, lose),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...tier(request, lose),
  };
}

function spoken(system: readonly TextPart[]): readonly JsonObject[] {
  return system.filter(({ text }) => text.trim() !== '').map(({ text }) => ({ text }));
}

/** What this family has no word for, whichever the model. */
function loseTheRest(request: ModelRequest, lose: Lose): void {
  if (isMarked(request)) lose('cache_control');
  if (request.parallelTools === false && request.tools.length > 0) lose('parallel_tool_calls');
  if (request.tools.some(({ strict }) => strict === true)) lose('tools.strict');
  if (request.user !== undefined) lose('user');
  if (request.promptCacheKey !== undefined) lose('prompt_cache_key');
}

function tools(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  if (request.tools.length === 0) return {};
  const functionDeclarations = request.tools.map(({ name, description, parameters }) =>
    defined<JsonObject>({ name, description, parametersJsonSchema: parameters }),
  );
  const choice = toolChoice(request, traits, lose);
  return {
    tools: [{ functionDeclarations }],
    ...(choice === undefined ? {} : { toolConfig: { functionCallingConfig: choice } }),
  };
}

function toolChoice({ toolChoice: choice }: ModelRequest, traits: Traits, lose: Lose): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (choice.type === 'auto') return { mode: 'AUTO' };
  if (choice.type === 'none') return { mode: 'NONE' };
  if (!traits.forcedTools) {
    lose('tool_choice');
    return { mode: 'AUTO' };
  }
  return choice.type === 'tool' ? { mode: 'ANY', allowedFunctionNames: [choice.name] } : { mode: 'ANY' };
}

/**
 * JSON output is enforced where possible: together with function tools only from Gemini 3 on, which have a thinking
 * level. Elsewhere it is requested in words.
 */
function answerFormat(
  { format, tools: given }: ModelRequest,
  traits: Traits,
  lose: Lose,
): { readonly config: JsonObject; readonly instructions: readonly JsonObject[] } {
  if (format === undefined) return { config: {}, instructions: [] };
  const possible = given.length === 0 || traits.reasoning.control === 'level';
  const mime = possible && (traits.json === 'schema' || traits.json === 'object');
  const config = mime ? { responseMimeType: 'application/json' } : {};
  if (mime && format.type === 'json') return { config, instructions: [] };
  if (mime && format.type === 'json-schema' && traits.json === 'schema') {
    return { config: { ...config, responseJsonSchema: format.schema }, instructions: [] };
  }
  if (format.type === 'json-schema') lose('response_format');
  return { config, instructions: [{ text: jsonInstruction(format) }] };
}

function generationConfig(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  const thinkingConfig = thinking(request, traits, lose);
  const stopSequences = stopsOf(request, traits, lose);
  const config: JsonObject = defined<JsonObject>({
    maxOutputTokens: ceilingOf(request, traits),
    ...samplingOf(request, traits, thinkingConfig !== undefined, lose),
    stopSequences: stopSequences.length > 0 ? stopSequences : undefined,
    seed: request.seed,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    thinkingConfig,
  });
  const refused = Object.keys(config).filter((name) => traits.rejects.has(name));
  for (const name of refused) lose(name);
  return Object.fromEntries(Object.entries(config).filter(([name]) => !refused.includes(name)));
}

/** Level and budget exclude each other: a model has one of them. // wire-formats 2.3 */
function thinking(request: ModelRequest, traits: Traits, lose: Lose): JsonObject | undefined {
  const { reasoning } = request;
  if (reasoning === undefined) return undefined;
  if (traits.reasoning.control === 'level') {
    const thinkingLevel = traits.reasoning.words[reasoning.effort];
    if (thinkingLevel !== undefined) return { thinkingLevel, includeThoughts: reasoning.effort !== 'none' };
  }
  if (traits.reasoning.control === 'budget') {
    const tokens = thinkingBudget(reasoning, request.maxOutputTokens, traits);
    if (tokens !== undefined) return { thinkingBudget: tokens, includeThoughts: tokens > 0 };
  }
  lose('reasoning_effort');
  return undefined;
}

function tier({ serviceTier }: ModelRequest, lose: Lose): JsonObject {
  if (serviceTier === undefined || serviceTier === 'auto') return {};
  const word = Object.hasOwn(TIERS, serviceTier) ? TIERS[serviceTier] : undefined;
  if (word === undefined) lose('service_tier');
  return word === undefined ? {} : { serviceTier: word };
}
