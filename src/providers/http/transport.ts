import { type Incoming, type PassedMethod, AnswerWithoutEnd, UpstreamFault } from '#/ports/provider.ts';
import { guardedConnector } from './guarded-connector.ts';
import { type Pool, Http1Client } from './http1/pool.ts';
import { requestHead, type RequestHead, framedBy } from './http1/request-head.ts';
import { classify } from './transport-fault.ts';
import type { AnswerHead } from './http1/answer-head.ts';
import { BodySender } from './http1/body-sender.ts';
import type { Connection, Exchange } from './http1/connection.ts';

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

/** Sends requests over kept-alive connections. */
export interface Transport {
  /** Resolves when the answer's head is there, whatever its status. Rejects with `UpstreamFault`. */
  send(request: TransportRequest): Promise<Incoming>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

export interface TransportOptions {
  /** How long an answer that comes in pieces may take to its end; by default an hour. */
  readonly streamSeconds?: number;
  /** Ports of this machine that are not connected to, looked at for each new connection; absent: none. */
  readonly ownPorts?: () => ReadonlySet<number>;
}

/** A transport of its own pool per origin; no pipelining, no redirects, no retries. */
export function createTransport({ streamSeconds = 3600, ownPorts }: TransportOptions = {}): Transport {
  // Ours are the only timeouts but that of connecting: they know streams from buffered answers.
  const client = new Http1Client(
    guardedConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS, ...(ownPorts && { ownPorts }) }),
  );
  return {
    send(request) {
      let pool: Pool;
      let head: RequestHead;
      try {
        pool = client.pool(request.origin);
        head = requestHead(request, pool.authority);
      } catch (error) {
        const fault = classify(error as Error, false);
        fault.sent = false;
        return Promise.reject(fault);
      }
      const exchange = new TransportExchange(request, head, streamSeconds);
      pool.ask(exchange);
      return exchange.head;
    },
    close: () => client.close(),
  };
}

/** Bytes that wait for their reader before no more are taken from the connection. */
const HIGH_WATER = 256 * 1024;
/** Longer texts are encoded as they are sent: all at once takes long, and nothing else is done meanwhile. */
const PIECE = 256 * 1024;

/** One request and its answer: what a connection serves on one side, `Incoming` on the other. */
class TransportExchange implements Exchange, Incoming {
  readonly head: Promise<Incoming>;
  readonly method: string;
  status = 0;
  over = false;
  readonly #idle: boolean;
  readonly #signal: AbortSignal;
  /** The request until it is written: while the answer is awaited, its body is not needed. */
  #unsent: { readonly head: RequestHead; readonly body: TransportRequest['body'] } | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #end: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.#fail(new UpstreamFault('aborted', 'the request was aborted'));
  readonly #settleHead: { resolve(incoming: Incoming): void; reject(fault: UpstreamFault): void };
  #answerHead: AnswerHead | undefined;
  /** Its own until the answer ends, and then no more. */
  #connection: Connection | undefined;
  #begun = false;
  #paused = false;
  #sender: BodySender | undefined;
  #queue: Buffer[] = [];
  #queued = 0;
  #fault: UpstreamFault | undefined;
  #wake: (() => void) | undefined;

  constructor({ method, body, timeoutMs, idle, signal }: TransportRequest, head: RequestHead, streamSeconds: number) {
    this.method = method;
    this.#idle = idle;
    this.#signal = signal;
    this.#unsent = { head, body };
    const { promise, resolve, reject } = Promise.withResolvers<Incoming>();
    this.head = promise;
    this.#settleHead = { resolve, reject };
    this.#timer = setTimeout(() => {
      // A pause that we caused by not reading is not the provider's silence.
      if (this.#idle && this.#paused) return void this.#timer.refresh();
      this.#fail(new UpstreamFault('timeout', 'the provider did not answer in time'));
    }, timeoutMs);
    if (idle) {
      this.#end = setTimeout(() => this.#fail(withoutEnd(streamSeconds)), streamSeconds * 1000);
    }
    if (signal.aborted) queueMicrotask(this.#onAbort);
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onConnection(connection: Connection): void {
    this.#connection = connection;
    this.#begun = true;
    const { method } = this;
    const {
      body,
      head: { text, ascii },
    } = this.#unsent!;
    this.#unsent = undefined;
    if (body === undefined) connection.write(text + framedBy(method, 0), '');
    else if (typeof body === 'string' && body.length > PIECE)
      this.#send(connection, text, new BodySender(piecesOf(body), Buffer.byteLength(body)));
    else if (typeof body === 'string') {
      const head = text + framedBy(method, Buffer.byteLength(body));
      if (ascii) connection.writeText(head + body);
      else connection.write(head, body);
    } else if (body instanceof Uint8Array) connection.write(text + framedBy(method, body.length), body);
    else this.#send(connection, text, new BodySender(body, undefined));
  }

  onHead(head: AnswerHead): void {
    this.status = head.status;
    this.#answerHead = head;
    this.#settleHead.resolve(this);
  }

  onData(data: Buffer): void {
    if (this.#idle) this.#timer.refresh();
    this.#queue.push(data);
    this.#queued += data.length;
    if (this.#queued > HIGH_WATER && !this.#paused) {
      this.#paused = true;
      this.#connection?.pause();
    }
    this.#wake?.();
  }

  onEnd(): void {
    this.over = true;
    this.#connection = undefined;
    this.#release();
    this.#wake?.();
  }

  onError(error: Error): void {
    this.#connection = undefined;
    this.#fail(error instanceof UpstreamFault ? error : classify(error, this.status !== 0));
  }

  header(name: string): string | undefined {
    return this.#answerHead?.header(name);
  }

  async text(limit: number): Promise<string> {
    const parts: Buffer[] = [];
    let size = 0;
    for (let came = this.#take(); came; came = this.#take()) {
      if (came instanceof Promise) {
        await came;
        continue;
      }
      size += came.length;
      if (size > limit) {
        const fault = new UpstreamFault('too_large', `the provider's answer is larger than ${limit} bytes`);
        this.#fail(fault);
        throw fault;
      }
      parts.push(came);
    }
    const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    return whole.toString('utf8');
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let came = this.#take(); came; came = this.#take()) {
        if (came instanceof Promise) await came;
        else yield came;
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    if (!this.over) this.#fail(new UpstreamFault('aborted', 'the rest of the answer was not read'));
  }

  /** The bytes since the last call; a promise of more if there are none yet; undefined at the end. */
  #take(): Buffer | Promise<void> | undefined {
    const batch = this.#queue;
    if (batch.length > 0) {
      this.#queue = [];
      this.#queued = 0;
      if (this.#paused) {
        this.#paused = false;
        this.#connection?.resume();
      }
      return batch.length === 1 ? batch[0]! : Buffer.concat(batch);
    }
    if (this.#fault) throw this.#fault;
    return this.over ? undefined : new Promise((resolve) => (this.#wake = resolve));
  }

  /** A body that fails is the sender's fault, not the provider's. */
  #send(connection: Connection, head: string, sender: BodySender): void {
    this.#sender = sender;
    const onPiece = (): void => {
      if (this.#idle) this.#timer.refresh();
    };
    sender.send(connection, this.method, head, onPiece).then(
      () => (this.#sender = undefined),
      (cause: unknown) => this.#fail(new UpstreamFault('aborted', 'the body of the request ended early', { cause })),
    );
  }

  #fail(fault: UpstreamFault): void {
    if (this.over) return;
    if (!this.#begun) fault.sent = false;
    this.over = true;
    this.#fault = fault;
    this.#release();
    this.#settleHead.reject(fault);
    this.head.catch(() => undefined);
    this.#connection?.drop();
    this.#connection = undefined;
    this.#wake?.();
  }

  #release(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#end);
    this.#sender?.stop();
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

function withoutEnd(seconds: number): UpstreamFault {
  const message = 'the provider did not come to the end of its answer';
  return new UpstreamFault('timeout', message, { cause: new AnswerWithoutEnd(seconds) });
}

/** The bytes of a text, none of its characters in two. A connection that takes all at once is not all that there is. */
async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length;) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    let end = Math.min(at + PIECE, text.length);
    // By the second half: a first one that stands alone may have another behind it.
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1;
    yield Buffer.from(text.slice(at, end));
    at = end;
  }
}
