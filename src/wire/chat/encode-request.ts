import { writeCacheMark } from '../hub/cache-mark.ts';
import type { AnswerFormat, Lose, ModelRequest, Tool, ToolChoice } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { needsJsonInstruction } from '../hub/json-instruction.ts';
import { defined } from '../hub/defined-members.ts';
import { effortWord, schemaName, tierWord, userWord } from '../hub/openai-options.ts';
import { ceilingOf, samplingOf, stopsOf } from '../hub/sampling.ts';
import type { Traits } from '../hub/traits.ts';
import { encodeMessages } from './encode-messages.ts';

/**
 * A request as the chat family writes it, with all that the family has: what a vendor refuses is taken out by its
 * provider. Throws `BadRequestShape` for media that the model does not take. // wire-formats 2.1, 2.2
 */
export function encodeRequest(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  const effort = effortWord(request, traits, lose);
  const thinking = effort !== undefined && request.reasoning?.effort !== 'none';
  return defined({
    model: request.model,
    messages: encodeMessages(request, traits, lose),
    ...encodeTools(request, traits, lose),
    [traits.ceilingName]: ceilingOf(request, traits),
    ...sampling(request, traits, thinking, lose),
    response_format: encodeFormat(request, traits, lose),
    reasoning_effort: effort,
    safety_identifier: userWord(request, lose),
    service_tier: tierWord(request, lose),
    prompt_cache_key: request.promptCacheKey,
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

function sampling(request: ModelRequest, traits: Traits, thinking: boolean, lose: Lose): JsonObject {
  const { temperature, topP, topK } = samplingOf(request, traits, thinking, lose);
  if (topK !== undefined) lose('top_k');
  const stop = stopsOf(request, traits, lose);
  return defined({
    temperature,
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
  return { type: 'json_schema', json_schema: defined({ name: schemaName(name), description, schema, strict }) };
}
