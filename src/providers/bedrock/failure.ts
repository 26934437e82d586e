import type { Incoming, ProviderFailure } from '#/ports/provider.ts';
import { isObject } from '#/wire/document/json.ts';
import { readFailure } from '../http/failure.ts';

interface Kind {
  readonly status: number;
  readonly retryable: boolean;
}

/** Kinds of failure by their names, without `Exception`. // wire-formats 1.2 */
const KINDS: Readonly<Record<string, Kind>> = {
  AccessDenied: { status: 403, retryable: false },
  ExpiredToken: { status: 403, retryable: false },
  UnrecognizedClient: { status: 403, retryable: false },
  Validation: { status: 400, retryable: false },
  Conflict: { status: 400, retryable: false },
  ServiceQuotaExceeded: { status: 400, retryable: false },
  ResourceNotFound: { status: 404, retryable: false },
  ModelTimeout: { status: 408, retryable: true },
  ModelError: { status: 424, retryable: false },
  ModelStreamError: { status: 424, retryable: true },
  Throttling: { status: 429, retryable: true },
  ModelNotReady: { status: 429, retryable: true },
  InternalServer: { status: 500, retryable: true },
  ServiceUnavailable: { status: 503, retryable: true },
};

/** Reads an error answer of Bedrock: its kind is in a header, its message in the body. */
export function readBedrockFailure(incoming: Pick<Incoming, 'status' | 'header'>, body: string): ProviderFailure {
  const read = readFailure(incoming, body);
  const name = (incoming.header('x-amzn-errortype') ?? typeIn(body))
    ?.split(/[:#]/)
    .find((part) => part.endsWith('Exception'));
  const kind = KINDS[name?.replace(/Exception$/, '') ?? ''];
  if (!kind) return read;
  return { ...read, retryable: kind.retryable, status: kind.status === incoming.status ? undefined : kind.status };
}

/** Some of its gateways name the kind in the body: `{"__type": "com.amazon.coral#ThrottlingException"}`. */
function typeIn(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) && typeof value['__type'] === 'string' ? value['__type'] : undefined;
  } catch {
    return undefined;
  }
}
