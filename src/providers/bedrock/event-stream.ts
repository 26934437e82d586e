import { EventStreamCodec, type Message } from '@smithy/core/event-streams';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { writeEvent } from '#/wire/answer/sse.ts';
import { FrameCutter } from './frames.ts';

/** One frame of an event stream, opened. */
interface Frame {
  readonly kind: 'event' | 'exception';
  /** `:event-type`, `:exception-type` or `:error-code`. */
  readonly name: string;
  readonly payload: string;
}

/** What a frame is to readers of server-sent events; an empty string says nothing. */
export type Reframe = (frame: Frame) => string;

const frames = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** An answer in binary event-stream frames as server-sent events. Its head is the original's. */
export class ReframedAnswer implements Incoming {
  readonly status: number;
  readonly #source: Incoming;
  readonly #reframe: Reframe;

  constructor(source: Incoming, reframe: Reframe) {
    this.status = source.status;
    this.#source = source;
    this.#reframe = reframe;
  }

  header(name: string): string | undefined {
    return name === 'content-type' ? 'text/event-stream' : this.#source.header(name);
  }

  async text(limit: number): Promise<string> {
    let text = '';
    for await (const chunk of this.chunks()) {
      text += Buffer.from(chunk).toString('utf8');
      if (text.length > limit) {
        this.close();
        throw new UpstreamFault('too_large', `the provider's answer is larger than ${limit} bytes`);
      }
    }
    return text;
  }

  /** Each piece holds whole events. Rejects with `UpstreamFault` at a bad checksum or where the stream was cut off. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const cutter = new FrameCutter();
    for await (const bytes of this.#source.chunks()) {
      let text = '';
      for (const frame of cutter.push(bytes)) text += this.#reframe(open(frame));
      if (text !== '') yield Buffer.from(text, 'utf8');
    }
    if (cutter.cut) throw new UpstreamFault('reset', 'the provider cut the stream inside a frame');
  }

  close(): void {
    this.#source.close();
  }
}

function open(bytes: Uint8Array): Frame {
  let message: Message;
  try {
    message = frames.decode(bytes);
  } catch (cause) {
    throw new UpstreamFault('protocol', 'the provider sent a damaged event-stream frame', { cause });
  }
  const payload = Buffer.from(message.body).toString('utf8');
  const kind = textHeader(message, ':message-type');
  if (kind === 'event') return { kind, name: textHeader(message, ':event-type') ?? '', payload };
  if (kind === 'exception') return { kind, name: textHeader(message, ':exception-type') ?? '', payload };
  const said = { message: textHeader(message, ':error-message') ?? '' };
  return { kind: 'exception', name: textHeader(message, ':error-code') ?? '', payload: JSON.stringify(said) };
}

function textHeader({ headers }: Message, name: string): string | undefined {
  const header = headers[name];
  return header?.type === 'string' ? header.value : undefined;
}

/** Frames of `converse-stream`, for readers of the converse family. */
export function converseEvent({ kind, name, payload }: Frame): string {
  if (kind === 'event') return writeEvent(payload, name);
  return writeEvent(JSON.stringify({ type: name, message: messageOf(payload) }), 'exception');
}

/** What exceptions in the stream are called in the messages family. // wire-formats 1.2 */
const MESSAGES_ERRORS: Readonly<Record<string, string>> = {
  validationException: 'invalid_request_error',
  throttlingException: 'rate_limit_error',
  serviceUnavailableException: 'overloaded_error',
  modelTimeoutException: 'timeout_error',
};

/** Frames of `invoke-with-response-stream` of a Claude model, for readers of the messages family. */
export function messagesEvent({ kind, name, payload }: Frame): string {
  if (kind === 'exception') {
    const type = Object.hasOwn(MESSAGES_ERRORS, name) ? MESSAGES_ERRORS[name] : 'api_error';
    const error = { type, message: messageOf(payload) };
    return writeEvent(JSON.stringify({ type: 'error', error }), 'error');
  }
  const { bytes } = eventIn(payload);
  if (typeof bytes !== 'string') return '';
  const text = Buffer.from(bytes, 'base64').toString('utf8');
  const { 'amazon-bedrock-invocationMetrics': metrics, ...event } = eventIn(text);
  const type = typeof event['type'] === 'string' ? event['type'] : undefined;
  // The host's own counts are no part of the family, and would tell cached tokens that are not to be shown.
  return writeEvent(metrics === undefined ? text : JSON.stringify(event), type);
}

function messageOf(payload: string): string {
  const { message, Message: capital } = objectIn(payload) ?? {};
  if (typeof message === 'string') return message;
  return typeof capital === 'string' ? capital : 'the provider ended the stream with an exception';
}

function eventIn(text: string): JsonObject {
  const event = objectIn(text);
  if (!event) throw new UpstreamFault('protocol', 'the provider sent an event that is not a JSON object');
  return event;
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
