import { CATALOGUE, type ErrorKind, type MessagesErrorType } from './catalogue.ts';
import type { FailureReport, GatewayError, ToldAttempt } from './gateway-error.ts';

/** What `error.gw` says about a failure behind the gateway. // spec 7.1 */
interface ToldReport {
  readonly cause: string;
  readonly attempts: readonly ToldAttempt[];
}

/** The chat surface's error body. // spec 7.1 */
export interface ChatErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
    readonly gw?: ToldReport;
  };
}

/** The messages surface's error body. // spec 7.2 */
export interface MessagesErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: MessagesErrorType;
    readonly message: string;
    /** What client libraries act on. */
    readonly details?: { readonly error_code: string };
  };
  readonly request_id: string;
}

/** A failure as the chat surface tells it, buffered or as an event in a stream. */
export function chatEnvelope(error: GatewayError): ChatErrorBody {
  const { code, message, param, report } = error;
  return {
    error: { message, type: CATALOGUE[code].chatType, param: param ?? null, code, ...(report && { gw: told(report) }) },
  };
}

/** Where attempts went is for the audit row: addresses behind the gateway are not the client's. */
function told({ cause, attempts }: FailureReport): ToldReport {
  return {
    cause,
    attempts: attempts.map(({ provider, model, status, error, duration_ms }) => ({
      provider,
      model,
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error }),
      duration_ms,
    })),
  };
}

/** A failure as the messages surface tells it, buffered or as an event in a stream. `requestId`: the call's id. */
export function messagesEnvelope(error: GatewayError, requestId: string): MessagesErrorBody {
  const { code, message } = error;
  const details = code === 'thread_unsupported_request' && { details: { error_code: code } };
  return { type: 'error', error: { type: messagesType(error), message, ...details }, request_id: requestId };
}

/** What the messages surface calls a status that the catalogue did not choose. */
const MESSAGES_TYPES: Readonly<Record<number, MessagesErrorType>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
};

/** The catalogue's type; with a status of the provider, the type of that status. */
function messagesType({ code, status }: GatewayError): MessagesErrorType {
  const kind: ErrorKind = CATALOGUE[code];
  return status === kind.status ? kind.messagesType : (MESSAGES_TYPES[status] ?? 'api_error');
}

/** A longer wait than this a client library takes for a mistake, and comes back at once. // wire-formats 1.2 */
const MAX_RETRY_AFTER_S = 60;

/**
 * Headers every surface sends with a failure: when to come back, and whether to come back at all. Where libraries come
 * back by themselves, the wait is one that they keep to.
 */
export function errorHeaders({ retryAfterMs, shouldRetry }: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (retryAfterMs !== undefined) {
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
    headers['retry-after'] = String(shouldRetry ? Math.min(seconds, MAX_RETRY_AFTER_S) : seconds);
    if (retryAfterMs < 1000) headers['retry-after-ms'] = String(Math.max(1, Math.ceil(retryAfterMs)));
  }
  if (!shouldRetry) headers['x-should-retry'] = 'false';
  return headers;
}
