import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { CATALOGUE } from '#errors/catalogue.ts';
import { chatEnvelope, errorHeaders } from '#errors/envelopes.ts';
import { asGatewayError, GatewayError } from '#errors/gateway-error.ts';
import { chatCompletions, type ChatDeps } from '#surfaces/chat/completions.ts';

export interface GatewayDeps extends ChatDeps {
  /** Where a browser that lost its way is sent. // spec 1.4 */
  readonly docsUrl: string;
  readonly bodyLimitBytes: number;
  /** True from the moment the process was told to end. */
  readonly draining: () => boolean;
}

/** The HTTP server: the surfaces at their paths, one way for every failure, and nothing else. */
export function buildGateway(deps: GatewayDeps): FastifyInstance {
  const app = Fastify({
    bodyLimit: deps.bodyLimitBytes,
    logger: false,
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    return503OnClosing: false,
  });
  // Wire routes keep the text: inspection and routing edit it, nothing re-serialises it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', async (_request, reply) => {
    if (!deps.draining()) return;
    reply.header('connection', 'close');
    throw new GatewayError('server_restarting', 'The gateway is restarting; send the request again.');
  });
  app.setErrorHandler((thrown, _request, reply) => {
    const error = ofFastify(thrown);
    return reply.code(error.status).headers(errorHeaders(error)).send(chatEnvelope(error));
  });
  app.setNotFoundHandler((request, reply) => {
    const browser = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
    return browser ? reply.redirect(deps.docsUrl, 302) : reply.code(404).type('text/plain; charset=utf-8').send('Not Found');
  });
  app.post('/v1/chat/completions', (request, reply) => chatCompletions(request, reply, deps));
  return app;
}

/** Failures that Fastify finds before a surface is reached. */
function ofFastify(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const { code, statusCode } = thrown as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new GatewayError('request_too_large', 'The request body is too large.');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new GatewayError('unsupported_media_type', 'The request body must be application/json.');
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new GatewayError('invalid_request', 'The request could not be read.', { status: CATALOGUE.invalid_request.status });
  }
  return asGatewayError(thrown);
}
