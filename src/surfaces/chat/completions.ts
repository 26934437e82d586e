import type { FastifyReply, FastifyRequest } from 'fastify';
import { asGatewayError, type GatewayError } from '#errors/gateway-error.ts';
import { chatEnvelope, errorHeaders } from '#errors/envelopes.ts';
import type { Answer, Ingress } from '#pipeline/call.ts';
import { ClientHungUp } from '#pipeline/call.ts';
import { chatCodec } from '#wire/chat/codec.ts';
import { writeEvent } from '#wire/sse.ts';
import type { Arrival } from '../arrival.ts';
import type { OpenCalls } from '../open-calls.ts';

export interface ChatDeps {
  readonly calls: OpenCalls;
  readonly serve: (ingress: Ingress) => AsyncGenerator<Answer>;
  /** Told of every failure a client was sent. */
  readonly onError: (error: GatewayError, callId: string) => void;
}

/** A comment line after this much silence, so that nothing on the way takes the stream for dead. // spec 6.1.3 */
const KEEPALIVE_MS = 15_000;
/** A client that reads nothing for this long is gone. */
const SLOW_CLIENT_MS = 60_000;

/** `POST /v1/chat/completions`. Errors in the chat envelope, before the stream began as a status, later as an event. */
export async function chatCompletions(
  request: FastifyRequest,
  reply: FastifyReply,
  arrival: Arrival,
  deps: ChatDeps,
): Promise<void> {
  const hangUp = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) hangUp.abort(new ClientHungUp());
  });
  using _open = deps.calls.add(hangUp);
  const stream = new StreamReply(reply, hangUp.signal);
  try {
    const ingress = chatIngress(request, arrival, hangUp.signal);
    let body = '';
    for await (const answer of deps.serve(ingress)) {
      if (answer.kind === 'accepted') {
        reply.headers(answer.headers);
        if (answer.stream) stream.expect();
      } else if (answer.kind === 'head') {
        if (stream.expected) stream.open();
      } else if (!stream.expected) body = answer.text;
      else if (!(await stream.write(answer.text))) break;
    }
    if (stream.expected) stream.end();
    else reply.type('application/json; charset=utf-8').send(body);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    deps.onError(error, arrival.id);
    if (hangUp.signal.reason instanceof ClientHungUp) stream.end();
    else if (stream.opened) stream.fail(error);
    else {
      stream.cancel();
      reply
        .code(error.status)
        .headers(errorHeaders(error))
        .type('application/json; charset=utf-8')
        .send(chatEnvelope(error));
    }
  }
}

/** A request of this surface as the corridor takes it. */
export function chatIngress(
  request: FastifyRequest,
  { id, startedAt, key, snapshot }: Arrival,
  signal: AbortSignal,
): Ingress {
  const text = typeof request.body === 'string' ? request.body : '';
  return { id, startedAt, key, snapshot, surface: 'chat', codec: chatCodec, text, headers: request.headers, signal };
}

/** A streamed reply: headers with its first frame, or with the first keepalive when the provider takes its time. */
class StreamReply {
  expected = false;
  opened = false;
  readonly #reply: FastifyReply;
  readonly #signal: AbortSignal;
  #timer: NodeJS.Timeout | undefined;

  constructor(reply: FastifyReply, signal: AbortSignal) {
    this.#reply = reply;
    this.#signal = signal;
  }

  /** A stream will follow: keep the client informed from now on. */
  expect(): void {
    this.expected = true;
    this.#timer = setTimeout(() => this.#keepAlive(), KEEPALIVE_MS);
  }

  /** Sends status and headers. // spec 6.1.4 */
  open(): void {
    if (this.opened) return;
    this.opened = true;
    this.#reply.hijack();
    const headers = this.#reply.getHeaders() as Record<string, string>;
    this.#reply.raw.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  }

  /** Writes whole events; false when the client is gone. Waits while the client is slower than the provider. */
  async write(text: string): Promise<boolean> {
    const { raw } = this.#reply;
    this.#timer?.refresh();
    if (raw.destroyed) return false;
    if (!raw.write(text)) await drained(raw, this.#signal);
    return !raw.destroyed;
  }

  end(): void {
    this.cancel();
    if (!this.opened) this.#reply.hijack();
    this.#reply.raw.end();
  }

  /** A failure after the stream began: an error event, then the end, without a pretended finish. // spec 6.1.5 */
  fail(error: GatewayError): void {
    this.cancel();
    this.#reply.raw.end(writeEvent(JSON.stringify(chatEnvelope(error))));
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  #keepAlive(): void {
    this.open();
    this.#reply.raw.write(': keepalive\n\n');
    this.#timer?.refresh();
  }
}

/** Waits until a slow client has taken what was written; one that takes nothing for too long is cut off. */
function drained(raw: FastifyReply['raw'], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      raw.off('drain', done);
      raw.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(() => raw.destroy(), SLOW_CLIENT_MS);
    raw.once('drain', done);
    raw.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
