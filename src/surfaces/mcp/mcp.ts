import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asGatewayError, GatewayError, restarting } from '#/errors/gateway-error.ts';
import { errorHeaders } from '#/errors/envelopes.ts';
import { ClientHungUp, type CallContext } from '#/call/call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { unknownServer } from '#/pipeline/tools/find-tool.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { builtInNamed } from '#/pipeline/tools/built-in/list.ts';
import { BUILT_IN } from '#/route/tools/built-in.ts';
import { META_LOG_LEVEL } from '#/wire/mcp/eras.ts';
import { errorMessage, errorSource, resultMessage, RPC, RpcFault } from '#/wire/mcp/message.ts';
import { authenticatedOf, type KeyStore } from '../endpoint/authenticated-request.ts';
import { IncomingBody, type BodyDeps } from '../body/incoming-body.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';
import type { Caller } from '../endpoint/endpoint.ts';
import { letGo } from '../endpoint/let-go.ts';
import { hangUpOf, type OpenCalls } from '../endpoint/open-calls.ts';
import { sendFailure } from '../endpoint/send-failure.ts';
import { callerByToken, mountMetadata, protocolWith, type McpAccess } from './access.ts';
import { discovered, initialized, toolPage } from './lists.ts';
import { failureOf, mcpProtocol, toolFailureOf } from './protocol.ts';
import { readClientMessage, readToolParams, RefusedMessage, takesEvents, type ClientMessage } from './read-request.ts';
import { ToolStream } from './tool-stream.ts';

export interface McpDeps extends BodyDeps {
  readonly calls: OpenCalls;
  readonly pipeline: Pick<Pipeline, 'turnAway' | 'leave' | 'refuse' | 'callTool' | 'offerTools' | 'whyUnlisted'>;
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
    deps.authenticateFor(request, reply, protocol, access && (await callerByToken(access, request, deps.keys)));
    refuseOrigin(request, [
      ...deps.mcpOrigins,
      ...(authenticatedOf(request).key.workload.organization.corsOrigins ?? []),
    ]);
  };
  if (deps.access) mountMetadata(app, deps.access);
  for (const path of PATHS) {
    app.post(path, { onRequest, handler: (request, reply) => serve(request, reply, deps) });
    for (const method of ['GET', 'DELETE'] as const) {
      app.route({
        method,
        url: path,
        onRequest,
        handler: async (_request, reply) => {
          const error = new GatewayError('method_not_allowed', `${method} is not supported at this path. Use POST.`);
          return sendFailure(reply.header('allow', 'POST'), mcpProtocol, error, authenticatedOf(reply.request).id);
        },
      });
    }
  }
}

/** Any web page could make a browser call: only listed ones may. */
function refuseOrigin({ headers: { origin } }: FastifyRequest, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes(origin)) return;
  const message =
    'Web pages of this origin may not call: it is neither in GW_MCP_ORIGINS nor in corsOrigins of the Organization.';
  throw new GatewayError('permission_denied', message, { param: 'origin' });
}

/** What one request is served with. */
interface Serving {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly context: CallContext;
  /** Name of the server in the path. */
  readonly server: string | undefined;
  readonly deps: McpDeps;
}

async function serve(request: FastifyRequest, reply: FastifyReply, deps: McpDeps): Promise<void> {
  const hangUp = hangUpOf(reply);
  using _open = deps.calls.add(hangUp);
  using body = new IncomingBody(request, reply, deps);
  const { id, startedAt, key, snapshot, headers } = authenticatedOf(request);
  const context = { id, startedAt, key, snapshot, headers, surface: 'mcp' as const, signal: hangUp.signal };
  const { server } = request.params as { readonly server?: string };
  const serving: Serving = { request, reply, context, server, deps };
  let read: ClientMessage | undefined;
  try {
    if (deps.calls.isClosed) throw restarting();
    read = await readClientMessage(request, body, context);
    await answer(read, serving);
  } catch (thrown) {
    letGo(request.raw);
    if (hangUp.signal.reason instanceof ClientHungUp) return void reply.hijack().raw.end();
    sendFault(thrown, read, serving);
  }
}

/** Answers a message that cannot be served. */
function sendFault(thrown: unknown, read: ClientMessage | undefined, { reply, context, deps }: Serving): void {
  const idSource = read?.message.kind === 'request' ? read.message.idSource : undefined;
  reply.type('application/json; charset=utf-8');
  if (thrown instanceof RefusedMessage || thrown instanceof RpcFault) {
    const [fault, id] = thrown instanceof RpcFault ? [thrown, idSource] : [thrown.fault, thrown.idSource];
    return void reply.code(fault.status).send(errorMessage(id, errorSource(fault)));
  }
  const error = asGatewayError(thrown);
  deps.onError(error, context.id);
  const { status, text } = failureOf(error, context.id, idSource);
  reply.code(status).headers(headersFor(error)).send(text);
}

function headersFor(error: GatewayError): Record<string, string> {
  return { ...(error.limits && mcpProtocol.limitHeaders(error.limits, Date.now())), ...errorHeaders(error) };
}

/** Answers one message, by its method. */
async function answer(read: ClientMessage, serving: Serving): Promise<void> {
  const { message, era } = read;
  const { reply, deps } = serving;
  // The gateway sends clients no requests, and their notifications change nothing.
  if (message.kind !== 'request') return void reply.code(202).send();
  const { method, params, idSource } = message;
  if (method === 'tools/call') return callTool(read, idSource, serving);
  refuseAtOnce(serving);
  const isLegacy = era.era === 'legacy';
  const send = (result: string): void => {
    reply.type('application/json; charset=utf-8').send(resultMessage(idSource, result));
  };
  const servers = serversOf(serving);
  if (method === 'tools/list') return send(await listTools(servers, read, serving));
  if (isLegacy && method === 'initialize') return send(initialized(params, deps.implementation));
  if (isLegacy && method === 'ping') return send('{}');
  if (!isLegacy && method === 'server/discover') return send(discovered(deps.implementation));
  throw new RpcFault(RPC.methodNotFound, isLegacy ? 200 : 404, 'The gateway does not serve this method.');
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

/** Takes a call through the pipeline, and its result out. */
async function callTool(read: ClientMessage, idSource: string, serving: Serving): Promise<void> {
  const { request, reply, context, server, deps } = serving;
  const authenticated = authenticatedOf(request);
  const params = readToolParams(read);
  const refusal = deps.pipeline.turnAway(authenticated);
  const stream = new ToolStream(reply, takesEvents(request.headers.accept), deps.calls);
  try {
    if (refusal) {
      deps.pipeline.refuse(context, 'mcp', refusal);
      throw refusal;
    }
    const { name: tool, progressToken, meta, arguments: args, capabilities, input } = params;
    const wantsNotices = takesEvents(request.headers.accept) && (progressToken !== undefined || META_LOG_LEVEL in meta);
    const answered = await deps.pipeline.callTool({
      ...context,
      subject: authenticated.subject,
      server,
      tool,
      arguments: args,
      era: read.era,
      meta,
      capabilities,
      input,
      ...(wantsNotices && { onNotice: (notice) => stream.notice(notice, progressToken) }),
    });
    const write = answered.kind === 'result' ? resultMessage : errorMessage;
    const { text, status, limits, unscanned } = answered;
    stream.end(write(idSource, text), status, {
      ...mcpProtocol.limitHeaders(limits, Date.now()),
      ...(unscanned.length > 0 && { 'x-gw-unscanned': unscanned.join(', ') }),
    });
  } catch (thrown) {
    if (context.signal.reason instanceof ClientHungUp) return stream.abandon();
    const error = asGatewayError(thrown);
    deps.onError(error, context.id);
    const isOwn = builtInNamed({ server, tool: params.name }) !== undefined;
    const { status, text } = toolFailureOf(error, context.id, idSource, { era: read.era.era, isOwn });
    stream.end(text, status, headersFor(error));
  } finally {
    deps.pipeline.leave(authenticated);
  }
}
