import type { ErrorCode } from '#/errors/catalogue.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { ReadOf } from '#/call/server-read.ts';
import { errorMessage, errorSource, RPC } from '#/wire/mcp/message.ts';
import type { Era } from '#/wire/mcp/eras.ts';
import { failureOf, OF_A_TOOL, type ToldFailure } from './protocol.ts';

/** Unknown and denied prompts and resources: the same to the client. */
const NOT_THERE: ReadonlySet<ErrorCode> = new Set(['prompt_not_found', 'resource_not_found', 'permission_denied']);

/** A failure as the answer to a request that reads of a server. */
export function readFailureOf(
  error: GatewayError,
  callId: string,
  idSource: string,
  { era, of }: { readonly era: Era; readonly of: ReadOf },
): ToldFailure {
  const { code, message, param } = error;
  const told = (answer: Parameters<typeof errorSource>[0]): ToldFailure => ({
    status: 200,
    text: errorMessage(idSource, errorSource(answer)),
  });
  if (NOT_THERE.has(code)) {
    if (of.kind === 'prompts')
      return told({
        code: RPC.invalidParams,
        message: 'There is no prompt with this name.',
        data: { request_id: callId },
      });
    const missing = era === 'legacy' ? RPC.resourceNotFound : RPC.invalidParams;
    return told({ code: missing, message: 'There is no resource with this URI.', data: { uri: of.uri } });
  }
  if (code === 'invalid_request' && param?.startsWith('params.') === true)
    return told({ code: RPC.invalidParams, message, data: { request_id: callId } });
  if (OF_A_TOOL.has(code)) {
    const data = { code, request_id: callId };
    return told({ code: RPC.gateway, message: `Refused by Gatewarden (${code}): ${message}`, data });
  }
  return failureOf(error, callId, idSource);
}
