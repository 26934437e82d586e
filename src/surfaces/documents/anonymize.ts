import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asGatewayError, type GatewayError } from '#/errors/gateway-error.ts';
import { ClientHungUp, type CallContext } from '#/call/call.ts';
import type { AnonymizedDocument, AnonymizeRequest } from '#/pipeline/anonymize.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { anonymizedAnswer } from '#/wire/documents/anonymized.ts';
import { authenticatedOf } from '../endpoint/authenticated-request.ts';
import { IncomingBody, type BodyDeps } from '../body/incoming-body.ts';
import { chatProtocol } from '../chat/protocol.ts';
import { hangUpOf, type OpenCalls } from '../endpoint/open-calls.ts';
import { sendFailure } from '../endpoint/send-failure.ts';
import { mountJobs, type JobSurfaceDeps } from './jobs.ts';
import { readUpload } from './upload.ts';

export interface DocumentDeps extends JobSurfaceDeps, BodyDeps {
  readonly calls: OpenCalls;
  readonly pipeline: Pick<Pipeline, 'turnAway' | 'leave' | 'anonymize' | 'refuse'>;
  readonly onError: (error: GatewayError, callId: string) => void;
  readonly bodyLimitBytes: number;
  /** Knows the caller, or throws. */
  readonly authenticate: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** `POST /v1/documents/anonymize`: a form in, JSON out; and jobs that do the same later. // spec 2.5, 4.1 */
export function mountDocuments(app: FastifyInstance, deps: DocumentDeps): void {
  app.post('/v1/documents/anonymize', {
    onRequest: async (request, reply) => {
      deps.authenticate(request, reply);
    },
    handler: (request, reply) =>
      receive(request, reply, deps, async (work) => answer(reply, await deps.pipeline.anonymize(work))),
  });
  mountJobs(app, deps, (request, reply, take) => receive(request, reply, deps, take));
}

/** Reads a document's form as far as there is room, hands it to `take`, and tells and seals why it could not. */
async function receive(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: DocumentDeps,
  take: (work: AnonymizeRequest) => Promise<void>,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  using _open = deps.calls.add(hangUp);
  using body = new IncomingBody(request, reply, deps);
  const authenticated = authenticatedOf(request);
  const { id, startedAt, key, snapshot, headers } = authenticated;
  const context: CallContext = { id, startedAt, key, snapshot, headers, surface: 'documents', signal: hangUp.signal };
  let inside = false;
  try {
    const refusal = deps.pipeline.turnAway(authenticated);
    if (refusal) throw refusal;
    body.expect();
    inside = true;
    await take({ ...context, upload: () => readUpload(body, deps.bodyLimitBytes) });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (!inside) deps.pipeline.refuse(context, 'documents', error);
    if (hangUp.signal.reason instanceof ClientHungUp) return;
    deps.onError(error, id);
    sendFailure(reply, chatProtocol, error, id);
  } finally {
    deps.pipeline.leave(authenticated);
  }
}

function answer(reply: FastifyReply, document: AnonymizedDocument): void {
  reply.headers(chatProtocol.limitHeaders(document.limits, Date.now()));
  if (document.unscanned.length > 0) reply.header('x-gw-unscanned', document.unscanned.join(', '));
  reply.type('application/json; charset=utf-8').send(JSON.stringify(anonymizedAnswer(document)));
}
