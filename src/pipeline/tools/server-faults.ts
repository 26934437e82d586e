import type { McpServerConfig } from '#/config/snapshot.ts';
import type { Outcome } from '#/dispatch/upstream/breaker.ts';
import { GatewayError, type AttemptReport } from '#/errors/gateway-error.ts';
import { McpServerFault, McpSessionLost, McpTokenFault, NoRoomForResults } from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { tokenless } from './tokenless.ts';

/** The refusal of a server that is left alone. */
export function circuitOpen({ name }: McpServerConfig, waitMs: number): GatewayError {
  const message = `The MCP server ${name} has failed repeatedly and is left alone for a while. Nothing was sent.`;
  const report = { cause: 'circuit_open', attempts: [] };
  return new GatewayError('upstream_overloaded', message, { retryAfterMs: Math.max(1000, waitMs), report });
}

/** What the row says of an attempt that failed. */
export function attemptOf(thrown: unknown): Partial<AttemptReport> {
  if (thrown instanceof McpServerFault) return { status: thrown.status, sent: thrown.sent };
  if (thrown instanceof McpTokenFault) return { error: `token_${thrown.kind}`, sent: false };
  if (thrown instanceof UpstreamFault) return { error: thrown.kind, sent: thrown.sent };
  return { error: thrown instanceof NoRoomForResults ? 'too_large' : 'aborted' };
}

/** What it says of the server. `fair`: it had all the time that it may have. */
export function outcomeOf(thrown: unknown, fair: boolean): Outcome {
  if (thrown instanceof McpServerFault) return thrown.status >= 500 ? 'failed' : 'unknown';
  if (!(thrown instanceof UpstreamFault) || thrown.kind === 'aborted') return 'unknown';
  if (thrown.kind === 'too_large') return 'served';
  if (thrown.kind === 'timeout' && !fair) return 'unknown';
  return thrown.kind === 'protocol' ? 'failed' : 'gone';
}

/** The client's error. A server's own 401 and 403 are about a credential of the gateway. */
export function errorOf(
  thrown: unknown,
  { name, timeoutSeconds, maxResultBytes }: McpServerConfig,
  attempt: AttemptReport,
): unknown {
  const failed = (
    code: 'upstream_error' | 'upstream_overloaded' | 'upstream_timeout',
    why: string,
    cause: string,
    wait?: number,
  ) =>
    new GatewayError(
      code,
      `The MCP server ${name} ${why}.`,
      { report: { cause, attempts: [attempt] }, ...(wait !== undefined && { retryAfterMs: wait }) },
      { cause: thrown },
    );
  if (thrown instanceof NoRoomForResults) {
    const message = 'Other results take all the memory that there is for them. The server has carried out the request.';
    return new GatewayError('upstream_overloaded', message);
  }
  if (thrown instanceof McpTokenFault) return tokenless(thrown, name, [attempt]);
  if (thrown instanceof McpSessionLost) return sessionLost(name, attempt, thrown);
  if (thrown instanceof McpServerFault) {
    const { status, retryAfterMs } = thrown;
    if (status === 429 || status === 503)
      return failed('upstream_overloaded', 'asks to wait', 'overloaded', retryAfterMs ?? 2000);
    const why =
      status === 401 || status === 403 ? 'refused the credential of the gateway' : `answered with status ${status}`;
    return failed('upstream_error', why, status === 401 || status === 403 ? 'credentials' : 'status');
  }
  if (!(thrown instanceof UpstreamFault)) return thrown;
  if (thrown.kind === 'too_large') {
    const most = Math.floor(maxResultBytes / 1024);
    return new GatewayError(
      'result_too_large',
      `The result is larger than ${most} KiB. The server has carried out the request.`,
    );
  }
  if (thrown.kind === 'timeout') {
    return failed('upstream_timeout', `did not answer in time (at most ${timeoutSeconds} seconds)`, 'timeout');
  }
  const why = thrown.kind === 'connect' ? 'cannot be reached' : 'did not answer as the protocol asks';
  return failed('upstream_error', why, thrown.kind);
}

/** A server that forgot the session of a client, which must open another one: what it kept there is gone. */
function sessionLost(name: string, attempt: AttemptReport, cause: unknown): GatewayError {
  const message = `The MCP server ${name} no longer knows the session: initialize again. The request was not run.`;
  const report = { cause: 'session', attempts: [attempt] };
  return new GatewayError('not_found', message, { param: 'mcp-session-id', report }, { cause });
}
