import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { SseDecoder, SseEventTooLarge } from '#/wire/answer/sse.ts';
import { messageIn, protocol, type ServerMessage } from './read-answer.ts';

/** Longest event of such a stream, in UTF-16 code units. */
const MOST_EVENT = 256 * 1024;
/** Messages in one window; a server that sends more is no longer listened to. */
const MOST_MESSAGES = 1000;
const WINDOW_MS = 60_000;

/**
 * Reads what a server says outside of its answers, to the end of the stream, each when the last is dealt with. Rejects with `UpstreamFault` for a stream that
 * breaks or says too much.
 */
export async function readServerStream(
  incoming: Incoming,
  onMessage: (message: ServerMessage) => Promise<void> | void,
): Promise<void> {
  const decoder = new SseDecoder(MOST_EVENT);
  let count = 0;
  let since = performance.now();
  const take = async (data: string | undefined): Promise<void> => {
    if (data === undefined || data === '') return;
    if (performance.now() - since > WINDOW_MS) [count, since] = [0, performance.now()];
    if (++count > MOST_MESSAGES) throw protocol('the server sends too many messages');
    const message = messageIn(data);
    if (message) await onMessage(message);
  };
  try {
    for await (const chunk of incoming.chunks()) for (const { data } of decoder.push(chunk)) await take(data);
    for (const { data } of decoder.end()) await take(data);
  } catch (thrown) {
    if (!(thrown instanceof SseEventTooLarge)) throw thrown;
    throw new UpstreamFault('too_large', `an event is larger than ${MOST_EVENT} characters`);
  } finally {
    incoming.close();
  }
}
