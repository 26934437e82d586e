import type { FastifyReply } from 'fastify';
import { asGatewayError, type GatewayError } from '#/errors/gateway-error.ts';
import { ClientHungUp, type Emit, type Ingress } from '#/call/call.ts';
import { beginSmall } from '#/runtime/loop-turns.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import type { Arrival } from './arrival.ts';
import { ingressAt, type Door } from './door.ts';
import { hangUpOf } from './hang-up.ts';
import type { OpenCalls } from './open-calls.ts';
import { sendFailure } from './send-failure.ts';
import { StreamReply } from './stream-reply.ts';

/** What a door needs of the house behind it. */
export interface CallDeps {
  readonly calls: OpenCalls;
  readonly serve: (ingress: Ingress, emit: Emit) => Promise<void>;
  /** Told of every failure a client was sent. */
  readonly onError: (error: GatewayError, callId: string) => void;
}

/** Serves a model call whose body is `text`. A failure is told as a status before the stream began, later as an event of it. */
export async function serveCall(
  reply: FastifyReply,
  arrival: Arrival,
  text: string,
  door: Door,
  deps: CallDeps,
): Promise<void> {
  const hangUp = hangUpOf(reply);
  using _open = deps.calls.add(hangUp);
  using _small = isLarge(text) ? undefined : beginSmall();
  const stream = new StreamReply(reply, door.voice, hangUp.signal);
  try {
    const ingress = ingressAt(door, arrival, text, hangUp.signal);
    let body = '';
    await deps.serve(ingress, (answer) => {
      if (answer.kind === 'accepted') {
        reply.headers(answer.headers);
        reply.headers(door.voice.limitHeaders(answer.limits, Date.now()));
        if (answer.stream) stream.expect();
      } else if (answer.kind === 'head') {
        if (!stream.opened && answer.headers) reply.headers(answer.headers);
        if (stream.expected) stream.open();
      } else if (!stream.expected) body = answer.text;
      else return stream.write(answer.text);
      return true;
    });
    if (stream.expected) stream.end();
    else reply.type('application/json; charset=utf-8').send(body);
  } catch (thrown) {
    // A client that left is told nothing, and is no failure of ours: its row says so.
    if (hangUp.signal.reason instanceof ClientHungUp) return stream.end();
    const error = asGatewayError(thrown);
    deps.onError(error, arrival.id);
    if (stream.opened) stream.fail(error, arrival.id);
    else {
      stream.cancel();
      sendFailure(reply, door.voice, error, arrival.id);
    }
  }
}
