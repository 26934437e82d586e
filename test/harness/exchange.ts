import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request as the stand-in provider received it. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path with query, `/v1/chat/completions`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body, byte for byte, read as UTF-8. */
  readonly body: string;
  /**
   * How the exchange ended: `answered` to its last byte, `left` by the client before that, or `cut` by the stand-in
   * itself.
   */
  readonly ended: Promise<'answered' | 'left' | 'cut'>;
}

/** One request being answered. */
export interface Exchange {
  readonly request: UpstreamRequest;
  readonly response: ServerResponse;
  /** Aborted once the connection is gone: whatever an answer waits for ends then. */
  readonly signal: AbortSignal;
  /** Ends the connection without finishing the answer: with a RST, or with a FIN. */
  cut(how: 'reset' | 'fin'): void;
}

/** How a request is answered, or not: `answers.ts` has them. Answers run concurrently. */
export type Answer = (exchange: Exchange) => void | Promise<void>;

/**
 * Reads the request to its end; undefined when the client leaves before. `cutSockets`: connections that this side ended.
 */
export async function readExchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  cutSockets: WeakSet<Socket>,
): Promise<Exchange | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const gone = new AbortController();
  const { socket } = incoming;
  const ended = new Promise<'answered' | 'left' | 'cut'>((resolve) => {
    response.once('close', () => {
      resolve(cutSockets.has(socket) ? 'cut' : response.writableFinished ? 'answered' : 'left');
      gone.abort();
    });
  });
  response.on('error', () => {});
  const request: UpstreamRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
    ended,
  };
  return {
    request,
    response,
    signal: gone.signal,
    cut(how) {
      cutSockets.add(socket);
      if (how === 'reset') socket.resetAndDestroy();
      else socket.end(() => socket.destroy());
    },
  };
}
