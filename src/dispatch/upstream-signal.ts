import { ClientCancelled, ClientHungUp, type CallContext } from '#/call/call.ts';
import type { Relay } from './relay/relay.ts';

/** How long the answer to a client that hung up is read on, where the workload wants exact bills. // design 2 */
const DRAIN_MS = 30_000;
/** How long any stream is, once its answer is complete and only its usage is missing. */
const USAGE_MS = 5000;

/**
 * When the gateway stops the provider of a stream, or a tool: with the client, or some time later, where the workload drains
 * or where only the usage of a complete answer is missing.
 */
export class UpstreamSignal {
  relay: Relay | undefined;
  /** Of the client. */
  readonly #client: AbortSignal;
  readonly #drains: boolean;
  readonly #late = new AbortController();
  readonly #onAbort = (): void => this.#end();
  #timer: NodeJS.Timeout | undefined;

  constructor({ signal, key }: Pick<CallContext, 'signal' | 'key'>) {
    this.#client = signal;
    this.#drains = key.workload.onHangUp === 'drain';
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** The client is gone and the provider is read on. */
  get draining(): boolean {
    return this.#client.aborted && !this.signal.aborted;
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener('abort', this.#onAbort);
  }

  #end(): void {
    const reason: unknown = this.#client.reason;
    const wait = reason instanceof ClientHungUp && !(reason instanceof ClientCancelled) ? this.#patience() : 0;
    if (wait === 0) this.#late.abort();
    else this.#timer = setTimeout(() => this.#late.abort(), wait).unref();
  }

  #patience(): number {
    if (this.#drains) return DRAIN_MS;
    return this.relay?.awaitsUsage ? USAGE_MS : 0;
  }
}
