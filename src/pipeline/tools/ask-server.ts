import type { McpServerConfig } from '#/config/snapshot.ts';
import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { ToolCallRequest } from '#/call/tool-call.ts';
import type { Outcome } from '#/dispatch/upstream/breaker.ts';
import { UpstreamSignal } from '#/dispatch/upstream-signal.ts';
import type { Upstreams } from '#/dispatch/upstream/upstreams.ts';
import { GatewayError, type AttemptReport } from '#/errors/gateway-error.ts';
import type { Detection } from '#/inspect/detection.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import {
  McpServerFault,
  McpTokenFault,
  NoRoomForResults,
  type ListedTool,
  type ToolAnswer,
} from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { toolSlug } from '#/route/tools.ts';
import { NO_USAGE } from '#/wire/answer/usage.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { headersOf } from '#/wire/mcp/headers.ts';
import { noticesFor } from './notices.ts';
import { tokenless } from './tokenless.ts';
import type { ToolParts } from './tool-parts.ts';

/** One call as it is sent. */
export interface Asking {
  readonly request: ToolCallRequest;
  readonly server: McpServerConfig;
  readonly listed: ListedTool;
  /** JSON source of the arguments, and the same parsed. */
  readonly sent: string | undefined;
  readonly sentValue: JsonObject;
  readonly inspection: Inspection | undefined;
  readonly timeoutMs: number;
  /** The server has the time that it and the workload give: a client that gives less learns nothing of it. */
  readonly fair: boolean;
}

/** What a server is asked with. */
interface AskParts {
  readonly tools: Pick<ToolParts, 'servers'>;
  readonly upstreams: Pick<Upstreams, 'enter' | 'health'>;
  readonly detection: Detection;
}

/** As of a provider with the default settings, but after 10 attempts where that needs 20. */
const CIRCUIT_BREAKER = { failureRatioPercent: 50, minRequests: 10, openSeconds: 30 };

/**
 * Asks a server, once: what a tool does must not be done twice. The facts bill a call that may have been run.
 * Throws the client's error in a `Stopped`.
 */
export async function askServer(
  asking: Asking,
  parts: AskParts,
): Promise<{ readonly answer: ToolAnswer; readonly facts: CallFacts }> {
  const { request, server, listed, sent, sentValue, timeoutMs } = asking;
  const upstream = {
    provider: { config: { id: server.id, credentials: [], circuitBreaker: CIRCUIT_BREAKER } },
    model: '',
  };
  const permit = parts.upstreams.enter(upstream);
  if (!permit) throw circuitOpen(server, parts.upstreams.health(upstream).waitMs);
  const started = performance.now();
  const stop = new UpstreamSignal(request);
  const notices = noticesFor(asking, parts);
  const report = (more: Partial<AttemptReport>): AttemptReport => ({
    provider: toolSlug(server),
    model: listed.name,
    duration_ms: Math.round(performance.now() - started),
    host: new URL(server.url).host,
    jurisdiction: server.jurisdiction,
    sent: true,
    ...more,
  });
  try {
    const answer = await parts.tools.servers.call(server, {
      tool: listed.name,
      arguments: sent,
      headers: headersOf(listed.headers, sentValue),
      meta: notices ? { ...request.meta, progressToken: request.id } : request.meta,
      ...(notices && { onNotice: (notice) => notices.take(notice) }),
      timeoutMs,
      signal: stop.signal,
      subject: request.subject,
    });
    await notices?.done();
    const { status = 200 } = answer;
    permit.end(status >= 500 ? 'failed' : 'served');
    return {
      answer,
      facts: { ...reached(asking), usage: NO_USAGE, isAnswering: true, attempts: [report({ status })] },
    };
  } catch (thrown) {
    permit.end(outcomeOf(thrown, asking.fair));
    const attempt = report(attemptOf(thrown));
    const facts = { attempts: [attempt], ...(attempt.sent === true && reached(asking)) };
    if (request.signal.aborted) throw new Stopped(request.signal.reason, facts);
    // It has answered, whatever is wrong with the answer.
    const hasRun =
      thrown instanceof NoRoomForResults || (thrown instanceof UpstreamFault && thrown.kind === 'too_large');
    const billed = hasRun ? { usage: NO_USAGE, isAnswering: true } : {};
    throw new Stopped(errorOf(thrown, server, attempt), { ...facts, ...billed });
  } finally {
    stop.release();
  }
}

/** The server has the call, or may have it. */
function reached({ server, listed }: Asking): CallFacts {
  const target = {
    provider: toolSlug(server),
    model: listed.name,
    jurisdiction: server.jurisdiction,
    family: 'mcp' as const,
  };
  return { target, units: { calls: 1 } };
}

function circuitOpen({ name }: McpServerConfig, waitMs: number): GatewayError {
  const message = `The MCP server ${name} has failed repeatedly and is left alone for a while. Nothing was sent.`;
  const report = { cause: 'circuit_open', attempts: [] };
  return new GatewayError('upstream_overloaded', message, { retryAfterMs: Math.max(1000, waitMs), report });
}

function attemptOf(thrown: unknown): Partial<AttemptReport> {
  if (thrown instanceof McpServerFault) return { status: thrown.status, sent: thrown.sent };
  if (thrown instanceof McpTokenFault) return { error: `token_${thrown.kind}`, sent: false };
  if (thrown instanceof UpstreamFault) return { error: thrown.kind, sent: thrown.sent };
  return { error: thrown instanceof NoRoomForResults ? 'too_large' : 'aborted' };
}

function outcomeOf(thrown: unknown, fair: boolean): Outcome {
  if (thrown instanceof McpServerFault) return thrown.status >= 500 ? 'failed' : 'unknown';
  if (!(thrown instanceof UpstreamFault) || thrown.kind === 'aborted') return 'unknown';
  if (thrown.kind === 'too_large') return 'served';
  if (thrown.kind === 'timeout' && !fair) return 'unknown';
  return thrown.kind === 'protocol' ? 'failed' : 'gone';
}

/** The client's error. A server's own 401 and 403 are about a credential of the gateway. */
function errorOf(
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
    const message = 'The results of other tools take all the memory that there is for them. The tool was run.';
    return new GatewayError('upstream_overloaded', message);
  }
  if (thrown instanceof McpTokenFault) return tokenless(thrown, name, [attempt]);
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
    return new GatewayError('result_too_large', `The result of the tool is larger than ${most} KiB. The tool was run.`);
  }
  if (thrown.kind === 'timeout') {
    return failed('upstream_timeout', `did not answer in time (at most ${timeoutSeconds} seconds)`, 'timeout');
  }
  const why = thrown.kind === 'connect' ? 'cannot be reached' : 'did not answer as the protocol asks';
  return failed('upstream_error', why, thrown.kind);
}
