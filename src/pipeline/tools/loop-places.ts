import type { CallContext } from '#/call/call.ts';
import { GatewayError } from '#/errors/gateway-error.ts';

/** Requests whose tools run at once, in one process: each may last ten minutes. */
const MOST_OF_KEY = 32;
const MOST_OF_WORKLOAD = 64;
const RETRY_AFTER_MS = 5000;

/** Counts the requests of each key and workload whose tools the gateway runs. */
export class LoopPlaces {
  readonly #taken = new Map<string, number>();

  /** A place for one request, until it is disposed of. Throws `rate_limit_exceeded` where all are taken. */
  enter({ key }: Pick<CallContext, 'key'>): Disposable {
    const shares = [
      [`key ${key.id}`, MOST_OF_KEY],
      [`workload ${key.workload.id}`, MOST_OF_WORKLOAD],
    ] as const;
    for (const [name, most] of shares) {
      if ((this.#taken.get(name) ?? 0) < most) continue;
      const whose = name.startsWith('key') ? 'this API key' : 'this workload';
      const message = `${most} requests of ${whose} have the gateway run tools already. Wait until one of them is over.`;
      throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: RETRY_AFTER_MS });
    }
    for (const [name] of shares) this.#add(name, 1);
    let isOpen = true;
    return {
      [Symbol.dispose]: () => {
        if (isOpen) for (const [name] of shares) this.#add(name, -1);
        isOpen = false;
      },
    };
  }

  #add(name: string, more: number): void {
    const taken = (this.#taken.get(name) ?? 0) + more;
    if (taken > 0) this.#taken.set(name, taken);
    else this.#taken.delete(name);
  }
}
