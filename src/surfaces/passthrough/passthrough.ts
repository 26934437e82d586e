import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asGatewayError, GatewayError } from '#errors/gateway-error.ts';
import type { Opening } from '#pipeline/call.ts';
import type { Passage, PassageAnswer, PassageBody } from '#pipeline/passage.ts';
import { chatVoice } from '../chat/voice.ts';
import type { Family } from '#wire/document.ts';
import type { Arrival } from '../arrival.ts';
import { hangUpOf } from '../hang-up.ts';
import type { OpenCalls } from '../open-calls.ts';
import { sendFailure } from '../send-failure.ts';
import { writeOut } from '../write-out.ts';
import { readForm } from './form-reader.ts';
import { OPERATIONS, type Operation } from './operations.ts';

export interface PassthroughDeps {
  readonly calls: OpenCalls;
  /** Why a request is turned away before it is read, if it is. */
  readonly turnAway: (arrival: Arrival) => GatewayError | undefined;
  readonly pass: (passage: Passage) => AsyncGenerator<PassageAnswer>;
  /** Seals a request that was refused before it was read. `family`: what its surface speaks. */
  readonly refuseUnread: (opening: Opening, family: Family, error: GatewayError) => Promise<void>;
  readonly onError: (error: GatewayError, callId: string) => void;
  readonly bodyLimitBytes: number;
  /** Knows the caller, or throws. */
  readonly arrive: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Between the provider and what the client sent: no slug has it, and no URL needs it escaped. */
const ID_SEPARATOR = '~';

/** Audio, images from images, video, files: passed on with their bytes as they are. // spec 1.3, 4.1 */
export function mountPassthrough(app: FastifyInstance, deps: PassthroughDeps): void {
  void app.register(async (scope) => {
    // Nothing is read before the caller is known and what is asked for says how.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    for (const operation of OPERATIONS) {
      scope.route({
        method: operation.method,
        url: operation.path,
        onRequest: async (request, reply) => {
          deps.arrive(request, reply);
        },
        handler: async (request, reply) => servePassage(request, reply, operation, deps),
      });
    }
  });
}

async function servePassage(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  deps: PassthroughDeps,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  using _open = deps.calls.add(hangUp);
  const arrival = request.arrival!;
  const { id, startedAt, key, snapshot, headers } = arrival;
  const opening = { id, startedAt, key, snapshot, headers, surface: operation.surface, signal: hangUp.signal };
  let inside = false;
  let opened = false;
  try {
    const refusal = deps.turnAway(arrival);
    if (refusal) throw refusal;
    const passage = await toPassage(request, opening, operation, deps.bodyLimitBytes);
    inside = true;
    for await (const answer of deps.pass(passage)) {
      if (answer.kind === 'head') {
        opened = true;
        reply.hijack();
        const own = reply.getHeaders() as Record<string, string>;
        reply.raw.writeHead(answer.status, {
          ...own,
          ...answer.headers,
          ...chatVoice.limitHeaders(answer.limits, Date.now()),
        });
      } else if (!(await writeOut(reply.raw, answer.bytes, hangUp.signal))) break;
    }
    reply.raw.end();
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (!inside) await deps.refuseUnread(opening, 'passthrough', error);
    deps.onError(error, arrival.id);
    // Bytes of a file cannot say that they are not all of it: the connection is cut instead.
    if (opened) reply.raw.destroy();
    else sendFailure(reply, chatVoice, error, arrival.id);
  }
}

async function toPassage(
  request: FastifyRequest,
  opening: Opening,
  { method, path, named, quantities, ownKeyOnly, prefixIds }: Operation,
  limit: number,
): Promise<Passage> {
  const { slug, id = '' } = splitId((request.params as { id?: string }).id);
  if (path.includes(':id') && !isProviderId(id)) {
    throw new GatewayError('invalid_request', 'The id is none that a provider has given out.', { param: 'id' });
  }
  const header = opening.headers['x-gw-provider'];
  const provider = named ? undefined : (slug ?? (typeof header === 'string' ? header : undefined));
  const below = path.slice('/v1'.length).replace(':id', encodeURIComponent(id)) + queryOf(request.url);
  const body = await readBody(request, limit);
  return { ...opening, method, path: below, provider, quantities, ownKeyOnly, prefixIds, body };
}

/** An id as the gateway gave it out: the provider's slug, then the provider's own id. */
function splitId(id: string | undefined): { readonly slug?: string; readonly id?: string } {
  if (id === undefined) return {};
  const at = id.indexOf(ID_SEPARATOR);
  return at < 0 ? { id } : { slug: id.slice(0, at), id: id.slice(at + 1) };
}

/** Letters, digits and what vendors put between them: it becomes a part of an address, and is read by nobody. */
function isProviderId(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,256}$/.test(id) && !/^\.+$/.test(id);
}

/** The query as it came, but for the prefix of ids that lists are read on from. */
function queryOf(url: string): string {
  const at = url.indexOf('?');
  if (at < 0) return '';
  const query = new URLSearchParams(url.slice(at + 1));
  for (const name of ['after', 'before']) {
    const cursor = query.get(name);
    if (cursor !== null) query.set(name, splitId(cursor).id ?? '');
  }
  return `?${query.toString()}`;
}

async function readBody(request: FastifyRequest, limit: number): Promise<PassageBody> {
  const type = request.headers['content-type'] ?? '';
  const { body } = request;
  if (!(body instanceof Readable)) return { kind: 'none' };
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (/^multipart\/form-data\b/i.test(type)) {
    const length = Number.isSafeInteger(announced) ? announced : undefined;
    return { kind: 'form', parts: readForm(body, type), length };
  }
  if (!/^application\/json\b/i.test(type)) {
    const message = 'The request body must be multipart/form-data or application/json.';
    throw new GatewayError('unsupported_media_type', message);
  }
  return { kind: 'json', text: await readText(body, limit) };
}

async function readText(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new GatewayError('request_too_large', 'The request body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
