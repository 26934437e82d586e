import type { Socket } from 'node:net';
import * as protocol from './protocol.ts';
import type { Turns } from './turns.ts';

/** The one PostgreSQL backend that all sessions share. Both calls block until the backend has answered. */
export interface Backend {
  /** Runs protocol messages; `onData` receives the answers, in memory that is reused afterwards. */
  run(messages: Uint8Array, onData: (data: Uint8Array) => void): void;
  inTransaction(): boolean;
}

const IDLE_IN_TRANSACTION_MS = 60_000;

/**
 * One client. It has the backend from the first message of a cycle to its end (Query or Sync), and for as long as a
 * transaction is open. What it leaves behind in the backend is removed when its connection ends.
 */
export class Session {
  readonly #socket: Socket;
  readonly #backend: Backend;
  readonly #turns: Turns;
  /** Keeps the names of its prepared statements apart from others'. */
  readonly #prefix: string;
  readonly #statements = new Set<string>();
  #received: Buffer = Buffer.alloc(0);
  #state: 'starting' | 'ready' | 'ended' | 'gone' = 'starting';
  /** Ran messages without a Sync after them. */
  #unsynced = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, backend: Backend, turns: Turns, prefix: string) {
    this.#socket = socket;
    this.#backend = backend;
    this.#turns = turns;
    this.#prefix = prefix;
    socket.on('data', (data: Buffer) => {
      this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data]);
      this.proceed();
    });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      const started = this.#state === 'ready';
      this.#state = started ? 'ended' : 'gone';
      if (started) this.proceed();
      else this.#turns.pass(this);
    });
  }

  /** Does what there is to do, as far as it is its turn. */
  proceed(): void {
    try {
      for (let more = true; more;) {
        if (this.#state === 'starting') more = this.#start();
        else if (this.#state === 'ready') more = this.#runCycle();
        else more = this.#leave();
      }
    } catch {
      // Not a PostgreSQL client.
      this.#socket.end(protocol.fatal('08P01', 'malformed message'), () => this.#socket.destroy());
    }
  }

  #start(): boolean {
    const startup = protocol.readStartup(this.#received);
    if (startup === 'partial') return false;
    if (startup === 'cancel') {
      this.#socket.destroy();
      return false;
    }
    if (startup === 'encryption') {
      this.#received = this.#received.subarray(8);
      this.#socket.write('N');
      return true;
    }
    if (!this.#turns.take(this)) return false;
    this.#take(startup.bytes);
    this.#state = 'ready';
    this.#run(protocol.STARTUP);
    return true;
  }

  /** Runs the messages up to the next Query or Sync. False while they are not all there, or it is not its turn. */
  #runCycle(): boolean {
    const messages: Buffer[] = [];
    let at = 0;
    let type = '';
    while (!protocol.endsCycle(type)) {
      const bytes = protocol.messageLength(this.#received, at);
      if (bytes === undefined) return false;
      type = String.fromCharCode(this.#received[at]!);
      if (type === protocol.TERMINATE) {
        this.#socket.end();
        return false;
      }
      const { message, name } = protocol.renameStatement(this.#received.subarray(at, at + bytes), this.#prefix);
      if (name !== undefined) this.#statements.add(name);
      at += bytes;
      // Copied rows that are sent after the COPY has failed.
      if (!protocol.COPY_TYPES.includes(type)) messages.push(message);
    }
    // After a failed message the backend passes over everything up to a Sync, and would leave the query unanswered.
    if (type === protocol.QUERY && (messages.length > 1 || this.#unsynced))
      throw new RangeError('the Sync message is missing');
    messages.splice(type === protocol.QUERY ? messages.length : -1, 0, protocol.COPY_FAIL);
    if (!this.#turns.take(this)) return false;
    this.#take(at);
    this.#unsynced = type === protocol.FLUSH;
    this.#run(Buffer.concat(messages));
    return true;
  }

  #run(messages: Buffer): void {
    clearTimeout(this.#timer);
    this.#backend.run(messages, (data) => {
      if (this.#socket.writable) this.#socket.write(Buffer.from(data));
    });
    if (this.#unsynced || this.#backend.inTransaction()) {
      this.#timer = setTimeout(() => this.#socket.destroy(), IDLE_IN_TRANSACTION_MS).unref();
    } else {
      this.#turns.pass(this);
    }
  }

  /** Leaves the backend as it found it. */
  #leave(): boolean {
    if (this.#state === 'gone' || !this.#turns.take(this)) return false;
    clearTimeout(this.#timer);
    this.#state = 'gone';
    const discard = (): void => {};
    if (this.#unsynced) this.#backend.run(protocol.SYNC, discard);
    if (this.#backend.inTransaction()) this.#backend.run(protocol.simpleQuery('ROLLBACK'), discard);
    if (this.#statements.size > 0) {
      const closes = [...this.#statements].map((name) => protocol.closeStatement(name));
      this.#backend.run(Buffer.concat([...closes, protocol.SYNC]), discard);
    }
    this.#turns.pass(this);
    return false;
  }

  #take(bytes: number): Buffer {
    const taken = this.#received.subarray(0, bytes);
    this.#received = this.#received.subarray(bytes);
    return taken;
  }
}
