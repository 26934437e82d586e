import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { guardedConnector } from './guarded-connector.ts';
import { AnswerWithoutEnd, UpstreamFault, type Incoming, type PassedMethod } from '#ports/provider.ts';

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

const HIGH_WATER = 256 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer texts are encoded as they are sent: all at once takes long, and nothing else is done meanwhile. */
const PIECE = 256 * 1024;

export interface TransportOptions {
  /** How long an answer that comes in pieces may take to its end; by default an hour. */
  readonly streamSeconds?: number;
}

/** A transport of its own pool per origin; no pipelining, no redirects, no retries. */
export function createTransport({ streamSeconds = 3600 }: TransportOptions = {}): Transport {
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 60_000,
    connect: guardedConnector({ timeout: CONNECT_TIMEOUT_MS }),
    // Ours are the only timeouts: they know streams from buffered answers.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send(request) {
      const exchange = new Exchange(request, streamSeconds);
      const { origin, path, method, headers, body } = request;
      if (typeof body === 'string' && body.length > PIECE) {
        const length = { 'content-length': String(Buffer.byteLength(body)) };
        const pieces = Readable.from(piecesOf(body), { objectMode: false });
        agent.dispatch({ origin, path, method, headers: { ...headers, ...length }, body: pieces }, exchange);
        return exchange.head;
      }
      const whole = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
      const sent = whole ? (body ?? null) : Readable.from(exchange.sending(body), { objectMode: false });
      agent.dispatch({ origin, path, method, headers, body: sent }, exchange);
      return exchange.head;
    },
    close: () => agent.destroy(),
  };
}

/** The bytes of a text, none of its characters in two. A connection that takes all at once is not all that there is. */
async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length;) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    let end = Math.min(at + PIECE, text.length);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
    yield Buffer.from(text.slice(at, end));
    at = end;
  }
}

/** One request and its answer: undici's handler on one side, `Incoming` on the other. */
class Exchange implements Dispatcher.DispatchHandler, Incoming {
  readonly head: Promise<Incoming>;
  status = 0;
  readonly #request: TransportRequest;
  readonly #timer: NodeJS.Timeout;
  readonly #end: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.#fail(new UpstreamFault('aborted', 'the request was given up'));
  #headers: Record<string, string | string[] | undefined> = {};
  #controller: Dispatcher.DispatchController | undefined;
  #settleHead: { resolve(incoming: Incoming): void; reject(fault: UpstreamFault): void };
  #queue: Uint8Array[] = [];
  #queued = 0;
  #ended = false;
  #fault: UpstreamFault | undefined;
  #wake: (() => void) | undefined;

  constructor(request: TransportRequest, streamSeconds: number) {
    this.#request = request;
    const { promise, resolve, reject } = Promise.withResolvers<Incoming>();
    this.head = promise;
    this.#settleHead = { resolve, reject };
    this.#timer = setTimeout(() => {
      // Silence that we have asked for, since nobody takes what came, is not the provider's.
      if (request.idle && this.#controller?.paused) return void this.#timer.refresh();
      this.#fail(new UpstreamFault('timeout', 'the provider did not answer in time'));
    }, request.timeoutMs);
    if (request.idle) {
      const cause = new AnswerWithoutEnd(streamSeconds);
      const fault = new UpstreamFault('timeout', 'the provider did not come to the end of its answer', { cause });
      this.#end = setTimeout(() => this.#fail(fault), streamSeconds * 1000);
    }
    if (request.signal.aborted) queueMicrotask(this.#onAbort);
    else request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The pieces of a body on their way out. A body that fails is the sender's fault, not the provider's. */
  async *sending(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of body) {
        if (this.#request.idle) this.#timer.refresh();
        yield piece;
      }
    } catch (cause) {
      throw new UpstreamFault('aborted', 'the body of the request ended early', { cause });
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#fault) controller.abort(this.#fault);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.#headers = headers;
    this.#settleHead.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#request.idle) this.#timer.refresh();
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    if (this.#queued > HIGH_WATER) controller.pause();
    this.#notify();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#release();
    this.#notify();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#fail(error instanceof UpstreamFault ? error : classify(error, this.status !== 0));
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === 'string' ? value : value?.[0];
  }

  async text(limit: number): Promise<string> {
    const parts: Uint8Array[] = [];
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
    const only = parts[0];
    const whole =
      parts.length === 1 && only ? Buffer.from(only.buffer, only.byteOffset, only.length) : Buffer.concat(parts);
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

  /** What came since the last time; a promise of more while there is nothing; undefined at the end. */
  #take(): Uint8Array | Promise<void> | undefined {
    const batch = this.#queue;
    if (batch.length > 0) {
      this.#queue = [];
      this.#queued = 0;
      if (this.#controller?.paused) this.#controller.resume();
      return batch.length === 1 ? batch[0]! : Buffer.concat(batch);
    }
    if (this.#fault) throw this.#fault;
    return this.#ended ? undefined : new Promise((resolve) => (this.#wake = resolve));
  }

  close(): void {
    if (!this.#ended) this.#fail(new UpstreamFault('aborted', 'the rest of the answer was not read'));
  }

  #fail(fault: UpstreamFault): void {
    if (this.#ended || this.#fault) return;
    if (!this.#controller) fault.sent = false;
    this.#fault = fault;
    this.#release();
    this.#settleHead.reject(fault);
    this.head.catch(() => undefined);
    this.#controller?.abort(fault);
    this.#notify();
  }

  #release(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#end);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_MACHINE_ADDRESS',
]);

const MESSAGES = {
  connect: 'no connection to the provider',
  reset: 'the provider cut the connection',
  protocol: 'the provider did not speak HTTP',
} as const;

/** Names a transport error without repeating its text, which holds addresses. */
function classify(error: Error, answered: boolean): UpstreamFault {
  const code = (error as { code?: unknown }).code;
  const name = typeof code === 'string' ? code : 'unknown';
  let kind: keyof typeof MESSAGES = 'reset';
  if (!answered && (NEVER_CONNECTED.has(name) || name.startsWith('ERR_TLS') || name.includes('CERT'))) kind = 'connect';
  else if (error.name === 'HTTPParserError') kind = 'protocol';
  return new UpstreamFault(kind, `${MESSAGES[kind]} (${name})`, { cause: error });
}
