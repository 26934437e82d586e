import type { Json, JsonObject } from '../document/json.ts';
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

/** A call that the client is asked to approve, as an item for it. */
export function approvalItem(id: string, { server, name }: LoopTool, argumentsJson: string): JsonObject {
  return { id, type: 'mcp_approval_request', arguments: argumentsJson, name, server_label: server };
}

/** A call as an item for the client. `ran`: once it is over. `approvalId`: of the request that the client has approved. */
export function callItem(
  id: string,
  { server, name }: LoopTool,
  argumentsJson: string,
  status: CallStatus,
  ran?: Pick<RanCall, 'output' | 'isError'>,
  approvalId: string | null = null,
): JsonObject {
  const failure = { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: ran?.output ?? '' }] };
  return {
    id,
    type: 'mcp_call',
    status,
    approval_request_id: approvalId,
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
