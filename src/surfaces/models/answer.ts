import type { FastifyRequest } from 'fastify';
import { GatewayError } from '#/errors/gateway-error.ts';
import { withNearest } from '#/route/nearest-models.ts';
import { completed, type RouteDeps } from '#/route/plan.ts';
import { reachableModel, reachableModels } from '#/route/reachable.ts';
import type { AuthenticatedRequest } from '../endpoint/endpoint.ts';
import { chatProtocol } from '../chat/protocol.ts';
import { namesVersion } from '../messages/headers.ts';
import { messagesProtocol, speaksMessages } from '../messages/protocol.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';
import { chatModel, chatModels, vendorModel, vendorModels } from './shapes.ts';

/** In which a request for models is answered: the root path has two, told apart by a header. // spec 4.5.2, 9.2 */
export function modelsProtocol({ url, headers }: FastifyRequest): ClientProtocol {
  return speaksMessages(url) || namesVersion(headers) ? messagesProtocol : chatProtocol;
}

/** `GET /v1/models`: what this caller's policy and credentials can reach. Throws `invalid_request` for bad cursors. */
export function answerModels(
  { clientProtocol, query }: FastifyRequest,
  { key, startedAt }: AuthenticatedRequest,
  deps: RouteDeps,
): object {
  const models = reachableModels(key, { ...deps, at: startedAt });
  return clientProtocol === messagesProtocol
    ? vendorModels(models, query as Record<string, unknown>)
    : chatModels(models);
}

/**
 * `GET /v1/models/{provider}/{model}`, the slash raw or escaped; bare where calls may name it bare. // spec 4.5.1
 * Throws `model_not_found`.
 */
export function answerModel(
  { clientProtocol, params }: FastifyRequest,
  { key, startedAt }: AuthenticatedRequest,
  deps: RouteDeps,
): object {
  const asked = (params as { '*': string })['*'];
  const id = clientProtocol === messagesProtocol ? completed(asked, key.workload.organization) : asked;
  const discovery = { ...deps, at: startedAt };
  const model = reachableModel(id, key, discovery);
  if (!model) {
    const absent = new GatewayError('model_not_found', 'No model with this name is offered.', { param: 'model' });
    throw withNearest(absent, id, key, discovery);
  }
  return clientProtocol === messagesProtocol ? vendorModel(model) : chatModel(model);
}
