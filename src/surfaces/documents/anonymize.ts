import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asGatewayError, type GatewayError } from '#errors/gateway-error.ts';
import { ClientHungUp, type Opening } from '#pipeline/call.ts';
import type { AnonymizedDocument, AnonymizeRequest } from '#pipeline/documents.ts';
import type { Family } from '#wire/document.ts';
import type { Arrival } from '../arrival.ts';
import { chatVoice } from '../chat/voice.ts';
import { hangUpOf } from '../hang-up.ts';
import type { OpenCalls } from '../open-calls.ts';
import { sendFailure } from '../send-failure.ts';
import { UploadRoom } from './upload-room.ts';
import { readUpload } from './upload.ts';

export interface DocumentDeps {
  readonly calls: OpenCalls;
  /** Why a request is turned away before it is read, if it is. */
  readonly turnAway: (arrival: Arrival) => GatewayError | undefined;
  readonly anonymize: (request: AnonymizeRequest) => Promise<AnonymizedDocument>;
  /** Seals a request that was refused before it was read. `family`: what its surface speaks. */
  readonly refuseUnread: (opening: Opening, family: Family, error: GatewayError) => Promise<void>;
  readonly onError: (error: GatewayError, callId: string) => void;
  readonly bodyLimitBytes: number;
  /** Knows the caller, or throws. */
  readonly arrive: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** So many of the largest documents are worked on at once; of smaller ones as many as are as large together. */
const LARGEST_AT_ONCE = 2;

/** `POST /v1/documents/anonymize`: a form in, JSON out. // spec 2.5, 4.1 */
export function mountDocuments(app: FastifyInstance, deps: DocumentDeps): void {
  const room = new UploadRoom(LARGEST_AT_ONCE * deps.bodyLimitBytes);
  void app.register(async (scope) => {
    // Nothing is read before there is room for it.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    scope.post('/v1/documents/anonymize', {
      onRequest: async (request, reply) => {
        deps.arrive(request, reply);
      },
      handler: async (request, reply) => serveDocument(request, reply, room, deps),
    });
  });
}

async function serveDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  room: UploadRoom,
  deps: DocumentDeps,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  using _open = deps.calls.add(hangUp);
  const arrival = request.arrival!;
  const { id, startedAt, key, snapshot, headers } = arrival;
  const opening: Opening = { id, startedAt, key, snapshot, headers, surface: 'documents', signal: hangUp.signal };
  let inside = false;
  try {
    const refusal = deps.turnAway(arrival);
    if (refusal) throw refusal;
    using _place = room.enter(lengthOf(request, deps.bodyLimitBytes));
    inside = true;
    const upload = () => readUpload(request.body, request.headers['content-type'] ?? '', deps.bodyLimitBytes);
    const document = await deps.anonymize({ ...opening, upload });
    reply.headers(chatVoice.limitHeaders(document.limits, Date.now()));
    if (document.unscanned.length > 0) reply.header('x-gw-unscanned', document.unscanned.join(', '));
    reply.type('application/json; charset=utf-8').send(answerOf(document));
  } catch (thrown) {
    const error = asGatewayError(thrown);
    // The answer would be lost on a connection that is reset.
    request.raw.resume();
    if (!inside) await deps.refuseUnread(opening, 'documents', error);
    if (hangUp.signal.reason instanceof ClientHungUp) return;
    deps.onError(error, id);
    sendFailure(reply, chatVoice, error, id);
  }
}

/** What is announced; a body of unknown length may have all there may be. */
function lengthOf({ headers }: FastifyRequest, limit: number): number {
  const announced = Number(headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(announced) ? Math.min(announced, limit) : limit;
}

/** // spec 2.5 */
function answerOf({ filename, mediaType, bytes, mapping, ...document }: AnonymizedDocument): string {
  const { pages, images, categories, downgraded } = document;
  return JSON.stringify({
    filename,
    content_type: mediaType,
    content_base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    summary: { pages, images, categories, downgraded },
    ...(mapping && { mapping }),
  });
}
