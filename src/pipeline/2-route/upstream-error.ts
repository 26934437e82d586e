import { GatewayError, type AttemptReport, type FailureReport } from '#errors/gateway-error.ts';
import type { ErrorCode } from '#errors/catalogue.ts';
import type { UpstreamFaultKind } from '#ports/provider.ts';

/** Statuses that say the provider, not the request, is at fault, and may do better on another try. */
const RETRYABLE = new Set([408, 409, 429]);
/** The provider refused our own credentials, account or rate: no business of the client's. */
const OURS = new Set([401, 402, 403, 407, 408, 409, 425, 429]);

/** Whether an answer with this status may be asked for again. */
export function retryable(status: number): boolean {
  return RETRYABLE.has(status) || status >= 500;
}

/** The last attempt's answer as the client is told. // spec 7.1 */
export function answeredWithError(
  status: number,
  message: string | undefined,
  retryAfterMs: number | undefined,
  attempts: readonly AttemptReport[],
  managed = false,
): GatewayError {
  // What a provider says about an account that is not the organization's is not for the client.
  const ofAccount = managed && OURS.has(status);
  const said = (ofAccount ? undefined : message) ?? `The provider answered with status ${status}.`;
  if (status >= 400 && status < 500 && !OURS.has(status)) {
    const report: FailureReport = { cause: 'rejected', attempts };
    return new GatewayError('provider_rejected_request', said, { status, report });
  }
  const overloaded = status === 429 || status === 503 || status === 529;
  const code: ErrorCode = overloaded ? 'upstream_overloaded' : 'upstream_error';
  const cause = overloaded ? 'overloaded' : status === 401 || status === 403 ? 'credentials' : 'status';
  const text = cause === 'credentials' ? 'The provider refused the credentials it is configured with.' : said;
  return new GatewayError(code, text, {
    report: { cause, attempts },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const FAULT_MESSAGES: Readonly<Record<UpstreamFaultKind, string>> = {
  timeout:
    'The provider did not answer within the answer timeout. The call is not repeated: the provider may still be running it.',
  connect: 'The provider could not be reached.',
  reset: 'The provider cut the connection before its answer was complete.',
  protocol: 'The provider sent something that is not an answer.',
  aborted: 'The request was given up.',
};

/** A provider that gave no usable answer, as the client is told. */
export function noAnswer(fault: UpstreamFaultKind, attempts: readonly AttemptReport[]): GatewayError {
  const code: ErrorCode = fault === 'timeout' ? 'upstream_timeout' : 'upstream_error';
  return new GatewayError(code, FAULT_MESSAGES[fault], { report: { cause: fault, attempts } });
}
