import { writeCacheMark } from '../cache-mark.ts';
import type { AnswerFormat, Lose, ModelRequest, Tool, ToolChoice } from '../canonical.ts';
import type { JsonObject } from '../json.ts';
import { defined } from '../members.ts';
import type { Traits } from '../traits.ts';
import { encodeMessages, needsJsonInstruction } from './encode-messages.ts';

const SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'default',
  standard_only: 'default',
  flex: 'flex',
  scale: 'scale',
  priority: 'priority',
  fast: 'fast',
};

/**
 * A request as the chat family writes it, with all that the family has: what a vendor refuses is taken out by its
 * provider. Throws `BadRequestShape` for media that the model does not take. // wire-formats 2.1, 2.2
 */
export function encodeRequest(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  if (request.topK !== undefined) lose('top_k');
  return defined({
    model: request.model,
    messages: encodeMessages(request, traits, lose),
    ...encodeTools(request, traits, lose),
    [traits.ceilingName]: ceiling(request, traits),
    ...sampling(request, traits, lose),
    response_format: encodeFormat(request, traits, lose),
    reasoning_effort: encodeEffort(request, traits, lose),
    user: request.user,
    service_tier: encodeTier(request, lose),
    prompt_cache_key: request.promptCacheKey,
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

/** At least one token: the family has no ceiling of nothing. */
function ceiling({ maxOutputTokens }: ModelRequest, traits: Traits): number | undefined {
  if (maxOutputTokens === undefined) return undefined;
  return Math.max(1, Math.min(maxOutputTokens, traits.maxOutputTokens ?? maxOutputTokens));
}

function sampling(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  let { temperature, topP } = request;
  if (traits.sampling === 'fixed' && temperature !== undefined) {
    lose('temperature');
    temperature = undefined;
  }
  if (
    topP !== undefined &&
    (traits.sampling === 'fixed' || (traits.sampling === 'either' && temperature !== undefined))
  ) {
    lose('top_p');
    topP = undefined;
  }
  if (request.stop.length > traits.maxStops) lose('stop');
  const stop = request.stop.slice(0, traits.maxStops);
  return defined({
    temperature: temperature === undefined ? undefined : Math.min(temperature, traits.maxTemperature),
    top_p: topP,
    stop: stop.length > 0 ? stop : undefined,
    seed: request.seed,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
  });
}

/** A choice and a limit of calls are refused where there are no tools. */
function encodeTools({ tools, toolChoice, parallelTools }: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  if (tools.length === 0) return {};
  if (!traits.tools) {
    lose('tools');
    return {};
  }
  return defined({
    tools: tools.map(encodeTool),
    tool_choice: toolChoice && encodeToolChoice(toolChoice, traits, lose),
    parallel_tool_calls: parallelTools,
  });
}

function encodeTool({ name, description, parameters, strict, cache }: Tool): JsonObject {
  return {
    type: 'function',
    function: defined({ name, description, parameters, strict }),
    ...writeCacheMark(cache),
  };
}

function encodeToolChoice(choice: ToolChoice, traits: Traits, lose: Lose): string | JsonObject {
  const forces = choice.type === 'tool' || choice.type === 'required';
  if (forces && !traits.forcedTools) {
    lose('tool_choice');
    return 'auto';
  }
  return choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.type;
}

function encodeFormat(request: ModelRequest, traits: Traits, lose: Lose): JsonObject | undefined {
  const { format } = request;
  if (format === undefined) return undefined;
  if (needsJsonInstruction(request, traits)) lose('response_format');
  if (traits.json !== 'schema' && traits.json !== 'object') return undefined;
  return format.type === 'json-schema' && traits.json === 'schema' ? encodeSchema(format) : { type: 'json_object' };
}

function encodeSchema({
  name,
  description,
  schema,
  strict,
}: Extract<AnswerFormat, { type: 'json-schema' }>): JsonObject {
  const spelled = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return { type: 'json_schema', json_schema: defined({ name: spelled || 'output', description, schema, strict }) };
}

/** The model's own word for the effort. A model that has no such switch is not told to leave it off. */
function encodeEffort({ reasoning }: ModelRequest, traits: Traits, lose: Lose): string | undefined {
  if (reasoning === undefined) return undefined;
  const word = traits.reasoning.control === 'effort' ? traits.reasoning.words[reasoning.effort] : undefined;
  if (word === undefined && !(reasoning.effort === 'none' && traits.reasoning.control === 'none')) {
    lose('reasoning_effort');
  }
  return word;
}

function encodeTier({ serviceTier }: ModelRequest, lose: Lose): string | undefined {
  if (serviceTier === undefined) return undefined;
  const tier = SERVICE_TIERS[serviceTier];
  if (tier === undefined) lose('service_tier');
  return tier;
}
