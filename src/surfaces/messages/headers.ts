import { GatewayError } from '#/errors/gateway-error.ts';
import type { RequestHeaders } from '../endpoint/client-protocol.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const FLAG = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Of a beta header. */
export const MOST_FLAGS = 32;

/**
 * The headers with the protocol's own under one name each, `anthropic-version` and `anthropic-beta`, whichever of their
 * two names was used. A version is never required; only its shape is checked. // spec 5.2, 9.2, 9.3
 * Throws `invalid_request`.
 */
export function messagesHeaders(headers: RequestHeaders): RequestHeaders {
  const { 'vendor-version': _version, 'vendor-beta': _beta, ...rest } = headers;
  const version = either(headers, 'version');
  const beta = either(headers, 'beta');
  if (version !== undefined && (typeof version !== 'string' || !DATE.test(version))) {
    throw new GatewayError('invalid_request', 'The version header must be a date: YYYY-MM-DD.', {
      param: 'anthropic-version',
    });
  }
  if (beta !== undefined && !areFlags([beta].flat().join(','))) {
    const message = `The beta header must be a list of at most ${MOST_FLAGS} flags of lower-case letters, digits, dashes, dots and underscores.`;
    throw new GatewayError('invalid_request', message, { param: 'anthropic-beta' });
  }
  return {
    ...rest,
    ...(version !== undefined && { 'anthropic-version': version }),
    ...(beta !== undefined && { 'anthropic-beta': beta }),
  };
}

/** Whether a request names the protocol's version, and so speaks it where two protocols share a path. // spec 4.5.2 */
export function namesVersion(headers: RequestHeaders): boolean {
  return headers['vendor-version'] !== undefined || headers['anthropic-version'] !== undefined;
}

/** A header that is forwarded says nothing but which features are asked for. */
export function areFlags(header: string): boolean {
  const flags = header.split(',').map((flag) => flag.trim());
  return flags.length <= MOST_FLAGS && flags.every((flag) => flag === '' || FLAG.test(flag));
}

function either(headers: RequestHeaders, name: 'version' | 'beta'): RequestHeaders[string] {
  const vendor = headers[`vendor-${name}`];
  const anthropic = headers[`anthropic-${name}`];
  if (vendor !== undefined && anthropic !== undefined && String(vendor) !== String(anthropic)) {
    const message = `vendor-${name} and anthropic-${name} are the same header and must not have different values.`;
    throw new GatewayError('invalid_request', message, { param: `anthropic-${name}` });
  }
  return anthropic ?? vendor;
}
