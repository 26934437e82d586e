import { GatewayError, type AttemptReport, type FailureReport } from '#/errors/gateway-error.ts';
import type { ErrorCode } from '#/errors/catalogue.ts';
import { AnswerWithoutEnd, UpstreamFault, type ProviderFailure, type UpstreamFaultKind } from '#/ports/provider.ts';
import { SseEventTooLarge } from '#/wire/answer/sse.ts';
import type { Outcome } from './breaker.ts';
import type { UpstreamHealth } from './upstreams.ts';
import { withoutKeys } from './without-credentials.ts';

/** Statuses that say the provider, not the request, is at fault, and may do better on another try. */
const RETRYABLE = new Set([408, 409, 429]);
/** The provider refused our own credentials, account or rate: no business of the client's. */
const OURS = new Set([401, 402, 403, 407, 408, 409, 425, 429]);
/** The provider does not serve the account it was asked with. */
const OF_ACCOUNT = new Set([401, 402, 403]);
/** Statuses of a proxy in front of a model that finds no backend, or too many requests. */
const GONE = new Set([502, 503, 504, 529]);

/** Where the next attempt may be made, after one that failed: `elsewhere` is any other endpoint. */
export type Again = 'here' | 'elsewhere' | 'nowhere';

/** What a provider's answer that is an error means for the next attempt. */
export function againAfter(status: number, { retryable }: Pick<ProviderFailure, 'retryable'>): Again {
  if (retryable ?? (RETRYABLE.has(status) || status >= 500)) return 'here';
  return isRejection(status) ? 'nowhere' : 'elsewhere';
}

/** What a provider that gave no answer means for the next attempt: one that may still be at work is not asked again. */
export function againAfterFault(kind: UpstreamFaultKind): Again {
  if (kind === 'connect' || kind === 'reset') return 'here';
  return kind === 'protocol' || kind === 'too_large' ? 'elsewhere' : 'nowhere';
}

/** Whether this says that the account will not be served, however often it asks. */
export function refusesAccount(status: number, { retryable }: Pick<ProviderFailure, 'retryable'>): boolean {
  return OF_ACCOUNT.has(status) || (status === 429 && retryable === false);
}

/** What an answer that is an error says of its upstream: one that rejects a request is well. */
export function outcomeOf(status: number): Outcome {
  if (GONE.has(status)) return 'gone';
  if (status >= 500) return 'failed';
  return isRejection(status) ? 'served' : 'unknown';
}

/**
 * What a fault says of its endpoint. `fair`: it had the time that the workload gives; a client that gives less learns
 * nothing of the provider.
 */
export function outcomeOfFault(thrown: unknown, fair: boolean): Outcome {
  if (thrown instanceof ReportedFailure) return 'failed';
  if (!(thrown instanceof UpstreamFault) || thrown.kind === 'aborted') return 'unknown';
  if (thrown.kind === 'timeout') return fair ? 'gone' : 'unknown';
  return thrown.kind === 'protocol' || thrown.kind === 'too_large' ? 'failed' : 'gone';
}

function isRejection(status: number): boolean {
  return status >= 400 && status < 500 && !OURS.has(status);
}

/** The client's error for the last attempt's answer. // spec 7.1 */
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
  if (isRejection(status)) {
    const report: FailureReport = { cause: 'rejected', attempts };
    return new GatewayError('provider_rejected_request', said, { status, report });
  }
  const overloaded = status === 429 || status === 503 || status === 529;
  const code: ErrorCode = overloaded ? 'upstream_overloaded' : 'upstream_error';
  const cause = overloaded ? 'overloaded' : status === 401 ? 'credentials' : status === 403 ? 'forbidden' : 'status';
  const why = ofAccount || message === undefined ? undefined : said;
  return new GatewayError(code, status === 401 || status === 403 ? refusedBy(status, why) : said, {
    report: { cause, attempts },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** A refusal of the gateway's own account: only an operator can correct it, with the help of the provider's message. */
function refusedBy(status: 401 | 403, why: string | undefined): string {
  const what = status === 401 ? 'the credentials configured for it' : 'this request for the account configured for it';
  return `The provider refused ${what}${why === undefined ? '.' : `: ${withoutKeys(why)}`}`;
}

const UNAVAILABLE_MESSAGES: Readonly<Record<UpstreamHealth['cause'], string>> = {
  circuit_open: 'The provider keeps failing, so calls to it are paused for a while. Nothing was sent.',
  overloaded: 'The provider has asked for a pause. Nothing was sent.',
};

/**
 * The client's error if no upstream was asked: all that may serve the call have an open circuit breaker or asked to
 * wait.
 */
export function nobodyToAsk(upstreams: readonly UpstreamHealth[]): GatewayError {
  const { waitMs, cause } = upstreams.reduce((soonest, next) => (next.waitMs < soonest.waitMs ? next : soonest));
  return new GatewayError('upstream_overloaded', UNAVAILABLE_MESSAGES[cause], {
    report: { cause, attempts: [] },
    retryAfterMs: waitMs,
    // Nothing was tried, so nothing would be repeated.
    shouldRetry: true,
  });
}

const FAULT_MESSAGES: Readonly<Record<UpstreamFaultKind, string>> = {
  timeout:
    'The provider did not answer within the answer timeout. The gateway does not repeat the call, because the provider may still be running it.',
  connect: 'The provider could not be reached.',
  reset: 'The provider closed the connection before its answer was complete.',
  protocol: 'The provider sent an invalid answer.',
  too_large: 'The answer of the provider is too large: it has too many bytes, values, choices or restored tags.',
  aborted: 'The request was aborted.',
};

/** The client's error for a provider without a usable answer. */
export function noAnswer({ kind, cause }: UpstreamFault, attempts: readonly AttemptReport[]): GatewayError {
  const code: ErrorCode = kind === 'timeout' ? 'upstream_timeout' : 'upstream_error';
  const message =
    cause instanceof SseEventTooLarge
      ? eventTooLarge(cause)
      : cause instanceof AnswerWithoutEnd
        ? withoutEnd(cause)
        : FAULT_MESSAGES[kind];
  return new GatewayError(code, message, { report: { cause: kind, attempts } });
}

function withoutEnd({ seconds }: AnswerWithoutEnd): string {
  return `The provider did not finish its answer within ${seconds} seconds, the longest that an answer may take. What arrived until then is billed.`;
}

/** // spec 6.1.6 */
function eventTooLarge({ limit }: SseEventTooLarge): string {
  const most = `${limit / 1024 / 1024} MiB`;
  return `The provider sent an event of more than ${most}, the largest that this stream allows.`;
}

/** What providers call it, in a stream or as a status, when they have too much to do. */
const OVERLOADED: ReadonlySet<string> = new Set([
  ...['overloaded_error', 'overloaded', 'server_overloaded', 'slow_down', 'serviceUnavailableException', 'UNAVAILABLE'],
  ...['rate_limit_error', 'rate_limit_exceeded', 'throttlingException', 'RESOURCE_EXHAUSTED', '429', '503', '529'],
]);

/** A failure that a provider reports in its stream. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure';
  readonly code: ErrorCode;

  /** `message`: the provider's own words, where the client may have them. `kind`: what the provider calls such a failure. */
  constructor(message: string | undefined, kind: string | undefined) {
    super(message ?? 'The provider reported an error.');
    this.code = kind !== undefined && OVERLOADED.has(kind) ? 'upstream_overloaded' : 'upstream_error';
  }
}

/** The client's error for a failure that a provider reported. */
export function reportedError({ code, message }: ReportedFailure, attempts: readonly AttemptReport[]): GatewayError {
  return new GatewayError(code, message, { report: { cause: 'reported', attempts } });
}
