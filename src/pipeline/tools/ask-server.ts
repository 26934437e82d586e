import type { McpServerConfig } from '#/config/snapshot.ts';
import { ServerRestarting } from '#/call/call.ts';
import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { McpRequest, ToolCallRequest } from '#/call/tool-call.ts';
import { UpstreamSignal } from '#/dispatch/upstream-signal.ts';
import type { AttemptPermit } from '#/dispatch/upstream/upstreams.ts';
import { GatewayError, type AttemptReport } from '#/errors/gateway-error.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { NoRoomForResults, type InSession, type ListedTool, type ToolAnswer } from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { toolSlug } from '#/route/tools.ts';
import { NO_USAGE } from '#/wire/answer/usage.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { headersOf } from '#/wire/mcp/headers.ts';
import { ClientAsks } from './clients/client-asks.ts';
import { capabilitiesIn } from './clients/input-required.ts';
import { noticesFor, type Said } from './notices.ts';
import type { AskParts } from './tool-parts.ts';
import { attemptOf, circuitOpen, errorOf, outcomeOf } from './server-faults.ts';

/** A call that its server's circuit breaker lets through. */
export interface EnteredServer {
  readonly permit: AttemptPermit;
}

/** One call as it is sent. */
export interface Asking extends EnteredServer {
  readonly request: ToolCallRequest;
  readonly server: McpServerConfig;
  readonly listed: ListedTool;
  /** JSON source of the arguments, and the same parsed. */
  readonly sent: string | undefined;
  readonly sentValue: JsonObject;
  /** JSON source of members that answer what the server asked before, each followed by a comma. */
  readonly input: string;
  /** What answered it in all rounds: as the client wrote it, and as it was sent. JSON source. */
  readonly written: readonly string[];
  readonly answers: readonly string[];
  readonly inspection: Inspection | undefined;
  readonly timeoutMs: number;
  /** The server has the time that it and the workload give: a client that gives less learns nothing of it. */
  readonly fair: boolean;
}

/** What a server answered, with the facts that bill it. */
interface Answered {
  readonly answer: ToolAnswer;
  readonly facts: CallFacts;
}

/** The same, and what its client answered to it meanwhile. */
interface Given extends Answered {
  readonly asks: ClientAsks;
}

/** How a request is sent, whatever it asks for. */
interface SendOptions extends InSession {
  readonly meta: JsonObject;
  readonly onNotice?: (notice: WireDocument) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A request to a server, whatever it asks for. */
export interface Sending extends Pick<Asking, 'server' | 'permit' | 'timeoutMs' | 'fair'> {
  readonly request: McpRequest;
  /** What rows call it, after the server: the name of the tool. */
  readonly name: string;
  readonly said: Said;
  readonly send: (options: SendOptions) => Promise<ToolAnswer>;
}

/** As of a provider with the default settings, but after 10 attempts where that needs 20. */
const CIRCUIT_BREAKER = { failureRatioPercent: 50, minRequests: 10, openSeconds: 30 };

/** Asks the circuit breaker of a server. Whatever ends the call before the server is asked says nothing of the server. */
export function enterServer(
  { server }: Pick<Asking, 'server'>,
  { upstreams }: Pick<AskParts, 'upstreams'>,
): EnteredServer & { readonly release: Disposable } {
  const upstream = {
    provider: { config: { id: server.id, credentials: [], circuitBreaker: CIRCUIT_BREAKER } },
    model: '',
  };
  const permit = upstreams.enter(upstream);
  if (!permit) throw circuitOpen(server, upstreams.health(upstream).waitMs);
  return { permit, release: { [Symbol.dispose]: () => permit.end('unknown') } };
}

/** Calls a tool. Throws as `askOnce` does. */
export async function askServer(asking: Asking, parts: AskParts): Promise<Given> {
  const { request, server, listed, sent, sentValue } = asking;
  using asks = asksOf(asking, parts);
  const send: Sending['send'] = async (options) => {
    const answer = await parts.tools.servers.call(server, {
      tool: listed.name,
      arguments: sent,
      input: asking.input,
      capabilities: capabilitiesIn(request, server),
      headers: headersOf(listed.headers, sentValue),
      ...options,
      ...(request.onAsk && { onAsk: (ask) => asks.take(ask) }),
    });
    await asks.done();
    return answer;
  };
  return { ...(await askOnce({ ...asking, name: listed.name, said: asks, send }, parts)), asks };
}

/**
 * Asks a server, once: what a tool does must not be done twice. The facts bill a call that may have been run.
 * Throws the client's error in a `Stopped`.
 */
export async function askOnce(sending: Sending, parts: AskParts): Promise<Answered> {
  const { request, server, name, permit, timeoutMs } = sending;
  const started = performance.now();
  const stop = new UpstreamSignal(request);
  const notices = noticesFor(request, sending.said, parts);
  const report = (more: Partial<AttemptReport>): AttemptReport => ({
    provider: toolSlug(server),
    model: name,
    duration_ms: Math.round(performance.now() - started),
    host: new URL(server.url).host,
    jurisdiction: server.jurisdiction,
    sent: true,
    ...more,
  });
  try {
    const answer = await sending.send({
      meta: notices ? { ...request.meta, progressToken: request.id } : request.meta,
      ...(notices && { onNotice: (notice) => notices.take(notice) }),
      timeoutMs,
      signal: stop.signal,
      subject: request.subject,
      session: sessionFor(request, server),
    });
    await notices?.done();
    const { status = 200 } = answer;
    permit.end(status >= 500 ? 'failed' : 'served');
    return {
      answer,
      facts: { ...reached(sending), usage: NO_USAGE, isAnswering: true, attempts: [report({ status })] },
    };
  } catch (thrown) {
    permit.end(outcomeOf(thrown, sending.fair));
    const attempt = report(attemptOf(thrown));
    const facts = { attempts: [attempt], ...(attempt.sent === true && reached(sending)) };
    const reason: unknown = request.signal.reason;
    if (request.signal.aborted)
      throw new Stopped(reason instanceof ServerRestarting && attempt.sent ? givenUp() : reason, facts);
    // It has answered, whatever is wrong with the answer.
    const hasRun =
      thrown instanceof NoRoomForResults || (thrown instanceof UpstreamFault && thrown.kind === 'too_large');
    const billed = hasRun ? { usage: NO_USAGE, isAnswering: true } : {};
    throw new Stopped(errorOf(thrown, server, attempt), { ...facts, ...billed });
  } finally {
    stop.release();
  }
}

/** Unlike the usual error of a process that ends, it does not ask for the call again. */
function givenUp(): GatewayError {
  const message = 'The gateway restarts, and the server had not answered in time. The tool may have run.';
  return new GatewayError('server_restarting', message, { shouldRetry: false });
}

/** The client's own session with the server; one of this call alone, where it has none. */
function sessionFor({ session }: McpRequest, { name, sessions }: McpServerConfig): InSession['session'] {
  return sessions === 'per_client' ? (session?.servers.get(name) ?? 'alone') : undefined;
}

function asksOf(asking: Asking, parts: AskParts): ClientAsks {
  const { request, server, listed, sent, written, inspection } = asking;
  const sentSoFar = { arguments: sent ?? '{}', answers: asking.answers };
  const said = { arguments: request.arguments?.source, answers: written, sent: sentSoFar };
  return new ClientAsks({ request, server, tool: listed.name, said, inspection }, parts);
}

/** The server has the call, or may have it. */
function reached({ server, name }: Sending): CallFacts {
  const target = {
    provider: toolSlug(server),
    model: name,
    jurisdiction: server.jurisdiction,
    family: 'mcp' as const,
  };
  return { target, units: { calls: 1 } };
}
