import { GatewayError } from '#/errors/gateway-error.ts';

/** What the protocol has and the gateway has not. // spec 4.5.5 */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^(?:\/anthropic)?\/v1\/messages\/batches(?:\/|$)/, 'Message batches are not supported. Send ordinary calls.'],
  [/^\/anthropic\/v1\/files(?:\/|$)/, 'The files API is not supported. Send documents inline.'],
];

/** Why a path of the protocol is answered by 404. */
export function notServed(path: string): GatewayError {
  const why = UNSUPPORTED.find(([pattern]) => pattern.test(path))?.[1];
  return new GatewayError('not_found', why ?? 'This path does not exist, or does not support this method.');
}
