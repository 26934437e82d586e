import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestFault } from '../http/form.ts';
import { inputOf } from './inputs.ts';
import { Unanswered, type ModelHost } from './model-host.ts';
import type { ModelMetrics } from './model-metrics.ts';

/** Of a request: far more than a prompt is, since large texts come in pieces. */
const MOST_BYTES = 16 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 2;

/**
 * One route a model: `POST /v1/names`. JSON in, JSON out; 400, 422 or 503 with a fault as documents have it. `GET /v1/models`
 * tells which can be asked. What a body names as its `lane` has a host of that name, which answers with the same model.
 */
export function serveModels(app: FastifyInstance, hosts: readonly ModelHost[], metrics: ModelMetrics): void {
  const models = hosts.filter(({ name, kind }) => name === kind);
  for (const host of models) {
    const lanes = new Map(hosts.filter(({ kind }) => kind === host.kind).map((lane) => [lane.name, lane]));
    app.post(`/v1/${host.kind}`, (request, reply) => serve(host, lanes, metrics, request, reply));
  }
  app.get('/v1/models', () => ({
    models: models.map(({ kind, installed, revision, fault }) => ({
      kind,
      installed,
      revision: revision ?? null,
      fault: fault ?? null,
    })),
  }));
}

async function serve(
  model: ModelHost,
  lanes: ReadonlyMap<string, ModelHost>,
  metrics: ModelMetrics,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new Error('the client left')));
  const input = inputOf(model.kind, await readBody(request.raw));
  if (!input) throw new RequestFault(`the request is not in the form of the ${model.kind} model`);
  const host = lanes.get(input.lane ?? model.name) ?? model;
  const began = performance.now();
  try {
    const output = await host.ask(input, gone.signal);
    metrics.answered(host.name, performance.now() - began);
    return await reply.type('application/json').send(JSON.stringify({ ...output, revision: host.revision }));
  } catch (error) {
    if (gone.signal.aborted) return reply.code(499).send();
    if (!(error instanceof Unanswered)) throw error;
    metrics.unanswered(host.name, error.why);
    const { why, message, question } = error;
    if (why !== 'too_long') void reply.header('retry-after', RETRY_AFTER_SECONDS);
    return reply.code(why === 'too_long' ? 422 : 503).send({ fault: { kind: why, message, question } });
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new RequestFault('the request is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
