import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { DocumentFault } from '#/ports/documents.ts';
import type { Log } from '#/telemetry/log.ts';
import type { ModelHost } from './decide/model-host.ts';
import type { ModelMetrics } from './decide/model-metrics.ts';
import { serveModels } from './decide/routes.ts';
import { readForm, RequestFault } from './http/form.ts';
import type { Health } from './health.ts';
import type { JobMetrics } from './job-metrics.ts';
import { pageNewsFor } from './http/page-news.ts';
import type { JobQueue } from './jobs/queue.ts';
import { jobOf, VERBS, type Verb } from './engine/verbs.ts';
import type { WorkerPool } from './jobs/worker-pool.ts';

export interface ServerDeps {
  readonly queue: JobQueue;
  readonly pool: WorkerPool;
  readonly health: Health;
  readonly metrics: JobMetrics;
  readonly models: readonly ModelHost[];
  readonly modelMetrics: ModelMetrics;
  readonly log: Log;
  readonly maxBytes: number;
}

/** Until the whole of a request is there: it holds a place in the queue meanwhile. */
const REQUEST_MS = 120_000;
const UNAVAILABLE_MS = 2000;

/** The engine over HTTP: one route per verb, and endpoints for health and metrics. */
export function buildServer(deps: ServerDeps): FastifyInstance {
  const app = fastify({ logger: false, requestTimeout: REQUEST_MS, forceCloseConnections: 'idle' });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  // A connection that is kept open would keep the process from ending.
  app.addHook('onSend', async (_request, reply) => {
    if (deps.health.notReady() === 'draining') void reply.header('connection', 'close');
  });
  app.setErrorHandler((error, request, reply) => answerError(deps, error, request, reply));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  for (const verb of VERBS) app.post(`/v1/${verb}`, (request, reply) => serve(deps, verb, request, reply));
  serveModels(app, deps.models, deps.modelMetrics);
  app.get('/livez', () => 'ok\n');
  app.get('/readyz', (_request, reply) => {
    const reason = deps.health.notReady();
    const models = deps.models.map(({ name, fault }) => `model ${name}: ${fault ?? 'ok'}\n`);
    return reply.code(reason === undefined ? 200 : 503).send([`${reason ?? 'ok'}\n`, ...models].join(''));
  });
  app.get('/metrics', () => deps.metrics.text() + deps.modelMetrics.text());
  return app;
}

/** A place first, then the body: what there is no place for is not read. */
async function serve(deps: ServerDeps, verb: Verb, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new ClientGone()));
  using place = deps.queue.enter();
  const { options, file } = await readForm(request.raw, deps.maxBytes, gone.signal);
  const job = jobOf(verb, options, file);
  if (!job) throw new RequestFault('options does not match the verb');
  await place.turn(gone.signal);
  const began = performance.now();
  const news = pageNewsFor(request.headers, reply.raw);
  const outcome = await deps.pool.run(job, gone.signal, news?.note);
  news?.end();
  deps.metrics.ended(verb, outcome, performance.now() - began);
  if (outcome.kind === 'done') return await reply.type('application/json').send(outcome.json);
  if (outcome.cause !== undefined) deps.log.warn({ event: 'job.unforeseen', verb, cause: outcome.cause });
  throw outcome.fault;
}

/** The client left. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

function answerError(deps: ServerDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // A body that is not wanted is read and dropped: the answer would be lost on a connection that is reset.
  request.raw.resume();
  if (error instanceof ClientGone) return reply.code(499).send();
  if (error instanceof RequestFault) return reply.code(400).send({ error: error.message });
  if (!(error instanceof DocumentFault)) {
    const { statusCode } = error as { statusCode?: number };
    if (statusCode !== undefined && statusCode < 500) return reply.code(400).send({ error: 'not a request' });
    deps.log.error({ event: 'request.failed', err: error });
    return reply.code(500).send({ error: 'internal' });
  }
  const { kind, message, retryAfterMs } = error;
  if (kind === 'busy') deps.metrics.turnedAway();
  const passing = kind === 'busy' || kind === 'unavailable';
  if (passing) void reply.header('retry-after', Math.ceil((retryAfterMs ?? UNAVAILABLE_MS) / 1000));
  return reply.code(passing ? 503 : 422).send({ fault: { kind, message } });
}
