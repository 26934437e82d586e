import type { FastifyReply } from 'fastify';
import { asGatewayError, type GatewayError } from '#/errors/gateway-error.ts';
import { ClientHungUp } from '#/call/call.ts';
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
 * Serves a model call whose body is `text`. A failure becomes a status before the stream begins, and later an event.
 */
export async function serveCall(
  reply: FastifyReply,
  authenticated: AuthenticatedRequest,
  text: string,
  endpoint: Endpoint,
  deps: CallDeps,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  const place = deps.calls.begin(hangUp);
  const isSmall = !isLarge(text);
  if (isSmall) beginSmall();
  /** Undefined for an answer that comes in one piece. */
  let stream: StreamReply | undefined;
  try {
    const { id, startedAt, key, snapshot, headers } = authenticated;
    const { surface, codec } = endpoint;
    const request = { id, startedAt, key, snapshot, surface, codec, text, headers, signal: hangUp.signal };
    let body = '';
    await deps.pipeline.serve(request, (answer) => {
      if (answer.kind === 'accepted') {
        reply.headers(answer.headers);
        reply.headers(endpoint.protocol.limitHeaders(answer.limits, Date.now()));
        if (answer.stream) stream = new StreamReply(reply, endpoint.protocol, hangUp.signal);
      } else if (answer.kind === 'head') {
        if (stream?.opened !== true && answer.headers) reply.headers(answer.headers);
        stream?.open();
      } else if (stream) return stream.write(answer.text);
      else body = answer.text;
      return true;
    });
    if (stream) stream.end();
    else reply.type('application/json; charset=utf-8').send(body);
  } catch (thrown) {
    // A client that left gets no answer, and this is not our failure: the row records it.
    if (hangUp.signal.reason instanceof ClientHungUp) return stream ? stream.end() : void reply.hijack().raw.end();
    const error = asGatewayError(thrown);
    deps.onError(error, authenticated.id);
    if (stream?.opened) stream.fail(error, authenticated.id);
    else {
      stream?.cancel();
      sendFailure(reply, endpoint.protocol, error, authenticated.id);
    }
  } finally {
    if (isSmall) endSmall();
    deps.calls.end(place);
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
