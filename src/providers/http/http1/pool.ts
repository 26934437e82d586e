import type { buildConnector } from 'undici';
import { Connection, type ConnectionOwner, type Exchange } from './connection.ts';
import { CutOff } from './broken-answer.ts';

/** How long an idle connection is kept, where the server does not say. */
const IDLE_MS = 60_000;
/** And at most, whatever it says. */
const LONGEST_IDLE_MS = 600_000;
/** A server that says when it closes an idle connection is not asked on it so shortly before. */
const MARGIN_MS = 2_000;

/** The connections to one origin. As many as there are exchanges at once; the one last used goes first. */
export class Pool implements ConnectionOwner {
  readonly authority: string;
  readonly #origin: { hostname: string; host: string; protocol: string; port: string };
  readonly #connect: buildConnector.connector;
  readonly #idle: Connection[] = [];
  /** What waits for the next round of the event loop: each begins its exchange then, or rests. */
  #due: { readonly connection: Connection; readonly exchange: Exchange | undefined }[] = [];
  readonly #all = new Set<Connection>();
  readonly #waiting = new Set<Exchange>();
  #closed = false;
  readonly #run = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const { connection, exchange } of due) {
      if (exchange && !exchange.over) {
        if (connection.gone) this.ask(exchange);
        else connection.begin(exchange);
      } else if (!connection.gone) this.#idle.push(connection);
    }
  };

  constructor(origin: string, connect: buildConnector.connector) {
    const { hostname, host, protocol, port } = new URL(origin);
    this.authority = host;
    this.#origin = { hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port };
    this.#connect = connect;
  }

  get empty(): boolean {
    return this.#all.size === 0 && this.#waiting.size === 0;
  }

  /**
   * Finds a connection for an exchange. An idle one waits for one round of the event loop first: bytes that arrived
   * meanwhile, an end or an answer to nothing, is seen before the request is written. Once it is, it is not written again.
   */
  ask(exchange: Exchange): void {
    for (let connection = this.#closed ? undefined : this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.gone) continue;
      if (connection.idleUntil <= performance.now()) {
        connection.drop();
        continue;
      }
      if (this.#due.push({ connection, exchange }) === 1) setImmediate(this.#run);
      return;
    }
    this.#open(exchange);
  }

  onFree(connection: Connection, keptMs: number | undefined): void {
    const ms = keptMs === undefined ? IDLE_MS : Math.min(keptMs - MARGIN_MS, LONGEST_IDLE_MS);
    if (ms <= 0) return connection.drop();
    connection.idleUntil = performance.now() + ms;
    // A server that closes although it said that it would not does so at once.
    if (this.#due.push({ connection, exchange: undefined }) === 1) setImmediate(this.#run);
  }

  onGone(connection: Connection): void {
    this.#all.delete(connection);
  }

  /** Other idle connections have likely ended too: a retry must not get one of them. */
  onStale(): void {
    for (const connection of this.#idle.splice(0)) connection.drop();
  }

  /** Closes connections that were idle for too long. */
  sweep(now: number): void {
    const before = this.#idle.splice(0);
    for (const connection of before) {
      if (connection.gone) continue;
      if (connection.idleUntil > now) this.#idle.push(connection);
      else connection.drop();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const error = new CutOff('ERR_TRANSPORT_CLOSED', 'the gateway gives up its connections');
    const closed = [...this.#all].map((connection) => connection.closed());
    for (const connection of this.#all) connection.cut(error);
    for (const exchange of this.#waiting) exchange.onError(error);
    this.#waiting.clear();
    await Promise.all(closed);
  }

  #open(exchange: Exchange): void {
    if (this.#closed)
      return exchange.onError(new CutOff('ERR_TRANSPORT_CLOSED', 'the gateway has given up its connections'));
    this.#waiting.add(exchange);
    this.#connect(this.#origin, (error, socket) => {
      const waited = this.#waiting.delete(exchange);
      if (error) return exchange.onError(error);
      if (!waited) return void socket.destroy();
      const connection = new Connection(socket, this);
      this.#all.add(connection);
      if (!exchange.over) return connection.begin(exchange);
      socket.unref();
      connection.idleUntil = performance.now() + IDLE_MS;
      this.#idle.push(connection);
    });
  }
}

const SWEEP_MS = 1_000;

/** The pools of all origins. */
export class Http1Client {
  readonly #pools = new Map<string, Pool>();
  readonly #connect: buildConnector.connector;
  #sweeper: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(connect: buildConnector.connector) {
    this.#connect = connect;
  }

  pool(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (!pool) {
      pool = new Pool(origin, this.#connect);
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
