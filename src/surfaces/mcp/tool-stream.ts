import type { FastifyReply } from 'fastify';
import type { ToolNotice } from '#/call/tool-call.ts';
import { writeEvent } from '#/wire/answer/sse.ts';
import { errorMessage, errorSource, RPC } from '#/wire/mcp/message.ts';
import type { ClientAsk } from '#/call/client-session.ts';
import { askMessage } from './client-sessions.ts';
import type { OpenCalls } from '../endpoint/open-calls.ts';

/** An answer that takes longer than this comes as a stream, where its client takes one. */
const PATIENCE_MS = 5000;
/** A stream says so often that it is alive. */
const KEEPALIVE_MS = 15_000;
/** Bytes that wait for a slow client before no more notices are written. */
const MOST_WAITING = 1024 * 1024;

/** The answer to a call: JSON, or, once it takes its time or the server has something to tell, a stream of events. */
export class ToolStream {
  readonly #reply: FastifyReply;
  readonly #streams: boolean;
  readonly #calls: Pick<OpenCalls, 'toolStreams'>;
  #timer: NodeJS.Timeout | undefined;
  #opened = false;

  /** `streams`: the client takes a stream of events. */
  constructor(reply: FastifyReply, streams: boolean, calls: Pick<OpenCalls, 'toolStreams'>) {
    this.#reply = reply;
    this.#calls = calls;
    this.#streams = streams;
    if (streams) this.#timer = setTimeout(() => this.#open(), PATIENCE_MS).unref();
  }

  /** Passes on what the server says while it works. `token`: JSON source of the token that the client chose. */
  notice({ kind, params }: ToolNotice, token: string | undefined): void {
    if (!this.#streams || (kind === 'progress' && token === undefined)) return;
    this.#open();
    if (this.#reply.raw.destroyed || this.#reply.raw.writableLength > MOST_WAITING) return;
    const told = kind === 'progress' ? `{"progressToken":${token},${params.slice(1)}` : params;
    const text = `{"jsonrpc":"2.0","method":"notifications/${kind}","params":${told}}`;
    this.#reply.raw.write(writeEvent(text, 'message'));
  }

  /** Sends the response, or the failure. The status counts only where no stream was begun. */
  end(text: string, status: number, headers: Readonly<Record<string, string>>): void {
    clearTimeout(this.#timer);
    if (this.#opened) return void this.#reply.raw.end(writeEvent(text, 'message'));
    this.#reply.code(status).headers(headers).type('application/json; charset=utf-8').send(text);
  }

  /** Asks the client what the server asks. */
  ask(ask: ClientAsk): void {
    this.#open();
    if (!this.#reply.raw.destroyed) this.#reply.raw.write(writeEvent(askMessage(ask), 'message'));
  }

  /** The client has cancelled its request: no response is sent, where that is possible. */
  cancelled(idSource: string): void {
    if (this.#streams) {
      this.#open();
      clearTimeout(this.#timer);
      return void this.#reply.raw.end();
    }
    const error = { code: RPC.gateway, message: 'The client cancelled the request.', data: undefined };
    this.end(errorMessage(idSource, errorSource(error)), 200, {});
  }

  /** The client is gone. */
  abandon(): void {
    clearTimeout(this.#timer);
    if (!this.#opened) this.#reply.hijack();
    this.#reply.raw.end();
  }

  #open(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.#calls.toolStreams++;
    this.#reply.raw.once('close', () => this.#calls.toolStreams--);
    clearTimeout(this.#timer);
    this.#reply.hijack();
    const { raw } = this.#reply;
    raw.writeHead(200, {
      ...(this.#reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    raw.write(': open\n\n');
    this.#timer = setInterval(() => {
      if (!raw.destroyed) raw.write(': keepalive\n\n');
    }, KEEPALIVE_MS).unref();
  }
}
