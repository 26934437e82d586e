import type { Surface } from '#/call/call.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import type { ClientProtocol, RequestHeaders } from './client-protocol.ts';
import type { Snapshot, VirtualKeyConfig } from '#/config/snapshot.ts';

/** A caller and the configuration its call keeps to its end. */
export interface Caller {
  readonly key: VirtualKeyConfig;
  readonly snapshot: Snapshot;
  /** The access token that said who it is; absent: a key did. */
  readonly subject?: string;
  /** The person that it names, as rows name persons; absent: none. */
  readonly person?: string | undefined;
  /** When the access token ends, in milliseconds since the epoch. */
  readonly endsAt?: number;
}

/** A request whose caller is known and whose body is not read yet. */
export interface AuthenticatedRequest extends Caller {
  /** The id of headers, envelopes and the audit trail. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly headers: RequestHeaders;
  /** The endpoint; undefined for answers without the pipeline. */
  readonly endpoint: Endpoint | undefined;
}

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
