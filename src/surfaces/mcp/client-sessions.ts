import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext } from '#/call/call.ts';
import type { ClientAsk, ClientSession } from '#/call/client-session.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import { LEGACY } from '#/wire/mcp/eras.ts';
import { RPC, RpcFault, type RpcMessage } from '#/wire/mcp/message.ts';
import { authenticatedOf, type KeyStore } from '../endpoint/authenticated-request.ts';
import type { Caller } from '../endpoint/endpoint.ts';
import type { LastingStreams } from './lasting-stream.ts';
import { takesEvents } from './read-request.ts';

/** Whose request it is. */
export interface SessionRequest {
  readonly request: FastifyRequest;
  readonly context: CallContext;
  /** Name of the server in the path. */
  readonly server: string | undefined;
  readonly pipeline: Pick<Pipeline, 'clients' | 'listenToServers'>;
}

const HEADER = 'mcp-session-id';

function callerOf({ request, context: { key, person, signal }, server }: SessionRequest) {
  const { subject } = authenticatedOf(request);
  return { key, person, signal, server, subject };
}

/**
 * The session that a request of a legacy client names. One that is no session of this caller is refused only where its
 * servers keep something in it; undefined: it has none.
 */
export function sessionOf(from: SessionRequest): ClientSession | undefined {
  const id = from.request.headers[HEADER];
  if (id === undefined) return undefined;
  const caller = callerOf(from);
  const session = typeof id === 'string' ? from.pipeline.clients.of(caller, id) : undefined;
  if (session || !from.pipeline.clients.isNeeded(caller)) return session;
  throw unknownSession();
}

function unknownSession(): GatewayError {
  const message = 'The session does not belong to this caller and path, or is too old: initialize again.';
  return new GatewayError('not_found', message, { param: HEADER });
}

/** Opens a session for a client that initializes; its id is a header of the answer. */
export async function openSession(params: JsonObject | undefined, reply: FastifyReply, from: SessionRequest) {
  const id = await from.pipeline.clients.open(callerOf(from), params?.['capabilities']);
  reply.header(HEADER, id);
  return from.pipeline.clients.isNeeded(callerOf(from));
}

/** Takes what a client says without waiting for an answer. */
export async function takeNotice(
  message: Extract<RpcMessage, { kind: 'notification' }>,
  from: SessionRequest,
): Promise<void> {
  const session = sessionOf(from);
  if (!session) return;
  const { clients } = from.pipeline;
  const { method, params } = message;
  if (method === 'notifications/cancelled') await clients.running.cancel(session, params?.['requestId']);
  if (method === 'notifications/roots/list_changed')
    clients.tell(callerOf(from), session, `{"jsonrpc":"2.0","method":"${method}"}`);
}

/** Takes what a client answers to a question of a server. */
export async function takeAnswer(document: WireDocument, from: SessionRequest): Promise<void> {
  const session = sessionOf(from);
  // A client without a session was asked nothing.
  if (!session) return;
  const { context, pipeline } = from;
  const { id: organization } = context.key.workload.organization;
  await pipeline.clients.asks.answer(document.body['id'], session, organization, { context, document });
}

const LEVELS: ReadonlySet<unknown> = new Set([
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
]);

/** Sets what the servers of a session log. Throws `RpcFault` without a session. */
export async function setLevel(params: JsonObject | undefined, from: SessionRequest): Promise<string> {
  const session = sessionOf(from);
  if (!session || session.servers.size === 0)
    throw new RpcFault(RPC.methodNotFound, 200, 'The gateway does not serve this method.');
  const level = params?.['level'];
  if (typeof level !== 'string' || !LEVELS.has(level))
    throw new RpcFault(RPC.invalidParams, 200, 'params.level must be a level of the protocol.');
  try {
    await from.pipeline.clients.request(callerOf(from), session, 'logging/setLevel', { level });
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('upstream_error', 'A server of the session does not set the level.', {}, { cause });
  }
  return '{}';
}

/** Ends a session. Throws without one. */
export function endSession(from: SessionRequest): void {
  if (from.request.headers[HEADER] === undefined) throw notAllowed('DELETE');
  const session = sessionOf(from);
  if (!session) throw unknownSession();
  from.pipeline.clients.end(callerOf(from), session);
}

/** Opens the stream on which the servers of a session say more than their answers. Throws without a session. */
export function openServerStream(
  reply: FastifyReply,
  from: SessionRequest,
  streams: LastingStreams,
  keys: Pick<KeyStore, 'current'>,
): void {
  const session = from.request.headers[HEADER] === undefined ? undefined : sessionOf(from);
  if (!session || from.pipeline.clients.at(callerOf(from), session).length === 0) throw notAllowed('GET');
  if (!takesEvents(from.request.headers.accept))
    throw new RpcFault(RPC.invalidRequest, 406, 'Accept must take text/event-stream.');
  const { context } = from;
  const current = () => currentOf(authenticatedOf(from.request), keys);
  // All that it keeps of policy and servers is of one workload: for another one, the client begins again.
  const isGood = () => current()?.key.workload === context.key.workload;
  const stream = streams.open(reply, context.key, isGood);
  const listener = {
    ...context,
    ...callerOf(from),
    era: { era: 'legacy', version: versionIn(from.request) },
    signal: stream.signal,
    current,
    write: (message: string) => stream.write(message),
    onAsk: (ask: ClientAsk) => stream.write(askMessage(ask)),
  } as const;
  // Not awaited: no call is open meanwhile that the end of the process would wait for.
  from.pipeline.listenToServers(listener, session).then(
    () => stream.end(),
    () => stream.end(),
  );
}

/** A question of a server, as its client is sent it. */
export function askMessage({ id, method, params }: ClientAsk): string {
  const about = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)}`;
  return params === undefined ? `${about}}` : `${about},"params":${params}}`;
}

/** Whether the caller of a stream is still good, and its workload the same. */
export function holds(caller: Caller, keys: Pick<KeyStore, 'current'>): boolean {
  return currentOf(caller, keys) !== undefined;
}

/** The caller of a stream as it is configured now; undefined: it is no longer good, or its workload is another one. */
function currentOf(
  { key, endsAt }: Caller,
  keys: Pick<KeyStore, 'current'>,
): Pick<Caller, 'key' | 'snapshot'> | undefined {
  if (endsAt !== undefined && endsAt <= Date.now()) return undefined;
  const snapshot = keys.current();
  const current = snapshot?.keysById.get(key.id);
  if (!snapshot || !current || current.revoked || current.workload.id !== key.workload.id) return undefined;
  if (current.expiresAt !== undefined && current.expiresAt <= Date.now()) return undefined;
  return { key: current, snapshot };
}

function versionIn({ headers }: FastifyRequest): string {
  const version = headers['mcp-protocol-version'];
  return typeof version === 'string' && LEGACY.includes(version as never) ? version : LEGACY[2];
}

function notAllowed(method: 'GET' | 'DELETE'): GatewayError {
  const message = `${method} is not supported at this path without a session that servers keep something in. Use POST.`;
  return new GatewayError('method_not_allowed', message);
}
