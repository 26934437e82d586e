import type { GatewayError } from '#/errors/gateway-error.ts';
import type { Limits } from '#/ports/limit-counters.ts';

/** Request headers, lower-case names. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How clients of a wire format receive the gateway's own messages: failures, ids, and signs of life. */
export interface ClientProtocol {
  /** Response headers that carry the call's id. */
  readonly idHeaders: readonly string[];
  /** The body of a failure. */
  failure(error: GatewayError, callId: string): object;
  /** Headers of a failure in addition to those of all surfaces. Absent: none. */
  failureHeaders?(error: GatewayError): Record<string, string>;
  /** A failure in mid-stream as a server-sent event. `last`: the last text written to the stream. // spec 6.1.5, 6.2 */
  failureEvent(error: GatewayError, callId: string, last: string): string;
  /** Response headers that tell how far the limits are used. `now`: milliseconds since the epoch. */
  limitHeaders(limits: Limits, now: number): Record<string, string>;
  /** What a stream says when the provider is silent. // spec 6.1.3, 6.2 */
  readonly keepalive: string;
  /** The request's headers as the pipeline knows them. Throws `invalid_request`. Absent: as they came. */
  readHeaders?(headers: RequestHeaders): RequestHeaders;
  /** How a stream is written. Absent: as server-sent events. */
  readonly framing?: Framing;
}

/** Another form of a stream. */
export interface Framing {
  readonly type: string;
  /** Whole server-sent events in this form. */
  frame(events: string): Uint8Array;
}
