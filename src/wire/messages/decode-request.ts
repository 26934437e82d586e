import { readCacheMark } from '../hub/cache-mark.ts';
import type { AnswerFormat, Effort, Lose, ModelRequest, Part, TextPart, Tool, ToolChoice } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { EXTENSION, type WireDocument } from '../document/document.ts';
import { readEffort } from '../hub/effort.ts';
import { isObject, type JsonObject } from '../document/json.ts';
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
  requiredString,
} from '../request/request-shape.ts';
import { Turns } from '../hub/collect-turns.ts';
import { BlockDecoder } from './decode-blocks.ts';
import { clientTool } from './client-tools.ts';
import { answerFormat } from './read-request.ts';

/** Members that cross, or that say nothing to another family. */
const CROSSING = new Set(
  (
    'model system messages stream max_tokens tools tool_choice temperature top_p top_k stop_sequences thinking ' +
    'output_config output_format metadata service_tier'
  ).split(' '),
);
const TOOL_MEMBERS = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);

/** Thinking budgets below these many tokens are these efforts. // wire-formats 2.3 */
const EFFORT_BELOW: readonly (readonly [number, Effort])[] = [
  [2000, 'minimal'],
  [8000, 'low'],
  [24_000, 'medium'],
];

/** A messages request in the hub's words. Throws `BadRequestShape`. // wire-formats 2.2 */
export function decodeRequest(document: WireDocument, lose: Lose): ModelRequest {
  const { body } = document;
  for (const name in body) if (!CROSSING.has(name) && !EXTENSION.test(name) && says(body[name])) lose(name);
  return defined({
    model: modelOf(document).model,
    stream: body['stream'] === true,
    ...decodeConversation(body, lose),
    ...decodeTools(body, lose),
    maxOutputTokens: optionalCount(body, 'max_tokens', MAX_TOKENS, 0),
    temperature: optionalNumber(body, 'temperature'),
    topP: optionalNumber(body, 'top_p'),
    topK: optionalNumber(body, 'top_k'),
    stop: decodeStop(body),
    format: decodeFormat(body, lose),
    reasoning: decodeReasoning(body, lose),
    user: decodeUser(body, lose),
    serviceTier: decodeTier(body),
  });
}

/** Instructions before the first turn are the conversation's own. */
function decodeConversation(body: JsonObject, lose: Lose): Pick<ModelRequest, 'system' | 'turns'> {
  const decoder = new BlockDecoder(lose);
  const system = textsOf(decoder.content(body['system'], 'system'), lose);
  const turns = new Turns();
  let begun = false;
  for (const [index, message] of (optionalArray(body, 'messages') ?? []).entries()) {
    const param = `messages[${index}]`;
    if (!isObject(message)) throw new BadRequestShape(`${param} must be an object`, param);
    const { role } = message;
    const parts = decoder.content(message['content'], `${param}.content`);
    if (role === 'user' || role === 'assistant') turns.add(role, parts);
    else if (role !== 'system')
      throw new BadRequestShape(`${param}.role must be one of system, user, assistant`, `${param}.role`);
    else if (!begun) for (const one of textsOf(parts, lose)) system.push(one);
    else turns.add('system', textsOf(parts, lose));
    if (role !== 'system') begun ||= parts.length > 0;
    if (says(message['output_config'])) lose('messages[].output_config');
  }
  if (begun) return { system, turns: turns.list };
  if (system.length === 0)
    throw new BadRequestShape('messages must contain at least one message with text', 'messages');
  // Instructions alone: they are the request.
  return { system: [], turns: [{ role: 'user', parts: system }] };
}

/** All that an instruction can be to another family. */
function textsOf(parts: readonly Part[], lose: Lose): TextPart[] {
  return parts.filter((part): part is TextPart => {
    if (part.type !== 'text') lose(`system[${part.type === 'opaque' ? part.name : part.type}]`);
    return part.type === 'text';
  });
}

function decodeTools(
  body: JsonObject,
  lose: Lose,
): { tools: Tool[]; toolChoice: ToolChoice | undefined; parallelTools: boolean | undefined } {
  const tools: Tool[] = [];
  for (const [index, tool] of (optionalArray(body, 'tools') ?? []).entries()) {
    const param = `tools[${index}]`;
    if (!isObject(tool)) throw new BadRequestShape(`${param} must be an object`, param);
    const type = optionalString(tool, 'type', `${param}.type`) ?? 'custom';
    const known = clientTool(type);
    if (type === 'custom') tools.push(decodeTool(tool, param, lose));
    else if (known) tools.push({ ...known, name: requiredString(tool, 'name', param) });
    // Tools that the vendor runs exist nowhere else.
    else lose(`tools[${type}]`);
  }
  const choice = optionalObject(body, 'tool_choice');
  const parallel =
    choice && optionalBoolean(choice, 'disable_parallel_tool_use', 'tool_choice.disable_parallel_tool_use');
  return {
    tools,
    toolChoice: choice && decodeToolChoice(choice, tools, lose),
    parallelTools: parallel === true ? false : undefined,
  };
}

function decodeTool(tool: JsonObject, param: string, lose: Lose): Tool {
  for (const name in tool) if (!TOOL_MEMBERS.has(name) && says(tool[name])) lose(`tools.${name}`);
  return {
    ...defined<Tool>({
      name: requiredString(tool, 'name', param),
      description: optionalString(tool, 'description', `${param}.description`),
      parameters: optionalObject(tool, 'input_schema', `${param}.input_schema`),
      strict: optionalBoolean(tool, 'strict', `${param}.strict`),
    }),
    ...readCacheMark(tool['cache_control']),
  };
}

function decodeToolChoice(choice: JsonObject, tools: readonly Tool[], lose: Lose): ToolChoice | undefined {
  const { type, name } = choice;
  if (type === 'auto' || type === 'none') return { type };
  if (type === 'any' && tools.length > 0) return { type: 'required' };
  if (type === 'any') {
    lose('tool_choice');
    return undefined;
  }
  if (type !== 'tool' || typeof name !== 'string') {
    throw new BadRequestShape('tool_choice must be auto, any, none, or a tool', 'tool_choice');
  }
  if (tools.some((tool) => tool.name === name)) return { type: 'tool', name };
  throw new BadRequestShape('tool_choice names a tool that this model does not support', 'tool_choice.name');
}

function decodeStop(body: JsonObject): readonly string[] {
  const stops = optionalArray(body, 'stop_sequences') ?? [];
  if (!stops.every((text) => typeof text === 'string')) {
    throw new BadRequestShape('stop_sequences must be an array of strings', 'stop_sequences');
  }
  return stops.filter((text) => text !== '');
}

function decodeFormat(body: JsonObject, lose: Lose): AnswerFormat | undefined {
  const format = answerFormat(body);
  if (format === undefined) return undefined;
  const { type, schema } = format;
  // The name and strictness that other families ask for and this one has not.
  if (type === 'json_schema' && isObject(schema)) return { type: 'json-schema', name: 'output', schema, strict: true };
  lose('output_config.format');
  return undefined;
}

function decodeReasoning(body: JsonObject, lose: Lose): ModelRequest['reasoning'] {
  const config = optionalObject(body, 'output_config') ?? {};
  for (const name in config) {
    if (name !== 'effort' && name !== 'format' && says(config[name])) lose(`output_config.${name}`);
  }
  const effort = readEffort(config['effort'], 'output_config.effort');
  const thinking = optionalObject(body, 'thinking');
  const type = thinking?.['type'];
  if (type === 'disabled') return { effort: 'none' };
  if (thinking && type === 'enabled') {
    const budget = optionalCount(thinking, 'budget_tokens', MAX_TOKENS);
    if (budget === undefined) return effort && { effort };
    return { effort: effort ?? effortOf(budget), budget };
  }
  if (thinking && type !== 'adaptive') lose('thinking');
  return effort && { effort };
}

function effortOf(budget: number): Effort {
  return EFFORT_BELOW.find(([below]) => budget < below)?.[1] ?? 'high';
}

function decodeUser(body: JsonObject, lose: Lose): string | undefined {
  const metadata = optionalObject(body, 'metadata') ?? {};
  for (const name in metadata) if (name !== 'user_id' && says(metadata[name])) lose(`metadata.${name}`);
  return optionalString(metadata, 'user_id', 'metadata.user_id');
}

/** The tier called standard here is the default elsewhere. // wire-formats 2.7 */
function decodeTier(body: JsonObject): string | undefined {
  const tier = optionalString(body, 'service_tier');
  return tier === 'standard_only' ? 'default' : tier;
}
