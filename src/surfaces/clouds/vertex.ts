import { GatewayError } from '#/errors/gateway-error.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { messagesProtocol } from '../messages/protocol.ts';
import { asMessages, type Addressed } from './hosted-body.ts';

const MODELS = '/v1/projects/:project/locations/:location/publishers/anthropic/models';

/** `rawPredict` of a Claude model, and its stream. */
export const VERTEX_DOOR: Endpoint = {
  surface: 'messages',
  // Its clients do not escape the slash of an id.
  paths: [`${MODELS}/*`],
  codec: messagesCodec,
  protocol: messagesProtocol,
  receive: (text, { '*': call = '' }, authenticated, signal) =>
    asMessages(text, addressed(call), authenticated, signal),
};

const SERVED = /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/./;

/** As `isBedrockPath`. */
export function isVertexPath(path: string): boolean {
  return SERVED.test(path);
}

/** The colon is the path's own, not a parameter's. */
export const VERTEX_COUNT = `${MODELS}/count-tokens::rawPredict`;

/** `<model>:<method>`. Throws `not_found` at any other method. */
function addressed(call: string): Addressed {
  const [, model = '', method] = /^(.+):(rawPredict|streamRawPredict)$/.exec(call) ?? [];
  if (method === undefined) {
    throw new GatewayError('not_found', 'Models are served at rawPredict and streamRawPredict only.');
  }
  return { cloud: 'vertex', model, stream: method === 'streamRawPredict' };
}
