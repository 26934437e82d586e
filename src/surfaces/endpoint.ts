import type { CallRequest, Surface } from '#/call/call.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import type { AuthenticatedRequest } from './authenticated-request.ts';
import type { ClientProtocol } from './client-protocol.ts';

/** A way into the pipeline: `POST` to one of its paths is a model call in one wire family. */
export interface Endpoint {
  readonly surface: Surface;
  readonly paths: readonly string[];
  readonly codec: Codec;
  readonly protocol: ClientProtocol;
  /** A request in the family's words, where part of it stands in the path. Absent: its body is all of it. */
  receive?(
    text: string,
    params: Readonly<Record<string, string | undefined>>,
    authenticated: AuthenticatedRequest,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly authenticated: AuthenticatedRequest }>;
}

/** A request at this endpoint as the pipeline takes it; `text`: its body. */
export function callRequestAt(
  { surface, codec }: Endpoint,
  { id, startedAt, key, snapshot, headers }: AuthenticatedRequest,
  text: string,
  signal: AbortSignal,
): CallRequest {
  return { id, startedAt, key, snapshot, surface, codec, text, headers, signal };
}
