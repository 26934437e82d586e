import { ClientHungUp, type Call } from '#/call/call.ts';
import type { Relay } from './relay/relay.ts';

/** How long a hung-up stream is read on to its usage frame, where the workload wants exact bills. // design 2 */
const DRAIN_MS = 30_000;
/** How long any stream is, once its answer is complete and only its usage is missing. */
const USAGE_MS = 5000;

/**
 * When the provider is to be given up: with the client, or for a stream some time later, where the workload drains or
 * where only the usage of a complete answer is missing.
 */
export class UpstreamSignal {
  readonly signal: AbortSignal;
  relay: Relay | undefined;
  readonly #call: Call;
  readonly #late: AbortController | undefined;
  readonly #onAbort = (): void => this.#end();
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Call) {
    this.#call = call;
    if (call.ask.stream) {
      this.#late = new AbortController();
      call.signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    this.signal = this.#late?.signal ?? call.signal;
  }

  /** The client is gone and the provider is read on. */
  get draining(): boolean {
    return this.#call.signal.aborted && !this.signal.aborted;
  }

  release(): void {
    if (!this.#late) return;
    clearTimeout(this.#timer);
    this.#call.signal.removeEventListener('abort', this.#onAbort);
  }

  #end(): void {
    const wait = this.#call.signal.reason instanceof ClientHungUp ? this.#patience() : 0;
    if (wait === 0) this.#late?.abort();
    else this.#timer = setTimeout(() => this.#late?.abort(), wait).unref();
  }

  #patience(): number {
    if (this.#call.key.workload.onHangUp === 'drain') return DRAIN_MS;
    return this.relay?.awaitsUsage ? USAGE_MS : 0;
  }
}
