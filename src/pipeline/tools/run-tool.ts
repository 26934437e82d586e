import type { CallContext } from '#/call/call.ts';
import type { ToolArguments, ToolCallRequest, ToolReply } from '#/call/tool-call.ts';
import type { CustomTerm } from '#/config/snapshot.ts';
import type { ErrorCode } from '#/errors/catalogue.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { ServerLimitReached } from '#/meter/server-calls.ts';
import { NotAJsonObject, readDocument } from '#/wire/document/document.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { LEGACY } from '#/wire/mcp/eras.ts';
import type { LoopCall, RanCall } from '#/wire/hub/tool-loop/loop-codec.ts';
import { resultText } from '#/wire/hub/tool-loop/result-text.ts';

/** More characters of arguments than this no honest model writes. */
const MOST_ARGUMENTS = 256 * 1024;

/** Failures that are not the tool's: no other call could go another way. */
const OF_THE_REQUEST: ReadonlySet<ErrorCode> = new Set([
  'insufficient_quota',
  'rate_limit_exceeded',
  'internal_error',
  'auth_unavailable',
  'limits_unavailable',
  'ledger_unavailable',
  'server_restarting',
]);
/** A tool that is not there, and one that is not this workload's, are the same to a model. */
const NO_TOOL: ReadonlySet<ErrorCode> = new Set(['tool_not_found', 'permission_denied', 'not_found']);

type Told = Pick<RanCall, 'output' | 'isError'>;

/**
 * Runs a call of the model as a tool call. The model receives its failures as results, so that it can go another way.
 * Throws what no other call could avoid: a spent budget, a limit, a client that left.
 */
export async function runTool(
  { tool, argumentsJson }: LoopCall,
  context: CallContext & { readonly remove: readonly CustomTerm[] },
  call: (request: ToolCallRequest) => Promise<ToolReply>,
): Promise<Told> {
  const args = readArguments(argumentsJson);
  if (!args) return failed('The arguments must be one JSON object without repeated names.');
  try {
    const { kind, text } = await call({
      ...context,
      surface: 'mcp',
      server: tool.server,
      tool: tool.name,
      arguments: args,
      era: { era: 'legacy', version: LEGACY[0] },
      meta: {},
    });
    const { text: output, isError } = resultText(kind, text);
    return { output, isError };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || context.signal.aborted || isOfRequest(thrown)) throw thrown;
    const { code, message } = thrown;
    if (NO_TOOL.has(code)) return failed('There is no tool with this name.');
    return failed(thrown.status < 500 ? `Refused by Gatewarden (${code}): ${message}` : `The tool failed: ${message}`);
  }
}

function isOfRequest(error: GatewayError): boolean {
  return OF_THE_REQUEST.has(error.code) && !(error instanceof ServerLimitReached);
}

/** The result that a model receives for a call that was not run. */
export function failed(output: string): Told {
  return { output, isError: true };
}

/** Undefined: not an object, or one that readers could disagree on. */
function readArguments(written: string): ToolArguments | undefined {
  const source = written.trim() === '' ? '{}' : written;
  if (source.length > MOST_ARGUMENTS) return undefined;
  try {
    return { source, value: readDocument('mcp', source).body };
  } catch (thrown) {
    if (thrown instanceof NotAJsonObject || thrown instanceof AmbiguousJson || thrown instanceof TooManyValues)
      return undefined;
    throw thrown;
  }
}
