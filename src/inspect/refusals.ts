import { GatewayError } from '#/errors/gateway-error.ts';

/** So many places are told of a refusal, and the rest counted. */
const MOST_TOLD = 5;

/**
 * A refusal by data protection: why, and where, never what. `why`: a part of a sentence. `places`: paths in the request.
 * // spec 4.3.5, 7.1
 */
export function protection(why: string, places: readonly string[] = []): GatewayError {
  const [param] = places;
  const more = places.length > MOST_TOLD ? ` and ${places.length - MOST_TOLD} more places` : '';
  const at = param === undefined ? '' : `, at ${places.slice(0, MOST_TOLD).join(', ')}${more}`;
  const message = `Refused by data protection: ${why}${at}. Nothing was sent.`;
  return new GatewayError('data_protection', message, { ...(param !== undefined && { param }) });
}

/** A failure over something at a place of the request, which its message then tells too: not every envelope has a member for it. */
export function placed(thrown: unknown, place: string | undefined): unknown {
  if (!(thrown instanceof GatewayError) || thrown.param !== undefined || place === undefined) return thrown;
  const { code, message, cause, ...details } = thrown;
  const { retryAfterMs, status, shouldRetry } = details;
  const told = `${message} It is at ${place}.`;
  const known = { param: place, status, shouldRetry, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return new GatewayError(code, told, known, { cause });
}
