import type { BadRequestShape } from '#/wire/hub/codec.ts';
import { GatewayError } from './gateway-error.ts';

/** A fault in a field of a request, as every surface reports it: a sentence. // spec 7.1, 4.4 */
export function shapeError({ message, param, status }: BadRequestShape): GatewayError {
  const sentence = message.endsWith('.') ? message : `${message}.`;
  if (status === 413) return new GatewayError('request_too_large', sentence, { param });
  return new GatewayError('invalid_request', sentence, { param, status });
}
