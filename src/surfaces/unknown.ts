import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '#/errors/gateway-error.ts';
import { numberReply } from './endpoint/authenticated-request.ts';
import type { KnownPaths } from './known-paths.ts';
import { notServed } from './messages/not-served.ts';
import { messagesProtocol } from './messages/protocol.ts';
import { sendFailure } from './endpoint/send-failure.ts';
import { protocolAt } from './protocol-at.ts';

/** The response header that names the path that was probably meant. */
const RIGHT_PATH = 'x-gw-right-path';

/**
 * An unknown path: the documentation for a browser, otherwise a plain 404. An unsupported method of a
 * known path: 405 with the supported ones. // spec 1.4, 4.1, 7.2
 */
export function answerUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  { docsUrl, paths }: { readonly docsUrl: string; readonly paths: KnownPaths },
): FastifyReply {
  const { method, headers } = request;
  const path = pathOf(request);
  // Clients look here for offers to sign in, and take anything but a plain no for one.
  if (path.startsWith('/.well-known/')) return answerNo(reply);
  if (method === 'GET' && (headers.accept ?? '').includes('text/html')) return reply.redirect(docsUrl, 302);
  const allowed = paths.methodsAt(path);
  const protocol = protocolAt(path);
  if (allowed.length > 0) {
    const told = `${method} is not supported at this path. Use ${allowed.join(' or ')}.`;
    const id = numberReply(reply.header('allow', allowed.join(', ')), protocol, Date.now());
    return sendFailure(reply, protocol, new GatewayError('method_not_allowed', told), id);
  }
  const meant = paths.meant(path);
  if (meant !== undefined) reply.header(RIGHT_PATH, meant);
  if (protocol === messagesProtocol) {
    return sendFailure(reply, protocol, notServed(path), numberReply(reply, protocol, Date.now()));
  }
  return answerNo(reply);
}

function answerNo(reply: FastifyReply): FastifyReply {
  return reply.code(404).type('text/plain; charset=utf-8').send('Not Found');
}

/** The path of a request, without its query. */
export function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}
