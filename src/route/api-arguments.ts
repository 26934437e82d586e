import type { ApiOperation, McpServerConfig } from '#/config/snapshot.ts';
import { TooMuchWork, Work } from '#/values/json-schema/work.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { UnfitArgument, writeApiRequest } from '#/wire/openapi/write-request.ts';
import type { Denial } from './offer.ts';

/** Steps of checking the arguments of one call: some 10 ms. */
const MOST_STEPS = 200_000;

/**
 * Why an operation of an API cannot be called with these arguments, as the client wrote them: they break its schema, or no
 * request can be made of them. Undefined also of a server that checks its arguments itself.
 */
export function apiDenial({ api, id, name }: McpServerConfig, tool: string, args: JsonObject): Denial | undefined {
  const operation = api?.operations.get(tool);
  const why = operation && faultIn(operation, args);
  if (why === undefined) return undefined;
  return {
    code: 'tool_arguments_denied',
    why: `operation ${tool} of MCPServer ${id}: ${why}`,
    message: `The tool ${tool} of the MCP server ${name} cannot be called so: ${why}.`,
    param: 'params.arguments',
  };
}

/** Whether a request can be made of arguments as they are sent. */
export function isSendable({ api }: McpServerConfig, tool: string, args: JsonObject): boolean {
  const operation = api?.operations.get(tool);
  return operation === undefined || unfitIn(operation, args) === undefined;
}

function faultIn(operation: ApiOperation, args: JsonObject): string | undefined {
  try {
    const refusal = operation.arguments(args, undefined, new Work(MOST_STEPS));
    if (refusal) return `${refusal.pointer === '' ? 'the arguments' : refusal.pointer} must ${refusal.must}`;
  } catch (thrown) {
    if (thrown instanceof TooMuchWork) return `the arguments take more than ${MOST_STEPS} steps to check: send less`;
    throw thrown;
  }
  return unfitIn(operation, args);
}

function unfitIn(operation: ApiOperation, args: JsonObject): string | undefined {
  try {
    writeApiRequest(operation, args);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof UnfitArgument)) throw thrown;
    return `${thrown.argument === '' ? 'the arguments' : `/${thrown.argument}`} must ${thrown.message}`;
  }
}
