import type { PassedMethod } from '#/ports/provider.ts';

/** One HTTP request to a provider. */
export interface TransportRequest {
  readonly method: PassedMethod;
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces are sent as they come, with back-pressure and chunked framing. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /**
   * Milliseconds to the whole answer; with `idle`, to its first byte and between any two bytes either way, while all of it
   * may take as long as `TransportOptions` says.
   */
  readonly timeoutMs: number;
  readonly idle: boolean;
  readonly signal: AbortSignal;
}
