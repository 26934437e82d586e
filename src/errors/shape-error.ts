import type { BadRequestShape } from '#/wire/hub/codec.ts';
import { GatewayError } from './gateway-error.ts';

/** What is wrong with a member of a request, as every surface tells it. // spec 7.1, 4.4 */
export function shapeError({ message, param, status }: BadRequestShape): GatewayError {
  if (status === 413) return new GatewayError('request_too_large', message, { param });
  return new GatewayError('invalid_request', message, { param, status });
}
