import type { buildConnector } from 'undici';
import { Pool, Turn } from './pool.ts';

const SWEEP_MS = 1_000;

/** The pools of all origins. */
export class Http1Client {
  readonly #pools = new Map<string, Pool>();
  readonly #connect: buildConnector.connector;
  readonly #turn = new Turn();
  #sweeper: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(connect: buildConnector.connector) {
    this.#connect = connect;
  }

  pool(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (!pool) {
      pool = new Pool(origin, this.#connect, this.#turn);
      if (this.#closed) {
        void pool.close();
        return pool;
      }
      this.#pools.set(origin, pool);
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    }
    return pool;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  #sweep(): void {
    const now = performance.now();
    for (const [origin, pool] of this.#pools) {
      pool.sweep(now);
      if (pool.empty) this.#pools.delete(origin);
    }
    if (this.#pools.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}
