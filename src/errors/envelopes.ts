import { CATALOGUE, type ErrorKind } from './catalogue.ts';
import type { FailureReport, GatewayError } from './gateway-error.ts';

/** The chat surface's error body. // spec 7.1 */
export interface ChatErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
    readonly gw?: FailureReport;
  };
}

/** A failure as the chat surface tells it, buffered or as an event in a stream. */
export function chatEnvelope(error: GatewayError): ChatErrorBody {
  const { code, message, param, report } = error;
  return {
    error: { message, type: CATALOGUE[code].chatType, param: param ?? null, code, ...(report && { gw: report }) },
  };
}

/** Headers every surface sends with a failure: when to come back, and whether to come back at all. */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { ...error.headers };
  const kind: ErrorKind = CATALOGUE[error.code];
  if (error.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
  if (kind.shouldRetry === false) headers['x-should-retry'] = 'false';
  return headers;
}
