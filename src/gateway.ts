import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import { chatEnvelope, errorHeaders } from '#errors/envelopes.ts';
import { asGatewayError, GatewayError } from '#errors/gateway-error.ts';
import type { Ingress } from '#pipeline/call.ts';
import { arrive } from '#surfaces/arrival.ts';
import type { KeyStore } from '#surfaces/caller.ts';
import { chatCompletions, chatIngress, type ChatDeps } from '#surfaces/chat/completions.ts';

export interface GatewayDeps extends ChatDeps {
  readonly keys: KeyStore;
  /** Seals a request that was refused before its surface saw it. */
  readonly refuse: (ingress: Ingress, error: GatewayError) => Promise<void>;
  /** Where a browser that lost its way is sent. // spec 1.4 */
  readonly docsUrl: string;
  readonly bodyLimitBytes: number;
  /** True from the moment the process was told to end. */
  readonly draining: () => boolean;
}

const BODY_TIMEOUT_MS = 120_000;

/** The HTTP server: the surfaces at their paths, one way for every failure, and nothing else. */
export function buildGateway(deps: GatewayDeps): FastifyInstance {
  const app = Fastify({
    bodyLimit: deps.bodyLimitBytes,
    logger: false,
    // To the end of the body: a slow sender holds no memory for ever.
    requestTimeout: BODY_TIMEOUT_MS,
    keepAliveTimeout: 75_000,
    return503OnClosing: false,
  });
  // Wire routes keep the text: inspection and routing edit it, nothing re-serialises it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.decorateRequest('arrival', undefined);
  const refuseWhileDraining = (reply: FastifyReply): void => {
    if (!deps.draining()) return;
    reply.header('connection', 'close');
    throw new GatewayError('server_restarting', 'The gateway is restarting; send the request again.');
  };
  app.setErrorHandler(async (thrown, request, reply) => {
    const error = ofFastify(thrown);
    const { arrival } = request;
    if (arrival) await deps.refuse(chatIngress(request, arrival, AbortSignal.any([])), error);
    deps.onError(error, arrival?.id ?? '');
    return reply.code(error.status).headers(errorHeaders(error)).send(chatEnvelope(error));
  });
  app.setNotFoundHandler((request, reply) => {
    const browser = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
    return browser
      ? reply.redirect(deps.docsUrl, 302)
      : reply.code(404).type('text/plain; charset=utf-8').send('Not Found');
  });
  app.post('/v1/chat/completions', {
    onRequest: async (request, reply) => {
      arrive(request, reply, deps.keys);
      refuseWhileDraining(reply);
    },
    handler: async (request, reply) => {
      // A body may have come in while the process was told to end.
      refuseWhileDraining(reply);
      await chatCompletions(request, reply, request.arrival!, deps);
    },
  });
  return app;
}

/** Failures that Fastify finds before a surface is reached. */
function ofFastify(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const { code, statusCode } = thrown as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new GatewayError('request_too_large', 'The request body is too large.');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new GatewayError('unsupported_media_type', 'The request body must be application/json.');
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new GatewayError('invalid_request', 'The request could not be read.');
  }
  return asGatewayError(thrown);
}
