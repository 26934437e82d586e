import { GatewayError } from '#/errors/gateway-error.ts';

/** Headers that decide about a request, beside our own: two of one of them are two readings of the request. */
const ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'host',
  'x-api-key',
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'expect',
]);

/**
 * Throws `invalid_request` where a header that decides comes twice. `rawHeaders`: names and values in turn; `headers`: the
 * same by name, so that as many names as values tell at once that none repeats.
 */
export function requireOnce(rawHeaders: readonly string[], headers: object): void {
  if (Object.keys(headers).length * 2 === rawHeaders.length) return;
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!ONCE.has(name) && !name.startsWith('x-gw-')) continue;
    if (seen.has(name)) {
      throw new GatewayError('invalid_request', `The header ${name} must be sent only once.`, { param: name });
    }
    seen.add(name);
  }
}
