/** Error types of the chat surface's envelope. // spec 7.1 */
type ChatErrorType =
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
  /** Whether the same request may succeed later. False: `x-should-retry` tells client libraries not to repeat it. */
  readonly shouldRetry: boolean;
  /** Seconds for `Retry-After`, where the cause knows no better figure. */
  readonly retryAfter?: number;
  /** For the reference of error codes: what happened, in a sentence or two. */
  readonly meaning: string;
  /** For the reference of error codes: what its reader can do about it. */
  readonly remedy: string;
}

type Explanation = Pick<ErrorKind, 'meaning' | 'remedy'>;

/** The same request fails again, or must not be sent twice. */
function final(
  status: number,
  chatType: ChatErrorType,
  messagesType: MessagesErrorType,
  explanation: Explanation,
): ErrorKind {
  return { status, chatType, messagesType, shouldRetry: false, ...explanation };
}

/** The same request may succeed after so many seconds. */
function temporary(
  status: number,
  chatType: ChatErrorType,
  messagesType: MessagesErrorType,
  retryAfter: number,
  explanation: Explanation,
): ErrorKind {
  return { status, chatType, messagesType, shouldRetry: true, retryAfter, ...explanation };
}

/** Every failure a client can receive, by `error.code`. Closed: no other code is ever sent. // spec 7 */
export const CATALOGUE = {
  invalid_request: final(400, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The request breaks a rule of its protocol or of the gateway. `param` names the field or header.',
    remedy: 'Correct the field that `param` names.',
  }),
  model_not_prefixed: final(400, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The model is a bare name: neither `<provider>/<model>` nor an alias of the organization.',
    remedy: 'Name the provider too, as in `openai/gpt-5`, or define a model alias.',
  }),
  header_removed: final(400, 'invalid_request_error', 'invalid_request_error', {
    meaning:
      'The request has the header `x-gw-dlp`, which was removed: the policy of the workload sets data protection.',
    remedy: 'Leave the header out; change the policy if it protects too little or too much.',
  }),
  /** The vendor's own word: its client libraries then send the whole conversation by themselves. */
  thread_unsupported_request: final(400, 'invalid_request_error', 'invalid_request_error', {
    meaning:
      'The request continues a conversation that the gateway does not keep. Client libraries of the vendor recognise this code.',
    remedy: 'Send the whole conversation; client libraries do that by themselves.',
  }),
  price_unknown: final(400, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The model has no price, so the gateway cannot hold or bill the call.',
    remedy: 'Add a price for the model to a PriceBook.',
  }),
  provider_rejected_request: final(400, 'invalid_request_error', 'invalid_request_error', {
    meaning: "The provider refused the request as wrong. The status and the message are the provider's.",
    remedy: 'Correct what the message names.',
  }),
  invalid_api_key: final(401, 'authentication_error', 'authentication_error', {
    meaning: 'The API key or access token is missing, unknown, expired or revoked.',
    remedy: 'Send a valid key of a workload (`gwctl key create` makes one).',
  }),
  insufficient_quota: final(402, 'insufficient_quota', 'billing_error', {
    meaning:
      'A plan, spend cap, budget or credit does not cover the call. The message names the limit and its amounts.',
    remedy: 'Raise the limit, add credit (`gwctl credit add`), or wait until the period of the budget ends.',
  }),
  permission_denied: final(403, 'permission_error', 'permission_error', {
    meaning: 'Policy does not allow this workload to use the model, the endpoint or the object.',
    remedy: 'Use what policy allows, or change the policy.',
  }),
  residency_denied: final(403, 'permission_error', 'permission_error', {
    meaning: 'No deployment of the model lies in a jurisdiction that policy allows.',
    remedy: 'Choose another model, or add the jurisdiction to `residency.allowedJurisdictions`.',
  }),
  scope_violation: final(403, 'permission_error', 'permission_error', {
    meaning: "The scope guard found that the request does not serve the workload's purpose.",
    remedy: 'Ask for what the workload is for, or widen `scopeGuard.scope` in the policy.',
  }),
  model_not_found: final(404, 'not_found_error', 'not_found_error', {
    meaning: 'No provider that this workload may use offers the model.',
    remedy: 'List the models with `GET /v1/models` and name one of them.',
  }),
  not_found: final(404, 'not_found_error', 'not_found_error', {
    meaning: 'The path, job or stored object does not exist, or belongs to another workload.',
    remedy: 'Check the path and the id; objects can be used only by the workload that made them.',
  }),
  tool_not_found: final(404, 'not_found_error', 'not_found_error', {
    meaning: 'The MCP server has no tool with this name, or does not offer it.',
    remedy: 'List the tools with the method tools/list and name one of them.',
  }),
  prompt_not_found: final(404, 'not_found_error', 'not_found_error', {
    meaning: 'The MCP server has no prompt with this name, or does not offer it.',
    remedy: 'List the prompts with the method prompts/list and name one of them.',
  }),
  resource_not_found: final(404, 'not_found_error', 'not_found_error', {
    meaning: 'No MCP server of the workload has a resource with this URI, or it does not offer it.',
    remedy: 'List the resources with the method resources/list and name one of them as it is listed.',
  }),
  method_not_allowed: final(405, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The path exists, but not for this HTTP method.',
    remedy: 'Use a method that the `allow` header names.',
  }),
  request_too_large: final(413, 'invalid_request_error', 'request_too_large', {
    meaning: 'The body, one of its parts or what it decodes to is too large.',
    remedy: 'Send less; the message names the limit.',
  }),
  unsupported_media_type: final(415, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The `content-type` of the body is not one that this endpoint reads.',
    remedy: 'Send the type that the message names.',
  }),
  data_protection: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'Policy blocks the request because it contains, or may contain, personal data or forbidden terms.',
    remedy: 'Remove what the message names, or let policy replace it (`dlp.mode: Tokenize` or `Mask`).',
  }),
  document_too_large_to_scan: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The document has too many pages, is too large, or takes too long to read.',
    remedy: 'Split the document.',
  }),
  document_unsupported: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The gateway cannot read this format of documents.',
    remedy: 'Convert the document to a format that the message names.',
  }),
  document_unreadable: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The document is damaged or is not of the format it claims.',
    remedy: 'Open it in its application and save it again.',
  }),
  document_encrypted: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The document needs a password.',
    remedy: 'Save it without a password.',
  }),
  document_active_content: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The document has macros.',
    remedy: 'Save the document without macros.',
  }),
  document_not_anonymized: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning: 'The gateway could not verify that all matches are removed from the document, so it returns nothing.',
    remedy: 'Convert the document to another format and send it again.',
  }),
  tool_quarantined: final(422, 'invalid_request_error', 'permission_error', {
    meaning:
      'The definition of the tool or prompt is new or has changed, so it is neither listed nor used until a person accepts it.',
    remedy: 'Look at the change with `gwctl mcp diff` and accept it with `gwctl mcp accept`.',
  }),
  tool_arguments_denied: final(422, 'invalid_request_error', 'permission_error', {
    meaning:
      'A rule of the MCPServer does not allow these arguments of the tool. The message names the rule, the place and the allowed values.',
    remedy: 'Call the tool with other arguments, or ask your administrator to change `rules` of the MCPServer.',
  }),
  approval_required: final(422, 'invalid_request_error', 'permission_error', {
    meaning:
      'A person must approve this call of a tool, and has not yet. The message names the request for approval, which waits a day.',
    remedy:
      'Have the request approved (`gwctl mcp approve`), then send the same call with the same arguments within 15 minutes.',
  }),
  approval_denied: final(422, 'invalid_request_error', 'permission_error', {
    meaning: 'A person denied this call of a tool. The same call is denied for 15 minutes.',
    remedy: 'Go another way, or ask the person that the message names.',
  }),
  result_too_large: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning:
      'The result of a tool, or a resource, is larger than its MCPServer allows. The server was asked, and it is billed.',
    remedy: 'Ask for less, or raise `maxResultKiB` of the MCPServer.',
  }),
  tool_loop_limit: final(422, 'invalid_request_error', 'invalid_request_error', {
    meaning:
      'The model went on calling tools that the gateway runs until a limit of rounds, time or size was reached. The message names it.',
    remedy: 'Ask for less at once, or offer fewer tools with `allowed_tools`.',
  }),
  rate_limit_exceeded: temporary(429, 'rate_limit_error', 'rate_limit_error', 2, {
    meaning: 'A limit of requests, tokens, concurrent calls or memory is reached. The message names it.',
    remedy: 'Wait for the time in `retry-after`.',
  }),
  internal_error: temporary(500, 'api_error', 'api_error', 2, {
    meaning: 'The gateway failed unexpectedly. The log has the cause under the id of the call.',
    remedy: 'Send the request again; if it fails again, report the id of the call.',
  }),
  upstream_error: final(502, 'api_error', 'api_error', {
    meaning:
      'The provider failed, answered in a form that the gateway cannot read, or could not be reached. `gw` lists the attempts.',
    remedy: 'Check the provider; the request may have been served, so repeat it only if that does no harm.',
  }),
  upstream_overloaded: final(503, 'api_error', 'overloaded_error', {
    meaning:
      'The provider is overloaded or over its limit, its circuit breaker is open, or the document engine is busy.',
    remedy: 'Wait for the time in `retry-after`, or add another provider to the alias.',
  }),
  auth_unavailable: temporary(503, 'api_error', 'api_error', 5, {
    meaning: 'The gateway has no configuration yet and cannot check the key.',
    remedy: 'Wait; if it lasts, check that the gateway reads its configuration.',
  }),
  limits_unavailable: temporary(503, 'api_error', 'api_error', 2, {
    meaning: 'The counters of limits and budgets (Redis) cannot be reached; nothing was sent.',
    remedy: 'Wait; if it lasts, check Redis.',
  }),
  ledger_unavailable: temporary(503, 'api_error', 'api_error', 5, {
    meaning:
      'The audit ledger (PostgreSQL) takes no rows and the journal on disk is full, or a counter must be rebuilt from it and cannot be.',
    remedy: 'Wait; if it lasts, check PostgreSQL.',
  }),
  objects_unavailable: temporary(503, 'api_error', 'api_error', 2, {
    meaning: 'The record of stored objects (PostgreSQL) is unavailable, so the owner of the object is unknown.',
    remedy: 'Wait; if it lasts, check PostgreSQL.',
  }),
  approvals_unavailable: temporary(503, 'api_error', 'api_error', 2, {
    meaning: 'The record of approvals (PostgreSQL) is unavailable, so a call that needs one was not made.',
    remedy: 'Wait; if it lasts, check PostgreSQL.',
  }),
  inspection_unavailable: temporary(503, 'api_error', 'api_error', 2, {
    meaning: 'The text could not be searched for personal data in time, or the name model does not answer.',
    remedy: 'Wait; if it lasts, check the inference service.',
  }),
  scope_guard_unavailable: temporary(503, 'api_error', 'api_error', 2, {
    meaning: 'The scope guard could not judge the request. Nothing was sent.',
    remedy: 'Wait; if it lasts, check the inference service.',
  }),
  local_model_busy: temporary(503, 'api_error', 'overloaded_error', 2, {
    meaning: 'The queue of the local model is full.',
    remedy: 'Wait for the time in `retry-after`, or run more inference pods.',
  }),
  local_model_unavailable: temporary(503, 'api_error', 'api_error', 2, {
    meaning: 'The local model does not run or is switched off.',
    remedy: 'Start the inference service with this model, or name another model.',
  }),
  document_engine_unavailable: temporary(503, 'api_error', 'api_error', 2, {
    meaning: 'The document engine does not run, or ended while it processed this document.',
    remedy: 'Wait; if it lasts, check the inference service.',
  }),
  pdf_renderer_unavailable: final(503, 'api_error', 'api_error', {
    meaning: 'The document has pages that can only be read as images, but no engine renders PDF pages.',
    remedy: 'Run the inference service with its PDF renderer.',
  }),
  server_restarting: temporary(503, 'api_error', 'overloaded_error', 1, {
    meaning: 'This process is ending and takes no new calls.',
    remedy: 'Send the request again; another process serves it.',
  }),
  upstream_timeout: final(504, 'api_error', 'api_error', {
    meaning: 'The provider or the document engine took longer than the answer timeout.',
    remedy: 'Raise the answer timeout in the policy, or ask for less.',
  }),
} as const satisfies Record<string, ErrorKind>;

/** `error.code` as clients see it. */
export type ErrorCode = keyof typeof CATALOGUE;
