import { isMarked } from '../hub/cache-mark.ts';
import type { AnswerFormat, Lose, ModelRequest, Tool, ToolChoice } from '../hub/canonical.ts';
import { jsonInstruction, needsJsonInstruction } from '../hub/json-instruction.ts';
import type { JsonObject } from '../document/json.ts';
import { defined } from '../hub/defined-members.ts';
import { effortWord, schemaName, tierWord, userWord } from '../hub/openai-options.ts';
import { ceilingOf, samplingOf } from '../hub/sampling.ts';
import type { Traits } from '../hub/traits.ts';
import { encodeInput } from './encode-input.ts';

/** A lower ceiling is refused. */
const LEAST_OUTPUT = 16;

/** What a tool takes that says nothing about it. */
const NO_PARAMETERS = { type: 'object', properties: {} };

/**
 * A request as the responses family writes it. Nothing is kept by the provider: the conversation is in the request.
 * Throws `BadRequestShape` for media that the model does not take. // wire-formats 5.1
 */
export function encodeRequest(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  const effort = effortWord(request, traits, lose);
  const thinking = effort !== undefined && request.reasoning?.effort !== 'none';
  const { temperature, topP, topK } = samplingOf(request, traits, thinking, lose);
  if (topK !== undefined) lose('top_k');
  loseWordless(request, lose);
  return defined({
    model: request.model,
    instructions: encodeInstructions(request, traits),
    input: encodeInput(request, traits, lose),
    ...encodeTools(request, traits, lose),
    max_output_tokens: encodeCeiling(request, traits),
    temperature,
    top_p: topP,
    text: encodeFormat(request, traits, lose),
    // Without `summary`: organizations that are not verified are refused when they ask for one.
    reasoning: effort === undefined ? undefined : { effort },
    safety_identifier: userWord(request, lose),
    service_tier: tierWord(request, lose),
    prompt_cache_key: request.promptCacheKey,
    store: false,
    ...(request.stream ? { stream: true } : {}),
  });
}

function encodeCeiling(request: ModelRequest, traits: Traits): number | undefined {
  const ceiling = ceilingOf(request, traits);
  return ceiling === undefined ? undefined : Math.max(ceiling, LEAST_OUTPUT);
}

/** What this family has no words for. */
function loseWordless(request: ModelRequest, lose: Lose): void {
  const { stop, seed, presencePenalty, frequencyPenalty } = request;
  if (isMarked(request)) lose('cache_control');
  if (stop.length > 0) lose('stop');
  if (seed !== undefined) lose('seed');
  if (presencePenalty !== undefined) lose('presence_penalty');
  if (frequencyPenalty !== undefined) lose('frequency_penalty');
}

function encodeInstructions(request: ModelRequest, traits: Traits): string | undefined {
  const texts = request.system.map(({ text }) => text);
  if (request.format && needsJsonInstruction(request, traits)) texts.push(jsonInstruction(request.format));
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

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

/** Tools are strict here unless they say otherwise, and a schema that was not written for that is refused. */
function encodeTool({ name, description, parameters, strict }: Tool): JsonObject {
  return defined({
    type: 'function',
    name,
    description,
    parameters: parameters ?? NO_PARAMETERS,
    strict: strict ?? false,
  });
}

function encodeToolChoice(choice: ToolChoice, traits: Traits, lose: Lose): string | JsonObject {
  const forces = choice.type === 'tool' || choice.type === 'required';
  if (forces && !traits.forcedTools) {
    lose('tool_choice');
    return 'auto';
  }
  return choice.type === 'tool' ? { type: 'function', name: choice.name } : choice.type;
}

function encodeFormat(request: ModelRequest, traits: Traits, lose: Lose): JsonObject | undefined {
  const { format } = request;
  if (format === undefined) return undefined;
  if (needsJsonInstruction(request, traits)) lose('response_format');
  if (traits.json !== 'schema' && traits.json !== 'object') return undefined;
  if (format.type === 'json' || traits.json === 'object') return { format: { type: 'json_object' } };
  return { format: encodeSchema(format) };
}

function encodeSchema({ name, description, schema, strict }: Extract<AnswerFormat, { type: 'json-schema' }>) {
  return defined<JsonObject>({ type: 'json_schema', name: schemaName(name), description, schema, strict });
}
