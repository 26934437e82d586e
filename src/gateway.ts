import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify';
import { asGatewayError, GatewayError } from '#/errors/gateway-error.ts';
import { refuseRemovedHeader, TIMEOUT_HEADER, timeoutHeader } from '#/pipeline/admit.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import type { RouteDeps } from '#/route/plan.ts';
import {
  authenticatedOf,
  authenticate,
  idOf,
  numberReply,
  type KeyStore,
} from '#/surfaces/endpoint/authenticated-request.ts';
import { IncomingBody, type BodyDeps } from '#/surfaces/body/incoming-body.ts';
import { hangUpOf } from '#/surfaces/endpoint/open-calls.ts';
import { strangerOf, type Stranger } from '#/surfaces/stranger.ts';
import { chatProtocol } from '#/surfaces/chat/protocol.ts';
import { allowOrigin, answerPreflight, isPreflight } from '#/surfaces/cors.ts';
import type { AuthenticatedRequest, Caller, Endpoint } from '#/surfaces/endpoint/endpoint.ts';
import { KnownPaths } from '#/surfaces/known-paths.ts';
import { mountDocuments, type DocumentDeps } from '#/surfaces/documents/anonymize.ts';
import { CLOUD_ENDPOINTS } from '#/surfaces/clouds/endpoints.ts';
import { CLOUD_COUNTS, type CountEndpoint } from '#/surfaces/clouds/count-tokens.ts';
import { ENDPOINTS } from '#/surfaces/endpoints.ts';
import { countTokens } from '#/surfaces/messages/count-tokens.ts';
import { mountMcp, type McpDeps } from '#/surfaces/mcp/mcp.ts';
import { messagesProtocol } from '#/surfaces/messages/protocol.ts';
import { answerModel, answerModels, modelsProtocol } from '#/surfaces/models/answer.ts';
import { ANY_PATH, mountAnyPath } from '#/surfaces/passthrough/any-path.ts';
import { mountPassthrough, type PassthroughDeps } from '#/surfaces/passthrough/passthrough.ts';
import { sendFailure } from '#/surfaces/endpoint/send-failure.ts';
import { serveCall, type CallDeps } from '#/surfaces/serve-call.ts';
import { answerUnknown, pathOf } from '#/surfaces/unknown.ts';
import type { ClientProtocol } from '#/surfaces/endpoint/client-protocol.ts';
import { protocolAt } from '#/surfaces/protocol-at.ts';

export interface GatewayDeps
  extends
    CallDeps,
    RouteDeps,
    BodyDeps,
    Omit<PassthroughDeps, 'authenticate'>,
    Omit<DocumentDeps, 'authenticate'>,
    Omit<McpDeps, 'authenticateFor'> {
  readonly keys: KeyStore;
  readonly pipeline: Pick<Pipeline, 'serve' | 'pass' | 'anonymize' | keyof McpDeps['pipeline']>;
  /** Told of every request that was refused for its key. */
  readonly onStranger: (stranger: Stranger) => void;
  /** How long such a request waits for its refusal. */
  readonly authDelayMs: number;
  /** Where a browser that lost its way is sent. // spec 1.4 */
  readonly docsUrl: string;
}

const BODY_TIMEOUT_MS = 120_000;
/** Longer than any model id in a path. */
const MAX_PARAM_LENGTH = 1024;

/** Where the vendor's tools see that somebody is there, before they have a key. HEAD only. // spec 4.1 */
const PROBES = ['/', '/anthropic', '/anthropic/', '/api/hello', '/anthropic/api/hello'];

/** The HTTP server: the surfaces at their paths, one way for every failure, and nothing else. */
export function buildGateway(deps: GatewayDeps): FastifyInstance {
  const app = Fastify({
    logger: false,
    // To the end of the body, should the pace of bodies not end it before.
    requestTimeout: BODY_TIMEOUT_MS,
    keepAliveTimeout: 75_000,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // Failures before there is a route, such as a path that is not a URL.
    frameworkErrors: (thrown, request, reply) => void fail(thrown, request, reply, deps),
  });
  // Nothing is read before its route reads it: strangers send nothing, and what is refused is not kept.
  app.removeAllContentTypeParsers();
  // The exact type of most bodies is looked up, any other is parsed.
  for (const type of ['application/json', '*'])
    app.addContentTypeParser(type, (_request, payload, done) => done(null, payload));
  // A client that waits to be asked for its body is asked when it is read.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
  app.decorateRequest('authenticated', undefined);
  app.decorateRequest('clientProtocol', undefined);
  app.setErrorHandler((thrown, request, reply) => fail(thrown, request, reply, deps));
  for (const path of PROBES) app.head(path, async (_request, reply) => reply.code(200).send());
  // What is mounted from here on is known to be served; probes are nobody's business.
  const paths = new KnownPaths();
  app.addHook('onRoute', ({ url, method }) => {
    // A path that only policy opens is known to nobody.
    if (url !== ANY_PATH) paths.add(url, method);
  });
  // There is no route for OPTIONS.
  app.setNotFoundHandler((request, reply) =>
    isPreflight(request, deps.keys.current())
      ? answerPreflight(request, reply)
      : answerUnknown(request, reply, { ...deps, paths }),
  );
  for (const endpoint of [...ENDPOINTS, ...CLOUD_ENDPOINTS]) mountEndpoint(app, endpoint, deps);
  mountCountTokens(app, deps);
  mountModels(app, deps);
  const mounted = {
    ...deps,
    authenticate: (request, reply) => admit(request, reply, deps, chatProtocol),
  } satisfies DocumentDeps;
  mountPassthrough(app, mounted);
  mountDocuments(app, mounted);
  mountMcp(app, {
    ...deps,
    authenticateFor: (request, reply, protocol, known) => admit(request, reply, deps, protocol, undefined, known),
  });
  mountAnyPath(app, mounted);
  return app;
}

function mountEndpoint(app: FastifyInstance, endpoint: Endpoint, deps: GatewayDeps): void {
  for (const path of endpoint.paths) {
    app.post(path, {
      onRequest: admitting(deps, endpoint.protocol, endpoint),
      handler: async (request, reply) => {
        const came = authenticatedOf(request);
        using body = new IncomingBody(request, reply, deps);
        await serveBody(request, reply, came, body, endpoint, deps);
        deps.pipeline.leave(came);
      },
    });
  }
}

/** Does not await the call, so that nothing holds the body's text to the end of the answer. */
async function serveBody(
  request: FastifyRequest,
  reply: FastifyReply,
  came: AuthenticatedRequest,
  body: IncomingBody,
  endpoint: Endpoint,
  deps: GatewayDeps,
): Promise<void> {
  // As text: inspection and routing edit it, nothing re-serialises it.
  const sent = await body.json();
  // A body may have come in while the process came to its end.
  if (deps.calls.isClosed) throw restarting(reply);
  const { text, authenticated } = endpoint.receive
    ? await endpoint.receive(sent, paramsOf(request), came, hangUpOf(reply).signal)
    : { text: sent, authenticated: came };
  return serveCall(reply, authenticated, text, endpoint, deps, body.keep);
}

const COUNTS: readonly CountEndpoint[] = [
  ...['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'].map((path) => ({
    path,
    protocol: messagesProtocol,
    tell: (count: object) => count,
  })),
  ...CLOUD_COUNTS,
];

function mountCountTokens(app: FastifyInstance, deps: GatewayDeps): void {
  for (const { path, protocol, receive, tell } of COUNTS) {
    app.post(path, {
      onRequest: admitting(deps, protocol),
      handler: async (request, reply) => {
        const authenticated = authenticatedOf(request);
        using body = new IncomingBody(request, reply, deps);
        const { signal } = hangUpOf(reply);
        const sent = await body.json();
        const { text } = receive ? await receive(sent, paramsOf(request), authenticated, signal) : { text: sent };
        return tell(await countTokens(text, { key: authenticated.key, signal }));
      },
    });
  }
}

function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return params as Record<string, string | undefined>;
}

function mountModels(app: FastifyInstance, deps: GatewayDeps): void {
  for (const path of ['/v1/models', '/anthropic/v1/models']) {
    const onRequest = admitting(deps, modelsProtocol);
    // Clients look with HEAD whether there is a list.
    app.get(path, {
      exposeHeadRoute: true,
      onRequest,
      handler: async (request) => answerModels(request, authenticatedOf(request), deps),
    });
    app.get(`${path}/*`, {
      exposeHeadRoute: true,
      onRequest,
      handler: async (request) => answerModel(request, authenticatedOf(request), deps),
    });
  }
}

/** `admit` as a hook; without a promise, since every request goes through it. */
function admitting(
  deps: GatewayDeps,
  protocol: ClientProtocol | ((request: FastifyRequest) => ClientProtocol),
  endpoint?: Endpoint,
): onRequestHookHandler {
  return (request, reply, done) => {
    try {
      admit(request, reply, deps, typeof protocol === 'function' ? protocol(request) : protocol, endpoint);
      // What comes to an endpoint is refused, and sealed, behind it.
      if (!endpoint) refuseRemovedHeader(request.headers);
    } catch (thrown) {
      return done(thrown as Error);
    }
    done();
  };
}

/** Nobody gets further without a key, once the process is ending, or where a call is known to be refused. */
function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
  protocol: ClientProtocol,
  endpoint?: Endpoint,
  known?: Caller,
): void {
  const { calls, keys, pipeline } = deps;
  if (calls.isLeaving) reply.header('connection', 'close');
  const authenticated = authenticate(request, reply, keys, protocol, endpoint, known);
  if (request.headers[TIMEOUT_HEADER] !== undefined) reply.headers(timeoutHeader(authenticated));
  if (request.headers.origin !== undefined) allowOrigin(request, reply, authenticated);
  if (calls.isClosed) throw restarting(reply);
  const refusal = endpoint && pipeline.turnAway(authenticated);
  if (refusal) throw refusal;
}

function restarting(reply: FastifyReply): GatewayError {
  reply.header('connection', 'close');
  return new GatewayError('server_restarting', 'The gateway is restarting. Send the request again.');
}

/** A failure outside the pipeline: sealed where a call was meant, and told in the client protocol of the path. */
async function fail(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
): Promise<FastifyReply> {
  const error = ofFastify(thrown);
  const { authenticated } = request;
  const protocol = request.clientProtocol ?? protocolOf(request);
  const { pipeline } = deps;
  if (authenticated) pipeline.leave(authenticated);
  if (authenticated?.endpoint) {
    const { surface, codec } = authenticated.endpoint;
    pipeline.refuse({ ...authenticated, surface, signal: AbortSignal.any([]) }, codec.family, error);
  }
  const id = idOf(reply) || numberReply(reply, protocol, Date.now());
  deps.onError(error, id);
  if (error.code === 'invalid_api_key') {
    deps.onStranger(strangerOf(request, id));
    if (deps.authDelayMs > 0) await sleep(deps.authDelayMs);
  }
  return sendFailure(reply, protocol, error, id);
}

function protocolOf(request: FastifyRequest): ClientProtocol {
  return protocolAt(pathOf(request));
}

/** Failures that Fastify finds before a surface is reached. */
function ofFastify(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const { statusCode } = thrown as Partial<FastifyError>;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new GatewayError('invalid_request', 'The request could not be read.');
  }
  return asGatewayError(thrown);
}
