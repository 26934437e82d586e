import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asGatewayError, GatewayError } from '#/errors/gateway-error.ts';
import type { CallContext, Surface } from '#/call/call.ts';
import type { PassthroughCall, PassthroughBody } from '#/call/passthrough-call.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { chatProtocol } from '../chat/protocol.ts';
import { ID_SEPARATOR } from '#/wire/kept/names.ts';
import { authenticatedOf } from '../endpoint/authenticated-request.ts';
import { IncomingBody, isJson, unsupported, type BodyDeps } from '../body/incoming-body.ts';
import { hangUpOf, type OpenCalls } from '../endpoint/open-calls.ts';
import { sendFailure } from '../endpoint/send-failure.ts';
import { writeOut } from '../endpoint/write-out.ts';
import { readForm } from './form-reader.ts';
import { OPERATIONS, type Operation } from './operations.ts';

export interface PassthroughDeps extends BodyDeps {
  readonly calls: OpenCalls;
  readonly pipeline: Pick<Pipeline, 'turnAway' | 'leave' | 'pass' | 'refuse'>;
  readonly onError: (error: GatewayError, callId: string) => void;
  /** Knows the caller, or throws. */
  readonly authenticate: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Audio, images from images, video, files: passed on with their bytes as they are. // spec 1.3, 4.1 */
export function mountPassthrough(app: FastifyInstance, deps: PassthroughDeps): void {
  for (const operation of OPERATIONS) {
    app.route({
      method: operation.method,
      url: operation.path,
      onRequest: async (request, reply) => {
        deps.authenticate(request, reply);
      },
      handler: async (request, reply) => {
        const read: ReadPassthrough = (context, body) => toPassthrough(request, context, operation, body);
        await servePassthrough(request, reply, operation.surface, read, deps);
      },
    });
  }
}

/** How the call of a request is made. */
export type ReadPassthrough = (context: CallContext, body: IncomingBody) => Promise<PassthroughCall>;

/** Takes a request through the pipeline, and its answer out as it comes. */
export async function servePassthrough(
  request: FastifyRequest,
  reply: FastifyReply,
  surface: Surface,
  read: ReadPassthrough,
  deps: PassthroughDeps,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  using _open = deps.calls.add(hangUp);
  using body = new IncomingBody(request, reply, deps);
  const authenticated = authenticatedOf(request);
  const { id, startedAt, key, snapshot, headers } = authenticated;
  const context = { id, startedAt, key, snapshot, headers, surface, signal: hangUp.signal };
  let inside = false;
  let opened = false;
  try {
    const refusal = deps.pipeline.turnAway(authenticated);
    if (refusal) throw refusal;
    const call = await read(context, body);
    inside = true;
    await deps.pipeline.pass(call, (answer) => {
      if (answer.kind === 'bytes') return writeOut(reply.raw, answer.bytes, hangUp.signal);
      opened = true;
      reply.hijack();
      const own = reply.getHeaders() as Record<string, string>;
      reply.raw.writeHead(answer.status, {
        ...own,
        ...answer.headers,
        ...chatProtocol.limitHeaders(answer.limits, Date.now()),
      });
      return true;
    });
    reply.raw.end();
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (!inside) deps.pipeline.refuse(context, 'passthrough', error);
    deps.onError(error, authenticated.id);
    // Bytes of a file cannot say that they are not all of it: the connection is cut instead.
    if (opened) reply.raw.destroy();
    else sendFailure(reply, chatProtocol, error, authenticated.id);
  } finally {
    deps.pipeline.leave(authenticated);
  }
}

async function toPassthrough(
  request: FastifyRequest,
  context: CallContext,
  { method, path, named, quantities, ownKeyOnly, prefixIds, objects, gate }: Operation,
  incoming: IncomingBody,
): Promise<PassthroughCall> {
  const { slug, id = '' } = splitId((request.params as { id?: string }).id);
  if (path.includes(':id') && !isProviderId(id)) {
    throw badId('id');
  }
  const provider = named && !gate ? undefined : (slug ?? providerOf(context.headers));
  const below = path.slice('/v1'.length).replace(':id', encodeURIComponent(id)) + queryOf(request.url, provider);
  const body = await readBody(incoming);
  const objectId = path.includes(':id') ? id : undefined;
  const common = { method, path: below, provider, gate, quantities, ownKeyOnly, prefixIds, objects, objectId, body };
  return { ...context, ...common };
}

/** The provider that a request names in its header. */
export function providerOf({ 'x-gw-provider': header }: CallContext['headers']): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

/** An id as the gateway gave it out: the provider's slug, then the provider's own id. */
function splitId(id: string | undefined): { readonly slug?: string; readonly id?: string } {
  if (id === undefined) return {};
  const at = id.indexOf(ID_SEPARATOR);
  return at < 0 ? { id } : { slug: id.slice(0, at), id: id.slice(at + 1) };
}

/** Letters, digits and the separators of vendors: it becomes a part of an address, and is not inspected. */
function isProviderId(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,256}$/.test(id) && !/^\.+$/.test(id);
}

function badId(param: string): GatewayError {
  const message = `${param} must be an id from an earlier answer: the provider, then letters, digits, '.', '_' and '-'.`;
  return new GatewayError('invalid_request', message, { param });
}

/** The query as it came, but for the prefix of ids that lists are read on from. Throws for one that is no id. */
function queryOf(url: string, provider: string | undefined): string {
  const at = url.indexOf('?');
  if (at < 0) return '';
  const query = new URLSearchParams(url.slice(at + 1));
  for (const name of ['after', 'before']) {
    const cursor = query.get(name);
    if (cursor === null) continue;
    const { slug, id = '' } = splitId(cursor);
    if (slug !== undefined && slug !== provider) throw badId(name);
    if (!isProviderId(id) || query.getAll(name).length > 1) throw badId(name);
    query.set(name, id);
  }
  return `?${query.toString()}`;
}

export async function readBody(body: IncomingBody): Promise<PassthroughBody> {
  if (!body.present) return { kind: 'none' };
  if (body.isForm) {
    const { length, keep } = body;
    return { kind: 'form', parts: readForm(body.form(), body.contentType, keep), length, keep };
  }
  if (!isJson(body.contentType)) throw unsupported('The request body must be multipart/form-data or application/json.');
  return { kind: 'json', text: await body.json() };
}
