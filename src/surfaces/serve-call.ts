import type { FastifyReply } from 'fastify';
import { asGatewayError, type GatewayError } from '#/errors/gateway-error.ts';
import { ClientHungUp, type Emit } from '#/call/call.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { beginSmall, endSmall } from '#/runtime/loop-slices.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import type { AuthenticatedRequest, Endpoint } from './endpoint/endpoint.ts';
import { hangUpOf, type OpenCalls } from './endpoint/open-calls.ts';
import { sendFailure } from './endpoint/send-failure.ts';
import type { ClientProtocol } from './endpoint/client-protocol.ts';
import { writeOut } from './endpoint/write-out.ts';

/** What an endpoint needs of the pipeline. */
export interface CallDeps {
  readonly calls: OpenCalls;
  readonly pipeline: Pick<Pipeline, 'serve'>;
  /** Told of every failure a client was sent. */
  readonly onError: (error: GatewayError, callId: string) => void;
}

/**
 * Serves a model call whose body is `text`. `keep`: takes memory for more than that. A failure becomes a status before the stream begins, and later an event.
 * Not an async function: it would hold `text` to the end of the answer.
 */
export function serveCall(
  reply: FastifyReply,
  { id, startedAt, key, snapshot, headers }: AuthenticatedRequest,
  text: string,
  { surface, codec, protocol }: Endpoint,
  deps: CallDeps,
  keep: (bytes: number) => void,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  const { signal } = hangUp;
  const place = deps.calls.begin(hangUp);
  const isSmall = !isLarge(text);
  if (isSmall) beginSmall();
  const answering = new Answering(reply, protocol, signal, id, deps.onError);
  const request = { id, startedAt, key, snapshot, surface, codec, headers, signal, keep };
  const served = deps.pipeline.serve(request, text, answering.take);
  return answering.end(served).finally(() => {
    if (isSmall) endSmall();
    deps.calls.end(place);
  });
}

/** The answer to one call on its way to the client. */
class Answering {
  readonly #reply: FastifyReply;
  readonly #protocol: ClientProtocol;
  readonly #signal: AbortSignal;
  readonly #callId: string;
  readonly #onError: CallDeps['onError'];
  /** Undefined for an answer that comes in one piece. */
  #stream: StreamReply | undefined;
  #body = '';

  constructor(
    reply: FastifyReply,
    protocol: ClientProtocol,
    signal: AbortSignal,
    callId: string,
    onError: CallDeps['onError'],
  ) {
    this.#reply = reply;
    this.#protocol = protocol;
    this.#signal = signal;
    this.#callId = callId;
    this.#onError = onError;
  }

  readonly take: Emit = (answer) => {
    const reply = this.#reply;
    if (answer.kind === 'accepted') {
      reply.headers(answer.headers);
      reply.headers(this.#protocol.limitHeaders(answer.limits, Date.now()));
      if (answer.stream) this.#stream = new StreamReply(reply, this.#protocol, this.#signal);
    } else if (answer.kind === 'head') {
      if (this.#stream?.opened !== true && answer.headers) reply.headers(answer.headers);
      this.#stream?.open();
    } else if (this.#stream) return this.#stream.write(answer.text);
    else this.#body = answer.text;
    return true;
  };

  /** Ends it with its call. */
  async end(served: Promise<unknown>): Promise<void> {
    try {
      await served;
      if (this.#stream) this.#stream.end();
      else this.#reply.type('application/json; charset=utf-8').send(this.#body);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #fail(thrown: unknown): void {
    const stream = this.#stream;
    // A client that left gets no answer, and this is not our failure: the row records it.
    if (this.#signal.reason instanceof ClientHungUp) return stream ? stream.end() : void this.#reply.hijack().raw.end();
    const error = asGatewayError(thrown);
    this.#onError(error, this.#callId);
    if (stream?.opened) return stream.fail(error, this.#callId);
    stream?.cancel();
    sendFailure(this.#reply, this.#protocol, error, this.#callId);
  }
}

/** The gateway speaks up after this much silence, so that nothing on the way takes the stream for dead. // spec 6.1.3 */
const KEEPALIVE_MS = 15_000;

/** A streamed reply, whose client is kept informed from now on: headers with its first frame, or with the first keepalive when the provider takes its time. */
class StreamReply {
  opened = false;
  readonly #reply: FastifyReply;
  readonly #protocol: ClientProtocol;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  /** Written last: what an error event may have to go on from. */
  #last = '';

  /** `signal`: aborted once the client no longer waits for the answer. */
  constructor(reply: FastifyReply, protocol: ClientProtocol, signal: AbortSignal) {
    this.#reply = reply;
    this.#protocol = protocol;
    this.#signal = signal;
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
      'content-type': this.#protocol.framing?.type ?? 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  }

  /** Writes whole events; false when the client is gone. Waits while the client is slower than the provider. */
  write(text: string): boolean | Promise<boolean> {
    this.#timer.refresh();
    this.#last = text;
    return writeOut(this.#reply.raw, this.#framed(text), this.#signal);
  }

  end(): void {
    this.cancel();
    if (!this.opened) this.#reply.hijack();
    this.#reply.raw.end();
  }

  /** A failure after the stream began: an error event, then the end, without a pretended finish. // spec 6.1.5 */
  fail(error: GatewayError, callId: string): void {
    this.cancel();
    this.#reply.raw.end(this.#framed(this.#protocol.failureEvent(error, callId, this.#last)));
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  #framed(events: string): string | Uint8Array {
    return this.#protocol.framing?.frame(events) ?? events;
  }

  #keepAlive(): void {
    this.open();
    this.#reply.raw.write(this.#framed(this.#protocol.keepalive));
    this.#timer.refresh();
  }
}
