import type { ErrorCode } from '#/errors/catalogue.ts';
import { errorHeaders } from '#/errors/envelopes.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import { errorMessage, errorSource, resultMessage, RPC } from '#/wire/mcp/message.ts';
import type { Era } from '#/wire/mcp/eras.ts';
import { chatProtocol } from '../chat/protocol.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';

/** Failures before a message is read, which name none. */
export const mcpProtocol: ClientProtocol = {
  idHeaders: ['x-request-id'],
  failure: (error, callId) => ({ jsonrpc: '2.0', error: rpcError(error, callId) }),
  failureHeaders: (error): Record<string, string> =>
    error.code === 'invalid_api_key' ? { 'www-authenticate': 'Bearer' } : {},
  failureEvent: (error, callId) => JSON.stringify({ jsonrpc: '2.0', error: rpcError(error, callId) }),
  limitHeaders: (limits, now) => chatProtocol.limitHeaders(limits, now),
  keepalive: ': keepalive\n\n',
};

/** An answer that is a failure. */
export interface ToldFailure {
  readonly status: number;
  readonly text: string;
}

/** Refusals of the request itself: a model gets them as the result of its call, so that it can go another way. */
export const OF_A_TOOL: ReadonlySet<ErrorCode> = new Set([
  'data_protection',
  'residency_denied',
  'scope_violation',
  'tool_quarantined',
  'tool_arguments_denied',
  'approval_required',
  'approval_denied',
  'result_too_large',
]);
/** Failures of the gateway's own tools that a model gets so, too: they are about what it asks, or pass. */
const OF_OWN_TOOL: ReadonlySet<ErrorCode> = new Set([
  'invalid_request',
  'request_too_large',
  'document_too_large_to_scan',
  'document_unsupported',
  'document_unreadable',
  'document_encrypted',
  'document_active_content',
  'document_not_anonymized',
  'document_engine_unavailable',
  'pdf_renderer_unavailable',
  'local_model_busy',
  'local_model_unavailable',
  'upstream_overloaded',
  'upstream_timeout',
]);
/** A tool that is not there, or is not this workload's: the same to the client. */
const NO_TOOL: ReadonlySet<ErrorCode> = new Set(['tool_not_found', 'permission_denied']);
/** A param of the protocol, whose faults are its own. */
const STATE = 'params.requestState';
const NO_MESSAGE: ReadonlySet<ErrorCode> = new Set(['unsupported_media_type', 'request_too_large']);

/** A failure as the answer to a message. `idSource`: the message's id; undefined: it is unknown. */
export function failureOf(error: GatewayError, callId: string, idSource: string | undefined): ToldFailure {
  return { status: error.status, text: errorMessage(idSource, errorSource(rpcError(error, callId))) };
}

/** A failure as the answer to a call of a tool; `isOwn`: one of the gateway's own. */
export function toolFailureOf(
  error: GatewayError,
  callId: string,
  idSource: string,
  { era, isOwn }: { readonly era: Era; readonly isOwn: boolean },
): ToldFailure {
  const { code, message } = error;
  const isRefused = OF_A_TOOL.has(code);
  if (isRefused || (isOwn && OF_OWN_TOOL.has(code))) {
    const text = `${isRefused ? 'Refused by Gatewarden' : 'Failed'} (${code}): ${message}`;
    const result = {
      ...(era === 'modern' && { resultType: 'complete' }),
      content: [{ type: 'text', text }],
      isError: true,
      _meta: { 'gatewarden.dev/error': { code, request_id: callId, ...retryAfter(error), ...approvalOf(error) } },
    };
    return { status: 200, text: resultMessage(idSource, JSON.stringify(result)) };
  }
  if (error.param === STATE) return { ...failureOf(error, callId, idSource), status: 200 };
  if (!NO_TOOL.has(code)) return failureOf(error, callId, idSource);
  const told = { code: RPC.invalidParams, message: 'There is no tool with this name.', data: { request_id: callId } };
  return { status: 200, text: errorMessage(idSource, errorSource(told)) };
}

/** Headers of a failure: limits, and when to try again. */
export function headersFor(error: GatewayError): Record<string, string> {
  return { ...(error.limits && mcpProtocol.limitHeaders(error.limits, Date.now())), ...errorHeaders(error) };
}

/** A header that differs from what it repeats, as `readEra` refuses it. */
function isMismatch({ code, param }: GatewayError): boolean {
  return code === 'invalid_request' && param?.startsWith('mcp-') === true;
}

function rpcError(error: GatewayError, callId: string) {
  const { code, message } = error;
  if (error.param === STATE) return { code: RPC.invalidParams, message, data: { request_id: callId } };
  if (isMismatch(error)) return { code: RPC.headerMismatch, message, data: { request_id: callId } };
  if (NO_MESSAGE.has(code)) return { code: RPC.invalidRequest, message, data: { code, request_id: callId } };
  return { code: RPC.gateway, message, data: { code, request_id: callId, ...retryAfter(error) } };
}

/** What the call waits for. */
function approvalOf({ approval }: GatewayError): object {
  if (!approval) return {};
  return { approval: { id: approval.id, expires_at: new Date(approval.endsAt).toISOString() } };
}

/** When the call may be sent again, in seconds. */
function retryAfter({ retryAfterMs }: GatewayError): { readonly retry_after?: number } {
  return retryAfterMs === undefined ? {} : { retry_after: Math.max(1, Math.ceil(retryAfterMs / 1000)) };
}
