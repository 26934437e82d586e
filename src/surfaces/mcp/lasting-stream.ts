import type { FastifyReply } from 'fastify';
import { writeEvent } from '#/wire/answer/sse.ts';
import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { OpenCalls } from '../endpoint/open-calls.ts';

/** Streams of one key and of one workload that are open at once in one process, and of all. */
const MOST_OF_KEY = 16;
const MOST_OF_WORKLOAD = 64;
const MOST = 2000;
/** A stream says so often that it is alive, and looks whether its client may still have it. */
const BEAT_MS = 15_000;
/** Bytes that wait for a slow client before its stream ends. */
const MOST_WAITING = 1024 * 1024;

/** The streams of this process that have no end of their own, by what they are counted for. */
export class LastingStreams {
  readonly #counts = new Map<string, number>();
  readonly #calls: Pick<OpenCalls, 'addLasting' | 'isLeaving' | 'toolStreams'>;

  constructor(calls: Pick<OpenCalls, 'addLasting' | 'isLeaving' | 'toolStreams'>) {
    this.#calls = calls;
  }

  /**
   * Opens a stream of events. `isGood`: whether the client may still have it; `onLeave`: its last message when the
   * process is ending. Throws where there are too many.
   */
  open(reply: FastifyReply, key: VirtualKeyConfig, isGood: () => boolean, onLeave?: () => string): LastingStream {
    const places = [
      ['', MOST],
      [`key ${key.id}`, MOST_OF_KEY],
      [`workload ${key.workload.id}`, MOST_OF_WORKLOAD],
    ] as const;
    const isFull = places.some(([name, most]) => (this.#counts.get(name) ?? 0) >= most);
    if (isFull || this.#calls.isLeaving) {
      const message = `Too many streams are open: a key may have ${MOST_OF_KEY}, a workload ${MOST_OF_WORKLOAD}.`;
      throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: BEAT_MS });
    }
    const count = (by: number): void => {
      this.#calls.toolStreams += by;
      for (const [name] of places) {
        const left = (this.#counts.get(name) ?? 0) + by;
        if (left > 0) this.#counts.set(name, left);
        else this.#counts.delete(name);
      }
    };
    count(1);
    const stream = new LastingStream(reply, isGood);
    const lasting = this.#calls.addLasting(() => stream.end(onLeave?.()));
    stream.onEnd(() => {
      lasting[Symbol.dispose]();
      count(-1);
    });
    return stream;
  }
}

/** A stream of events that lasts until its client leaves, or it is ended here. */
export class LastingStream {
  readonly #raw: FastifyReply['raw'];
  readonly #stop = new AbortController();
  readonly #beat: NodeJS.Timeout;

  constructor(reply: FastifyReply, isGood: () => boolean) {
    reply.hijack();
    const { raw } = reply;
    this.#raw = raw;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    raw.write(': open\n\n');
    this.#beat = setInterval(() => {
      if (isGood()) raw.write(': keepalive\n\n');
      else this.end();
    }, BEAT_MS).unref();
    raw.once('close', () => {
      clearInterval(this.#beat);
      this.#stop.abort();
    });
  }

  /** Aborted when the stream is over. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  onEnd(ended: () => void): void {
    this.#raw.once('close', ended);
  }

  /** Sends a message. A client that does not read has its stream ended: what it misses it cannot know. */
  write(message: string): void {
    if (this.#raw.destroyed || this.#raw.writableEnded) return;
    if (this.#raw.writableLength > MOST_WAITING) return this.end();
    this.#raw.write(writeEvent(message, 'message'));
  }

  /** `last`: a message before the end. */
  end(last?: string): void {
    if (this.#raw.destroyed || this.#raw.writableEnded) return;
    this.#stop.abort();
    this.#raw.end(last === undefined ? undefined : writeEvent(last, 'message'));
  }
}
