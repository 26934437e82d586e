/** Error types of the chat surface's envelope. // spec 7.1 */
export type ChatErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'insufficient_quota'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'api_error';

/** Error types of the messages surface's envelope. // spec 7.2 */
export type MessagesErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'api_error'
  | 'overloaded_error';

/** One kind of failure: how every surface tells it. */
export interface ErrorKind {
  readonly status: number;
  readonly chatType: ChatErrorType;
  readonly messagesType: MessagesErrorType;
  /** Whether the same request may succeed later. False: client libraries are told so in `x-should-retry`. */
  readonly shouldRetry: boolean;
  /** Seconds for `Retry-After`, where the cause knows no better figure. */
  readonly retryAfter?: number;
}

/** The same request fails again, or must not be sent twice. */
function final(status: number, chatType: ChatErrorType, messagesType: MessagesErrorType): ErrorKind {
  return { status, chatType, messagesType, shouldRetry: false };
}

/** The same request may succeed after so many seconds. */
function temporary(
  status: number,
  chatType: ChatErrorType,
  messagesType: MessagesErrorType,
  retryAfter: number,
): ErrorKind {
  return { status, chatType, messagesType, shouldRetry: true, retryAfter };
}

/** Every failure a client can be told, by `error.code`. Closed: nothing else is ever sent. // spec 7 */
export const CATALOGUE = {
  invalid_request: final(400, 'invalid_request_error', 'invalid_request_error'),
  model_not_prefixed: final(400, 'invalid_request_error', 'invalid_request_error'),
  header_removed: final(400, 'invalid_request_error', 'invalid_request_error'),
  /** The vendor's own word: its client libraries then send the whole conversation by themselves. */
  thread_unsupported_request: final(400, 'invalid_request_error', 'invalid_request_error'),
  price_unknown: final(400, 'invalid_request_error', 'invalid_request_error'),
  provider_rejected_request: final(400, 'invalid_request_error', 'invalid_request_error'),
  invalid_api_key: final(401, 'authentication_error', 'authentication_error'),
  insufficient_quota: final(402, 'insufficient_quota', 'billing_error'),
  permission_denied: final(403, 'permission_error', 'permission_error'),
  residency_denied: final(403, 'permission_error', 'permission_error'),
  scope_violation: final(403, 'permission_error', 'permission_error'),
  model_not_found: final(404, 'not_found_error', 'not_found_error'),
  not_found: final(404, 'not_found_error', 'not_found_error'),
  method_not_allowed: final(405, 'invalid_request_error', 'invalid_request_error'),
  request_too_large: final(413, 'invalid_request_error', 'request_too_large'),
  unsupported_media_type: final(415, 'invalid_request_error', 'invalid_request_error'),
  data_protection: final(422, 'invalid_request_error', 'invalid_request_error'),
  document_too_large_to_scan: final(422, 'invalid_request_error', 'invalid_request_error'),
  document_unsupported: final(422, 'invalid_request_error', 'invalid_request_error'),
  document_unreadable: final(422, 'invalid_request_error', 'invalid_request_error'),
  document_encrypted: final(422, 'invalid_request_error', 'invalid_request_error'),
  document_active_content: final(422, 'invalid_request_error', 'invalid_request_error'),
  document_not_anonymized: final(422, 'invalid_request_error', 'invalid_request_error'),
  rate_limit_exceeded: temporary(429, 'rate_limit_error', 'rate_limit_error', 2),
  internal_error: temporary(500, 'api_error', 'api_error', 2),
  upstream_error: final(502, 'api_error', 'api_error'),
  upstream_overloaded: final(503, 'api_error', 'overloaded_error'),
  auth_unavailable: temporary(503, 'api_error', 'api_error', 5),
  limits_unavailable: temporary(503, 'api_error', 'api_error', 2),
  ledger_unavailable: temporary(503, 'api_error', 'api_error', 5),
  objects_unavailable: temporary(503, 'api_error', 'api_error', 2),
  inspection_unavailable: temporary(503, 'api_error', 'api_error', 2),
  scope_guard_unavailable: temporary(503, 'api_error', 'api_error', 2),
  local_model_busy: temporary(503, 'api_error', 'overloaded_error', 2),
  local_model_unavailable: temporary(503, 'api_error', 'api_error', 2),
  document_engine_unavailable: temporary(503, 'api_error', 'api_error', 2),
  pdf_renderer_unavailable: final(503, 'api_error', 'api_error'),
  server_restarting: temporary(503, 'api_error', 'overloaded_error', 1),
  upstream_timeout: final(504, 'api_error', 'api_error'),
} as const satisfies Record<string, ErrorKind>;

/** `error.code` as clients see it. */
export type ErrorCode = keyof typeof CATALOGUE;
