import { readCacheMark } from '../hub/cache-mark.ts';
import type { AnswerFormat, Lose, ModelRequest, Tool, ToolChoice } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { EXTENSION, type WireDocument } from '../document/document.ts';
import { readEffort } from '../hub/effort.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { defined, says } from '../hub/defined-members.ts';
import {
  MAX_TOKENS,
  modelOf,
  optionalArray,
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalObject,
  optionalString,
} from '../request/request-shape.ts';
import { readCustomTool } from './custom-tools.ts';
import { decodeMessages } from './decode-messages.ts';

type JsonSchemaFormat = Extract<AnswerFormat, { type: 'json-schema' }>;

/** Members that cross, or that say nothing to another family. */
const CROSSING = new Set(
  (
    'model messages stream stream_options n modalities tools functions tool_choice function_call parallel_tool_calls ' +
    'response_format max_tokens max_completion_tokens temperature top_p top_k stop seed presence_penalty ' +
    'frequency_penalty reasoning_effort reasoning user safety_identifier prompt_cache_key service_tier'
  ).split(' '),
);

/** A chat request in the hub's words. Throws `BadRequestShape`. // wire-formats 2.1 */
export function decodeRequest(document: WireDocument, lose: Lose): ModelRequest {
  const { body } = document;
  refuseUntranslatable(body);
  for (const name in body) if (!CROSSING.has(name) && !EXTENSION.test(name) && says(body[name])) lose(name);
  const { system, turns } = decodeMessages(body['messages'], lose);
  const maxOutputTokens =
    optionalCount(body, 'max_completion_tokens', MAX_TOKENS) ?? optionalCount(body, 'max_tokens', MAX_TOKENS);
  return defined({
    model: modelOf(document).model,
    stream: body['stream'] === true,
    system,
    turns,
    tools: decodeTools(body, lose),
    toolChoice: decodeToolChoice(body, lose),
    parallelTools: optionalBoolean(body, 'parallel_tool_calls'),
    maxOutputTokens,
    ...decodeSampling(body),
    format: decodeFormat(body, lose),
    reasoning: decodeReasoning(body, lose),
    user: optionalString(body, 'safety_identifier') ?? optionalString(body, 'user'),
    serviceTier: optionalString(body, 'service_tier'),
    promptCacheKey: optionalString(body, 'prompt_cache_key'),
  });
}

/** What must not be dropped in silence. */
function refuseUntranslatable(body: JsonObject): void {
  if ((body['n'] ?? 1) !== 1) throw new BadRequestShape('n must be 1 for this model', 'n');
  const modalities = optionalArray(body, 'modalities') ?? [];
  if (modalities.some((modality) => modality !== 'text')) {
    throw new BadRequestShape('modalities must be ["text"] for this model', 'modalities');
  }
}

/** How the answer is drawn: members that the family shares with plain completions. Throws `BadRequestShape`. */
export function decodeSampling(body: JsonObject) {
  return {
    temperature: optionalNumber(body, 'temperature'),
    topP: optionalNumber(body, 'top_p'),
    topK: optionalNumber(body, 'top_k'),
    stop: decodeStop(body['stop']),
    seed: optionalNumber(body, 'seed'),
    presencePenalty: optionalNumber(body, 'presence_penalty'),
    frequencyPenalty: optionalNumber(body, 'frequency_penalty'),
  };
}

function decodeStop(stop: Json | undefined): string[] {
  if (stop === undefined || stop === null) return [];
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  if (!stops.every((text) => typeof text === 'string')) {
    throw new BadRequestShape('stop must be a string or an array of strings', 'stop');
  }
  return stops.filter((text) => text !== '');
}

function decodeTools(body: JsonObject, lose: Lose): Tool[] {
  const found: Tool[] = [];
  for (const [index, tool] of (optionalArray(body, 'tools') ?? []).entries()) {
    const custom = readCustomTool(tool, lose);
    if (custom) {
      found.push(custom);
      continue;
    }
    if (isObject(tool) && isObject(tool['function'])) {
      const cache = readCacheMark(tool['cache_control'] ?? tool['function']['cache_control']);
      found.push({ ...decodeFunction(tool['function'], `tools[${index}].function`), ...cache });
    } else lose(`tools[${isObject(tool) && typeof tool['type'] === 'string' ? tool['type'] : index}]`);
  }
  for (const [index, tool] of (optionalArray(body, 'functions') ?? []).entries()) {
    if (!isObject(tool)) throw new BadRequestShape(`functions[${index}] must be an object`, `functions[${index}]`);
    found.push(decodeFunction(tool, `functions[${index}]`));
  }
  return found;
}

function decodeFunction(tool: JsonObject, param: string): Tool {
  const { name } = tool;
  if (typeof name !== 'string' || name === '') throw new BadRequestShape(`${param}.name is required`, `${param}.name`);
  return defined({
    name,
    description: optionalString(tool, 'description', `${param}.description`),
    parameters: optionalObject(tool, 'parameters', `${param}.parameters`),
    strict: optionalBoolean(tool, 'strict', `${param}.strict`),
  });
}

function decodeToolChoice(body: JsonObject, lose: Lose): ToolChoice | undefined {
  const choice = body['tool_choice'] ?? body['function_call'] ?? undefined;
  if (choice === undefined) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (choice === 'any') return { type: 'required' };
  if (isObject(choice)) {
    const named = [choice['function'], choice['custom']].find(isObject) ?? choice;
    if (typeof named['name'] === 'string') return { type: 'tool', name: named['name'] };
    if (typeof choice['type'] === 'string') {
      lose(`tool_choice[${choice['type']}]`);
      return undefined;
    }
  }
  throw new BadRequestShape('tool_choice must be auto, none, required, or a function', 'tool_choice');
}

function decodeFormat(body: JsonObject, lose: Lose): AnswerFormat | undefined {
  const format = optionalObject(body, 'response_format');
  if (format === undefined || format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json' };
  if (format['type'] !== 'json_schema') {
    lose('response_format');
    return undefined;
  }
  const param = 'response_format.json_schema';
  const written = optionalObject(format, 'json_schema', param) ?? {};
  const schema = optionalObject(written, 'schema', `${param}.schema`);
  if (schema === undefined) return { type: 'json' };
  return defined<JsonSchemaFormat>({
    type: 'json-schema',
    name: optionalString(written, 'name', `${param}.name`) ?? 'output',
    description: optionalString(written, 'description', `${param}.description`),
    schema,
    strict: optionalBoolean(written, 'strict', `${param}.strict`),
  });
}

function decodeReasoning(body: JsonObject, lose: Lose): ModelRequest['reasoning'] {
  const extended = optionalObject(body, 'reasoning') ?? {};
  for (const name in extended) if (name !== 'effort' && says(extended[name])) lose(`reasoning.${name}`);
  const effort =
    readEffort(body['reasoning_effort'], 'reasoning_effort') ?? readEffort(extended['effort'], 'reasoning.effort');
  return effort === undefined ? undefined : { effort };
}
