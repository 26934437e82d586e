import type { FastifyRequest } from 'fastify';
import { GatewayError } from '#/errors/gateway-error.ts';
import { withNearest } from '#/route/nearest-models.ts';
import { completed, type RouteDeps } from '#/route/plan.ts';
import { reachableModel, reachableModels } from '#/route/reachable.ts';
import type { Arrival } from '../arrival.ts';
import { chatVoice } from '../chat/voice.ts';
import { namesVersion } from '../messages/headers.ts';
import { messagesVoice, speaksMessages } from '../messages/voice.ts';
import type { Voice } from '../voice.ts';
import { chatModel, chatModels, vendorModel, vendorModels } from './shapes.ts';

/** In which a request for models is answered: the root path has two, told apart by a header. // spec 4.5.2, 9.2 */
export function modelsVoice({ url, headers }: FastifyRequest): Voice {
  return speaksMessages(url) || namesVersion(headers) ? messagesVoice : chatVoice;
}

/** `GET /v1/models`: what this caller's policy and credentials can reach. Throws `invalid_request` for bad cursors. */
export function answerModels({ voice, query }: FastifyRequest, { key, startedAt }: Arrival, deps: RouteDeps): object {
  const models = reachableModels(key, { ...deps, at: startedAt });
  return voice === messagesVoice ? vendorModels(models, query as Record<string, unknown>) : chatModels(models);
}

/**
 * `GET /v1/models/{provider}/{model}`, the slash raw or escaped; bare where calls may name it bare. // spec 4.5.1
 * Throws `model_not_found`.
 */
export function answerModel({ voice, params }: FastifyRequest, { key, startedAt }: Arrival, deps: RouteDeps): object {
  const asked = (params as { '*': string })['*'];
  const id = voice === messagesVoice ? completed(asked, key.workload.organization) : asked;
  const discovery = { ...deps, at: startedAt };
  const model = reachableModel(id, key, discovery);
  if (!model) {
    const absent = new GatewayError('model_not_found', 'No model with this name is offered.', { param: 'model' });
    throw withNearest(absent, id, key, discovery);
  }
  return voice === messagesVoice ? vendorModel(model) : chatModel(model);
}
