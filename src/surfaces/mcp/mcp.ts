import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asGatewayError, GatewayError, restarting } from '#/errors/gateway-error.ts';
import { ClientHungUp } from '#/call/call.ts';
import type { McpFeature, McpServerConfig } from '#/config/snapshot.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { unknownServer } from '#/pipeline/tools/find-tool.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { BUILT_IN } from '#/route/tools/built-in.ts';
import { errorMessage, errorSource, resultMessage, RPC, RpcFault } from '#/wire/mcp/message.ts';
import { authenticatedOf, type KeyStore } from '../endpoint/authenticated-request.ts';
import { IncomingBody, type BodyDeps } from '../body/incoming-body.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';
import type { Caller } from '../endpoint/endpoint.ts';
import { letGo } from '../endpoint/let-go.ts';
import { hangUpOf, type OpenCalls } from '../endpoint/open-calls.ts';
import { callerByToken, mountMetadata, protocolWith, type McpAccess } from './access.ts';
import {
  endSession,
  holds,
  openServerStream,
  openSession,
  setLevel,
  takeAnswer,
  takeNotice,
  type SessionRequest,
} from './client-sessions.ts';
import { LastingStreams } from './lasting-stream.ts';
import { listen } from './subscriptions.ts';
import { callTool, FEATURES, readOfServer } from './calls.ts';
import { featuresOf, type Features } from './features.ts';
import { isReadList, readPage, type ReadListMethod } from './list-reads.ts';
import { discovered, initialized, toolPage } from './lists.ts';
import { failureOf, headersFor, mcpProtocol } from './protocol.ts';
import { isReadMethod } from './read-params.ts';
import { readClientMessage, RefusedMessage, takesEvents, type ClientMessage } from './read-request.ts';

export interface McpDeps extends BodyDeps {
  readonly calls: OpenCalls;
  readonly pipeline: Pick<
    Pipeline,
    | 'turnAway'
    | 'leave'
    | 'refuse'
    | 'callTool'
    | 'offerTools'
    | 'whyUnlisted'
    | 'clients'
    | 'listenToServers'
    | 'personOf'
    | 'read'
    | 'listed'
    | 'offerResources'
    | 'lookThroughList'
  >;
  readonly onError: (error: GatewayError, callId: string) => void;
  /** Knows the caller by its key, unless it is known by its access token; or throws. */
  readonly authenticateFor: (
    request: FastifyRequest,
    reply: FastifyReply,
    protocol: ClientProtocol,
    known: Caller | undefined,
  ) => void;
  /** Absent: clients have virtual keys. */
  readonly access?: McpAccess | undefined;
  readonly keys: Pick<KeyStore, 'current' | 'mayHoldId'>;
  /** Origins of web pages that may call. */
  readonly mcpOrigins: readonly string[];
  /** What the gateway calls itself. */
  readonly implementation: JsonObject;
}

const PATHS = ['/v1/mcp', '/v1/mcp/:server'];

/** `POST /v1/mcp` for the tools of all servers, `POST /v1/mcp/{server}` for those of one. // spec 4.1 */
export function mountMcp(app: FastifyInstance, deps: McpDeps): void {
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { access } = deps;
    const protocol = access ? protocolWith(access, request) : mcpProtocol;
    request.clientProtocol = protocol;
    const personOf = (...names: Parameters<Pipeline['personOf']>): string => deps.pipeline.personOf(...names);
    const known = access && (await callerByToken(access, request, deps.keys, personOf));
    deps.authenticateFor(request, reply, protocol, known);
    refuseOrigin(request, [
      ...deps.mcpOrigins,
      ...(authenticatedOf(request).key.workload.organization.corsOrigins ?? []),
    ]);
  };
  if (deps.access) mountMetadata(app, deps.access);
  const streams = new LastingStreams(deps.calls);
  for (const url of PATHS) {
    for (const [method, answerIt] of METHODS) {
      const handler = (request: FastifyRequest, reply: FastifyReply) => serve(request, reply, deps, streams, answerIt);
      app.route({ method, url, onRequest, exposeHeadRoute: false, handler });
    }
  }
}

const METHODS = [
  ['POST', answerPosted],
  ['GET', answerGet],
  ['DELETE', answerDelete],
] as const;

/** Any web page could make a browser call: only listed ones may. */
function refuseOrigin({ headers: { origin } }: FastifyRequest, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes(origin)) return;
  const message =
    'Web pages of this origin may not call: it is neither in GW_MCP_ORIGINS nor in corsOrigins of the Organization.';
  throw new GatewayError('permission_denied', message, { param: 'origin' });
}

/** What one request is served with. */
interface Serving extends SessionRequest {
  readonly reply: FastifyReply;
  readonly deps: McpDeps;
  readonly hangUp: AbortController;
  readonly streams: LastingStreams;
  /** The message, once it is read. */
  read?: ClientMessage;
}

async function serve(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: McpDeps,
  streams: LastingStreams,
  answerIt: (serving: Serving) => Promise<void>,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  using _open = deps.calls.add(hangUp);
  const { id, startedAt, key, snapshot, headers, person } = authenticatedOf(request);
  const context = { id, startedAt, key, snapshot, headers, person, surface: 'mcp' as const, signal: hangUp.signal };
  const { server } = request.params as { readonly server?: string };
  const serving: Serving = { request, reply, context, server, deps, pipeline: deps.pipeline, hangUp, streams };
  try {
    if (deps.calls.isClosed) throw restarting();
    await answerIt(serving);
  } catch (thrown) {
    letGo(request.raw);
    if (hangUp.signal.reason instanceof ClientHungUp) return void reply.hijack().raw.end();
    sendFault(thrown, serving);
  }
}

/** Reads one message and answers it. */
async function answerPosted(serving: Serving): Promise<void> {
  const { request, reply, context, deps } = serving;
  using body = new IncomingBody(request, reply, deps);
  serving.read = await readClientMessage(request, body, context);
  await answer(serving.read, serving);
}

async function answerGet(serving: Serving): Promise<void> {
  refuseAtOnce(serving);
  openServerStream(serving.reply, serving, serving.streams, serving.deps.keys);
}

async function answerDelete(serving: Serving): Promise<void> {
  refuseAtOnce(serving);
  endSession(serving);
  serving.reply.code(204).send();
}

/** Answers a message that cannot be served. */
function sendFault(thrown: unknown, { read, reply, context, deps }: Serving): void {
  const idSource = read?.message.kind === 'request' ? read.message.idSource : undefined;
  reply.type('application/json; charset=utf-8');
  if (thrown instanceof RefusedMessage || thrown instanceof RpcFault) {
    const [fault, id] = thrown instanceof RpcFault ? [thrown, idSource] : [thrown.fault, thrown.idSource];
    return void reply.code(fault.status).send(errorMessage(id, errorSource(fault)));
  }
  const error = asGatewayError(thrown);
  deps.onError(error, context.id);
  const { status, text } = failureOf(error, context.id, idSource);
  if (error.code === 'method_not_allowed') reply.header('allow', 'POST');
  reply.code(status).headers(headersFor(error)).send(text);
}

/** Answers one message, by its method. */
async function answer(read: ClientMessage, serving: Serving): Promise<void> {
  const { message, era } = read;
  const { reply, deps } = serving;
  const isLegacy = era.era === 'legacy';
  if (message.kind !== 'request') {
    // Modern clients answer nothing, and their notifications change nothing.
    if (isLegacy) await takeMessage(read, serving);
    return void reply.code(202).send();
  }
  const { method, params, idSource } = message;
  if (method === 'tools/call') return callTool(read, idSource, serving);
  if (isReadMethod(method)) {
    requireFeature(FEATURES[method], serversOf(serving), read);
    return readOfServer(method, read, idSource, serving);
  }
  refuseAtOnce(serving);
  const send = (result: string): void => {
    reply.type('application/json; charset=utf-8').send(resultMessage(idSource, result));
  };
  const servers = serversOf(serving);
  if (method === 'tools/list') return send(await listTools(servers, read, serving));
  if (isReadList(method)) return send(await listReads(method, servers, read, serving));
  if (isLegacy && method === 'initialize') {
    const [tells, offered] = await Promise.all([openSession(params, reply, serving), features(servers, serving)]);
    return send(initialized(params, deps.implementation, offered, tells));
  }
  if (isLegacy && method === 'ping') return send('{}');
  if (isLegacy && method === 'logging/setLevel') return send(await setLevel(params, serving));
  if (!isLegacy && method === 'subscriptions/listen') return listenToLists(params, idSource, servers, serving);
  if (!isLegacy && method === 'server/discover')
    return send(discovered(deps.implementation, await features(servers, serving)));
  throw unserved(read, 'The gateway does not serve this method.');
}

/** What clients of a path can use. */
function features(servers: readonly McpServerConfig[], { server, context: { key }, deps }: Serving): Promise<Features> {
  const own = server === undefined || server === BUILT_IN;
  return featuresOf(servers, { own, federated: server === undefined }, key.workload, deps.pipeline);
}

function unserved({ era: { era } }: ClientMessage, message: string): RpcFault {
  return new RpcFault(RPC.methodNotFound, era === 'legacy' ? 200 : 404, message);
}

/** Throws for a feature that no server of a path offers: its capabilities say the same. */
function requireFeature(feature: McpFeature, servers: readonly McpServerConfig[], read: ClientMessage): void {
  if (servers.some(({ offer }) => offer.has(feature))) return;
  throw unserved(read, `No MCP server offers ${feature} here: see offer of the MCPServer.`);
}

/** One page of prompts, resources or templates. */
async function listReads(
  method: ReadListMethod,
  servers: readonly McpServerConfig[],
  read: ClientMessage,
  { server, context, reply, deps: { pipeline } }: Serving,
): Promise<string> {
  requireFeature(method === 'prompts/list' ? 'prompts' : 'resources', servers, read);
  const { message, era } = read;
  const cursor = message.kind === 'request' ? message.params?.['cursor'] : undefined;
  const question = { servers, federated: server === undefined, cursor, era: era.era, context };
  const { text, unavailable } = await readPage(method, question, pipeline);
  if (unavailable.length > 0) reply.header('x-gw-unavailable', unavailable.join(', '));
  return text;
}

/** Takes what a legacy client says without waiting for an answer. */
async function takeMessage({ message, document }: ClientMessage, serving: Serving): Promise<void> {
  if (message.kind === 'notification') return takeNotice(message, serving);
  refuseAtOnce(serving);
  await takeAnswer(document, serving);
}

/** Says when the lists of these servers change, as the workload then sees them. */
function listenToLists(
  params: JsonObject | undefined,
  idSource: string,
  servers: readonly McpServerConfig[],
  { request, reply, context: { key }, server, deps, streams }: Serving,
): void {
  if (!takesEvents(request.headers.accept))
    throw new RpcFault(RPC.invalidRequest, 406, 'Accept must take text/event-stream.');
  const own = server === undefined || server === BUILT_IN;
  const offer = () => {
    const workload = deps.keys.current()?.keysById.get(key.id)?.workload ?? key.workload;
    const reached = [...workload.mcpServers.values()];
    const names = new Set(servers.map(({ name }) => name));
    const meant = server === undefined ? reached : reached.filter(({ name }) => names.has(name));
    return deps.pipeline.offerTools(meant, workload, own);
  };
  const isGood = () => holds(authenticatedOf(request), deps.keys);
  listen(params, reply, streams, { key, idSource, isGood, offer });
}

/** Throws for a workload whose calls have just been refused: what only looks is not counted, and is refused like a call. */
function refuseAtOnce({ request, deps: { pipeline } }: Serving): void {
  const authenticated = authenticatedOf(request);
  const refusal = pipeline.turnAway(authenticated);
  pipeline.leave(authenticated);
  if (refusal) throw refusal;
}

/**
 * The servers that a path stands for; none for the gateway itself. Throws `not_found` for one that is not there, or not
 * this workload's.
 */
function serversOf({ server, context: { key } }: Serving): readonly McpServerConfig[] {
  const { mcpServers } = key.workload;
  if (server === undefined) return [...mcpServers.values()];
  if (server === BUILT_IN) return [];
  const named = mcpServers.get(server);
  if (!named) throw unknownServer();
  return [named];
}

/** One page of tools. Fails, rather than send an empty list, where no server answers, nor the gateway itself. */
async function listTools(
  servers: readonly McpServerConfig[],
  { message, era }: ClientMessage,
  { server, context, reply, deps }: Serving,
): Promise<string> {
  const own = server === undefined || server === BUILT_IN;
  const offer = await deps.pipeline.offerTools(servers, context.key.workload, own);
  const { unavailable, sources } = offer;
  if (sources === 0) throw nothingOpen(server);
  if (unavailable.length === sources) throw nobodyAnswers(servers, sources, deps);
  if (unavailable.length > 0) reply.header('x-gw-unavailable', unavailable.join(', '));
  const cursor = message.kind === 'request' ? message.params?.['cursor'] : undefined;
  return toolPage(offer, server === undefined, cursor, era.era);
}

function nothingOpen(server: string | undefined): GatewayError {
  const message =
    server === undefined
      ? 'No MCP server is open to this workload. Add an MCPServer.'
      : 'No tool of the gateway is open to this workload: its policy allows none, or this installation has no inference engine.';
  return new GatewayError('permission_denied', message);
}

function nobodyAnswers(servers: readonly McpServerConfig[], sources: number, { pipeline }: McpDeps): GatewayError {
  const [first] = servers;
  if (sources === 1 && first) return pipeline.whyUnlisted(first);
  const message = first ? 'None of the MCP servers answers.' : 'The inference engine of the gateway does not answer.';
  return new GatewayError('upstream_overloaded', message, { retryAfterMs: 5000 });
}
