import { BadRequestShape } from '../hub/codec.ts';
import { removeItems, type Edit, type WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member } from '../document/scan.ts';
import { isArray, requiredString } from '../request/request-shape.ts';
import { append } from '../hub/tool-loop/request-parts.ts';
import type { LoopTool, RanCall } from '../hub/tool-loop/loop-codec.ts';

/** Items of an answer that the client runs: nothing goes on before it has. */
const CLIENT_RUN = new Set<Json | undefined>([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'computer_call',
]);

/** How far a call of a tool is. */
type CallStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** An item for each server, with its tools that are offered. */
export function listItems(tools: readonly LoopTool[], callId: string): readonly JsonObject[] {
  const servers = [...new Set(tools.map(({ server }) => server))];
  return servers.map((server, at) => ({
    id: `mcpl_${callId.replaceAll('-', '')}_${at}`,
    type: 'mcp_list_tools',
    server_label: server,
    tools: tools
      .filter((tool) => tool.server === server)
      .map(({ name, description, inputSchema, annotations }) => ({
        name,
        description: description ?? null,
        input_schema: inputSchema,
        annotations: annotations ?? null,
      })),
  }));
}

/** A call as an item for the client. `ran`: once it is over. */
export function callItem(
  id: string,
  { server, name }: LoopTool,
  argumentsJson: string,
  status: CallStatus,
  ran?: Pick<RanCall, 'output' | 'isError'>,
): JsonObject {
  const failure = { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: ran?.output ?? '' }] };
  return {
    id,
    type: 'mcp_call',
    status,
    approval_request_id: null,
    arguments: argumentsJson,
    error: ran?.isError === true ? failure : null,
    name,
    output: ran?.isError === false ? ran.output : null,
    server_label: server,
  };
}

/** The tool of a server that an item calls; undefined: it is anything else, maybe a function of the client's. */
export function calledTool(item: JsonObject, tools: ReadonlyMap<string, LoopTool>): LoopTool | undefined {
  const { type, name, namespace } = item;
  if (type !== 'function_call' || typeof name !== 'string' || (namespace ?? null) !== null) return undefined;
  return tools.get(name);
}

/** Whether an item calls for the client. */
export function isClientRun({ type }: JsonObject): boolean {
  return CLIENT_RUN.has(type);
}

/**
 * An item of an answer as input of the next round; undefined: it means nothing there. Nothing is kept at the provider, so
 * ids refer to nothing, and reasoning counts only where it comes along, sealed.
 */
export function saidItem(item: JsonObject): JsonObject | undefined {
  if (item['type'] === 'reasoning') return typeof item['encrypted_content'] === 'string' ? item : undefined;
  if (item['type'] !== 'message' && item['type'] !== 'function_call') return item;
  const { id: _id, status: _status, ...said } = item;
  return said;
}

/**
 * Edits that give the input of a request the items that were said since, and make functions of the calls of tools that
 * earlier answers of the gateway told. Throws `BadRequestShape`.
 */
export function inputEdits({ root, body }: WireDocument, tools: readonly LoopTool[], said: readonly string[]): Edit[] {
  const node = member(root, 'input');
  const { input } = body;
  if (node?.kind === 'string') {
    const first = JSON.stringify({ role: 'user', content: node.value });
    return [{ start: node.start, end: node.end, text: `[${[first, ...said].join(',')}]` }];
  }
  if (node?.kind !== 'array' || !isArray(input)) return [];
  const edits: Edit[] = [];
  for (const [at, item] of input.entries()) {
    if (!isObject(item)) continue;
    const { start, end } = node.items[at]!;
    if (item['type'] === 'mcp_call') edits.push({ start, end, text: functionItems(item, `input[${at}]`, tools) });
    else if (item['type'] === 'mcp_approval_request' || item['type'] === 'mcp_approval_response') {
      throw new BadRequestShape(
        `input[${at}] is about an approval, which the gateway does not ask for`,
        `input[${at}]`,
      );
    }
  }
  const lists = new Set(node.items.filter((_, at) => isListItem(input[at])));
  return [
    ...edits,
    ...removeItems(node, (item) => lists.has(item)),
    ...append(node, said, node.items.length - lists.size),
  ];
}

function isListItem(item: Json | undefined): boolean {
  return isObject(item) && item['type'] === 'mcp_list_tools';
}

/** A call and its result, as JSON source. */
function functionItems(item: JsonObject, param: string, tools: readonly LoopTool[]): string {
  const server = requiredString(item, 'server_label', param);
  const name = requiredString(item, 'name', param);
  const call_id = requiredString(item, 'id', param);
  const known = tools.find((tool) => tool.server === server && tool.name === name);
  const call = {
    type: 'function_call',
    call_id,
    name: known?.alias ?? `${server}__${name}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64),
    arguments: requiredString(item, 'arguments', param),
  };
  const output = outputOf(item, param);
  return [call, { type: 'function_call_output', call_id, output }].map((one) => JSON.stringify(one)).join(',');
}

function outputOf({ output, error }: JsonObject, param: string): string {
  if (typeof output === 'string') return output;
  if (output !== undefined && output !== null) throw new BadRequestShape(`${param}.output must be a string`, param);
  return error === undefined || error === null ? '' : JSON.stringify(error);
}
