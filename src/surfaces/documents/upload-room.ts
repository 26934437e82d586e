import { GatewayError } from '#errors/gateway-error.ts';

/** Uploads beyond the room are told to come again. */
const RETRY_AFTER_MS = 2000;

/** Memory for documents that are being worked on: each is there several times over, so that few large ones fit. */
export class UploadRoom {
  readonly #bytes: number;
  #taken = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Takes room until it is disposed of. Throws `upstream_overloaded` when there is too little left. */
  enter(bytes: number): Disposable {
    if (this.#taken + bytes > this.#bytes) {
      throw new GatewayError('upstream_overloaded', 'Too many documents are being worked on; nothing was read.', {
        retryAfterMs: RETRY_AFTER_MS,
        shouldRetry: true,
      });
    }
    this.#taken += bytes;
    return { [Symbol.dispose]: () => void (this.#taken -= bytes) };
  }
}
