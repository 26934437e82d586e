import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CATALOGUE, type ErrorCode } from '#/errors/catalogue.ts';
import { asGatewayError } from '#/errors/gateway-error.ts';
import { refuseRemovedHeader } from '#/pipeline/admit.ts';
import { JOBS_PATH, type AnonymizeRequest } from '#/pipeline/anonymize.ts';
import type { JobService, JobResult, JobView } from '#/pipeline/jobs/job-service.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { authenticatedOf, numberReply } from '../endpoint/authenticated-request.ts';
import { chatProtocol } from '../chat/protocol.ts';

export interface JobSurfaceDeps {
  readonly jobs: JobService;
  readonly pipeline: Pick<Pipeline, 'refuse'>;
  /** Knows the caller, or throws. */
  readonly authenticate: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Public address of the gateway; undefined: addresses are given without a host. */
  readonly publicUrl: string | undefined;
}

type Receive = (
  request: FastifyRequest,
  reply: FastifyReply,
  take: (work: AnonymizeRequest) => Promise<void>,
) => Promise<void>;

const RESULTS = '/v1/documents/results';

/** Jobs that anonymize a document in the background, with results at addresses that need no key. // design 11 */
export function mountJobs(app: FastifyInstance, deps: JobSurfaceDeps, receive: Receive): void {
  const { jobs } = deps;
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    deps.authenticate(request, reply);
  };
  const knocking = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    deps.authenticate(request, reply);
    refuseRemovedHeader(request.headers);
  };
  app.post(JOBS_PATH, {
    onRequest,
    handler: (request, reply) => receive(request, reply, (work) => submit(work, reply, deps)),
  });
  app.get<{ Params: { id: string } }>(`${JOBS_PATH}/:id`, {
    onRequest: knocking,
    handler: async (request) => told(await jobs.find(request.params.id, authenticatedOf(request)), deps),
  });
  app.delete<{ Params: { id: string } }>(`${JOBS_PATH}/:id`, {
    onRequest: knocking,
    handler: async (request) => told(await jobs.cancel(request.params.id, authenticatedOf(request)), deps),
  });
  app.get<{ Params: { id: string; until: string; signature: string } }>(`${RESULTS}/:id/:until/:signature`, {
    onRequest: async (_request, reply) => {
      numberReply(reply, chatProtocol, Date.now());
    },
    handler: async ({ params }, reply) => sendResult(reply, await jobs.fetch(params)),
  });
}

async function submit(work: AnonymizeRequest, reply: FastifyReply, deps: JobSurfaceDeps): Promise<void> {
  try {
    const { id, state } = await deps.jobs.submit(work);
    reply.code(202).header('location', `${JOBS_PATH}/${id}`).send({ id, status: state });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    deps.pipeline.refuse(work, 'documents', error);
    throw error;
  }
}

/** A job in JSON; times in seconds since the epoch, as elsewhere on this surface. */
function told({ id, state, cancelling, progress, error, ...job }: JobView, { publicUrl = '' }: JobSurfaceDeps): object {
  return {
    id,
    status: state,
    ...(cancelling && { cancelling }),
    created_at: Math.floor(job.createdAt / 1000),
    expires_at: job.expiresAt === undefined ? null : Math.floor(job.expiresAt / 1000),
    progress: { phase: progress.phase, pages: progress.pages ?? null, pages_done: progress.pagesDone },
    error: error ? { ...error, type: CATALOGUE[error.code as ErrorCode]?.chatType ?? 'api_error' } : null,
    ...resultOf(job, publicUrl),
  };
}

function resultOf({ result }: Pick<JobView, 'result'>, base: string): object {
  if (!result) return { result_url: null };
  const { address, outcome } = result;
  const { filename, mediaType, pages, images, categories, downgraded, unscanned, mapping } = outcome;
  return {
    result_url: `${base}${RESULTS}/${address.id}/${address.until}/${address.signature}`,
    result_url_expires_at: Number(address.until),
    filename,
    content_type: mediaType,
    summary: { pages, images, categories, downgraded },
    ...(unscanned.length > 0 && { unscanned }),
    ...(mapping && { mapping }),
  };
}

/** A file to be saved: shown in a browser, a document of strangers would be a page of ours. */
function sendResult(reply: FastifyReply, { bytes, filename, mediaType }: JobResult): FastifyReply {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return reply
    .headers({
      'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
      'cache-control': 'private, no-store',
      'content-security-policy': 'sandbox',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .type(mediaType)
    .send(bytes);
}
