import type { Limits } from '#/ports/limit-counters.ts';
import { CATALOGUE, type ErrorCode, type ErrorKind } from './catalogue.ts';

/** One attempt on a provider, as `error.gw` tells it. // spec 7.1 */
export interface ToldAttempt {
  readonly provider: string;
  readonly model: string;
  readonly status?: number;
  readonly error?: string;
  readonly duration_ms: number;
}

/** One attempt on a provider, as the audit row tells it. Rows of earlier builds do not say where it went. */
export interface AttemptReport extends ToldAttempt {
  readonly host?: string;
  readonly jurisdiction?: string;
  /** Whether the prompt was sent, or may have been. False: it failed before there was a connection. */
  readonly sent?: boolean;
}

/** What `error.gw` says about a failure behind the gateway. */
export interface FailureReport {
  readonly cause: string;
  readonly attempts: readonly AttemptReport[];
}

interface ErrorDetails {
  /** The request member or header at fault. */
  readonly param?: string;
  readonly retryAfterMs?: number;
  readonly report?: FailureReport;
  /** Overrides the catalogue's status: the provider's own 4xx. */
  readonly status?: number;
  /** How far the workload's limits are used, where one of them was asked. */
  readonly limits?: Limits;
  /** The request for approval that the call waits for. */
  readonly approval?: { readonly id: string; readonly endsAt: number };
  /** Overrides the catalogue's advice to client libraries that repeat requests by themselves. */
  readonly shouldRetry?: boolean;
}

/**
 * A failure with a catalogue code, thrown anywhere and mapped to an envelope once, by the surface it came through.
 * Its message is sent to the client: never put content, credentials or internals in it.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly report: FailureReport | undefined;
  readonly status: number;
  readonly limits: Limits | undefined;
  readonly approval: ErrorDetails['approval'];
  /** False: client libraries must not repeat the request. */
  readonly shouldRetry: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options);
    const kind: ErrorKind = CATALOGUE[code];
    this.code = code;
    this.param = details.param;
    this.report = details.report;
    this.status = details.status ?? kind.status;
    this.limits = details.limits;
    this.approval = details.approval;
    this.shouldRetry = details.shouldRetry ?? kind.shouldRetry;
    const usual = this.shouldRetry && kind.retryAfter !== undefined ? kind.retryAfter * 1000 : undefined;
    this.retryAfterMs = details.retryAfterMs ?? usual;
  }
}

/** Any thrown value as a `GatewayError`: one we did not foresee becomes `internal_error` with a fixed text. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', 'The gateway failed to handle this request.', {}, { cause: thrown });
}

/** The error for a client whose call ended with this process. // spec 6.1.5 */
export function restarting(): GatewayError {
  return new GatewayError('server_restarting', 'The gateway is restarting. Send the request again.');
}
