import { hash } from 'node:crypto';
import { ClientCancelled } from '#/call/call.ts';
import type { ClientSession } from '#/call/client-session.ts';
import type { Neighbours } from '#/ports/neighbours.ts';

/** Calls of legacy clients that may be cancelled by a message, which may reach another process than the call. */
export class RunningCalls {
  readonly #running = new Map<string, AbortController>();
  readonly #neighbours: Pick<Neighbours, 'send'>;

  constructor(neighbours: Pick<Neighbours, 'send'>) {
    this.#neighbours = neighbours;
  }

  /** Registers a call until it is disposed of. `id`: of the client's message. */
  add({ name }: ClientSession, id: unknown, stop: AbortController): Disposable {
    const call = nameOf(name, id);
    this.#running.set(call, stop);
    return {
      [Symbol.dispose]: () => {
        if (this.#running.get(call) === stop) this.#running.delete(call);
      },
    };
  }

  /** Cancels a call wherever it runs, if it does. Never rejects: a client cannot count on it. */
  async cancel({ name }: ClientSession, id: unknown): Promise<void> {
    const call = nameOf(name, id);
    if (this.hear(call)) return;
    await this.#neighbours.send(JSON.stringify({ cancel: call })).catch(() => undefined);
  }

  /** Cancels a call of this process. False: it is not here. */
  hear(call: string): boolean {
    const stop = this.#running.get(call);
    stop?.abort(new ClientCancelled());
    return stop !== undefined;
  }
}

/** Of a session and a message id, which may be anything: neither is sent to others. */
function nameOf(session: string, id: unknown): string {
  return hash('sha256', JSON.stringify([session, id]), 'base64url');
}
