import type { AnswerFormat, Lose, ModelRequest, Tool, ToolChoice } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { EXTENSION, type WireDocument } from '../document/document.ts';
import { readEffort } from '../hub/effort.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { defined, says } from '../hub/defined-members.ts';
import {
  isArray,
  MAX_TOKENS,
  modelOf,
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalObject,
  optionalString,
  requiredString,
} from '../request/request-shape.ts';
import { decodeInput } from './decode-input.ts';
import { flatName, ownTools } from './own-tools.ts';

type JsonSchemaFormat = Extract<AnswerFormat, { type: 'json-schema' }>;

/** Members that cross, or that say nothing to another family. */
const CROSSING = new Set(
  (
    'model input instructions stream stream_options tools tool_choice parallel_tool_calls text reasoning ' +
    'max_output_tokens temperature top_p user safety_identifier service_tier prompt_cache_key truncation'
  ).split(' '),
);

/** Members that ask the provider for what it has kept, or to keep the answer: no other family can. // wire-formats 5.1 */
const STATEFUL = ['previous_response_id', 'conversation', 'prompt', 'background'];

/** Reasoning is shown anyway where there is something to show. */
const REASONING_MEMBERS = new Set(['effort', 'summary', 'generate_summary']);

/** A responses request in the hub's words. Throws `BadRequestShape`. // wire-formats 5.1 */
export function decodeRequest(document: WireDocument, lose: Lose): ModelRequest {
  const { body } = document;
  for (const name of STATEFUL) {
    if (says(body[name])) throw new BadRequestShape(`${name} is not supported by this model`, name);
  }
  for (const name in body) if (!CROSSING.has(name) && !EXTENSION.test(name) && says(body[name])) lose(name);
  if (says(body['truncation']) && body['truncation'] !== 'disabled') lose('truncation');
  const instructions = optionalString(body, 'instructions') ?? '';
  const { system, turns } = decodeInput(body['input'], lose);
  return defined({
    model: modelOf(document).model,
    stream: body['stream'] === true,
    system: instructions.trim() === '' ? system : [{ type: 'text', text: instructions }, ...system],
    turns,
    ...decodeTools(body, lose),
    parallelTools: optionalBoolean(body, 'parallel_tool_calls'),
    maxOutputTokens: optionalCount(body, 'max_output_tokens', MAX_TOKENS),
    temperature: optionalNumber(body, 'temperature'),
    topP: optionalNumber(body, 'top_p'),
    stop: [],
    format: decodeText(body, lose),
    reasoning: decodeReasoning(body, lose),
    user: optionalString(body, 'safety_identifier') ?? optionalString(body, 'user'),
    serviceTier: optionalString(body, 'service_tier'),
    promptCacheKey: optionalString(body, 'prompt_cache_key'),
  });
}

/** The tools, fewer where the choice allows only some of them. */
function decodeTools(body: JsonObject, lose: Lose): { tools: Tool[]; toolChoice: ToolChoice | undefined } {
  const own = ownTools(body, lose);
  const tools = own.map(({ tool }) => tool);
  const choice = body['tool_choice'] ?? undefined;
  if (choice === undefined) return { tools, toolChoice: undefined };
  if (choice === 'required' && tools.length === 0) {
    lose('tool_choice');
    return { tools, toolChoice: undefined };
  }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { tools, toolChoice: { type: choice } };
  if (!isObject(choice)) throw choiceShape();
  const { type, mode, tools: allowed } = choice;
  if (type !== 'allowed_tools') {
    const name = chosenName(choice);
    if (name === undefined || (type !== 'function' && !tools.some((tool) => tool.name === name))) throw choiceShape();
    return { tools, toolChoice: { type: 'tool', name } };
  }
  if ((mode !== 'auto' && mode !== 'required') || !isArray(allowed)) throw choiceShape();
  const names = new Set(allowed.map((tool) => (isObject(tool) ? chosenName(tool) : undefined)));
  return { tools: tools.filter((tool) => names.has(tool.name)), toolChoice: { type: mode } };
}

/** What a choice names: a function or a text tool by its name, the client's own tools by their type. */
function chosenName(choice: JsonObject): string | undefined {
  const { type, name, namespace } = choice;
  if (type !== 'function' && type !== 'custom') return typeof type === 'string' ? type : undefined;
  return flatName(requiredString(choice, 'name', 'tool_choice'), typeof name === 'string' ? namespace : undefined);
}

function choiceShape(): BadRequestShape {
  const message = 'tool_choice must be auto, none, required, a tool, or allowed tools that this model supports';
  return new BadRequestShape(message, 'tool_choice');
}

function decodeText(body: JsonObject, lose: Lose): AnswerFormat | undefined {
  const text = optionalObject(body, 'text') ?? {};
  for (const name in text) if (name !== 'format' && says(text[name])) lose(`text.${name}`);
  const format = optionalObject(text, 'format', 'text.format');
  if (format === undefined || format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json' };
  if (format['type'] !== 'json_schema') {
    throw new BadRequestShape('text.format.type must be one of text, json_object, json_schema', 'text.format.type');
  }
  const schema = optionalObject(format, 'schema', 'text.format.schema');
  if (schema === undefined) throw new BadRequestShape('text.format.schema is required', 'text.format.schema');
  return defined<JsonSchemaFormat>({
    type: 'json-schema',
    name: optionalString(format, 'name', 'text.format.name') ?? 'output',
    description: optionalString(format, 'description', 'text.format.description'),
    schema,
    strict: optionalBoolean(format, 'strict', 'text.format.strict'),
  });
}

function decodeReasoning(body: JsonObject, lose: Lose): ModelRequest['reasoning'] {
  const reasoning = optionalObject(body, 'reasoning') ?? {};
  for (const name in reasoning) if (!REASONING_MEMBERS.has(name) && says(reasoning[name])) lose(`reasoning.${name}`);
  const effort = readEffort(reasoning['effort'], 'reasoning.effort');
  return effort === undefined ? undefined : { effort };
}
