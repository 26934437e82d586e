import type { Lose, Tool, ToolCallPart } from '../hub/canonical.ts';
import type { WireDocument } from '../document/document.ts';
import { argumentsOf, customTool, inputOf } from '../hub/custom-tool.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';

/** // openai-node, resource `chat.completions`: ChatCompletionCustomTool, ChatCompletionMessageCustomToolCall */

/** A tool of this family that takes a text; undefined for any other. */
export function readCustomTool(tool: Json, lose: Lose): Tool | undefined {
  const custom = isObject(tool) && tool['type'] === 'custom' ? tool['custom'] : undefined;
  if (!isObject(custom) || typeof custom['name'] !== 'string' || custom['name'] === '') return undefined;
  const { name, description, format } = custom;
  const grammar = isObject(format) && isObject(format['grammar']) ? format['grammar'] : {};
  if (isObject(format) && format['type'] !== 'text') lose('tools[].custom.format');
  return customTool(name, typeof description === 'string' ? description : undefined, grammar);
}

/** A call of such a tool, as one of its function; undefined for any other call. */
export function readCustomCall(call: JsonObject): { readonly name: string; readonly arguments: string } | undefined {
  const { custom } = call;
  if (!isObject(custom) || typeof custom['name'] !== 'string') return undefined;
  return { name: custom['name'], arguments: argumentsOf(custom['input']) };
}

/** Names of the tools of a request that take a text. */
export function customNames({ body }: Pick<WireDocument, 'body'>): ReadonlySet<string> {
  const { tools } = body;
  const found = new Set<string>();
  for (const tool of isArray(tools) ? tools : []) {
    const read = readCustomTool(tool, () => {});
    if (read) found.add(read.name);
  }
  return found;
}

/** The call of such a tool in an answer. */
export function customCall({ id, name, argumentsJson }: Omit<ToolCallPart, 'type'>): JsonObject {
  return { id, type: 'custom', custom: { name, input: inputOf(argumentsJson) } };
}
