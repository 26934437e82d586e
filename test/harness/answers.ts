import { completion, completionFrames, cutText, usageFrame, type ChatScript } from './chat-format.ts';
import type { Answer, Exchange, UpstreamRequest } from './exchange.ts';
import { DONE, encodeFrames, splitBytes, type Frame } from './frames.ts';
import type { Gate } from './gate.ts';

/** How a stream is sent. */
export interface SseOptions {
  /** Line end of every line; default LF. */
  readonly eol?: '\n' | '\r\n' | '\r';
  /** Byte offsets into the whole stream where one write ends and the next begins; default: one write a frame. */
  readonly splitAt?: readonly number[] | 'every-byte';
  /** Passed before each write, and once more before the end. The headers go out before. */
  readonly gate?: Gate;
  /** What follows the last write: a proper end, a FIN or RST in mid-body, or silence with the connection open. */
  readonly ending?: 'end' | 'fin' | 'reset' | 'hang';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A buffered JSON answer. */
export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return text(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
}

/** A buffered answer with this body: error pages, garbage, empty bodies. */
export function text(
  body: string | Uint8Array,
  {
    status = 200,
    headers = {},
  }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Answer {
  return ({ response }) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
    response.end(body);
  };
}

/** A buffered JSON answer that breaks off after `bytes` bytes of its body, though its length was announced. */
export function brokenJson(body: unknown, bytes: number, ending: 'fin' | 'reset' | 'hang' = 'reset'): Answer {
  return async (exchange) => {
    const whole = Buffer.from(JSON.stringify(body));
    exchange.response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    await write(exchange, whole.subarray(0, bytes));
    if (ending !== 'hang') exchange.cut(ending);
  };
}

/** A stream of server-sent events. */
export function sse(frames: readonly Frame[], options: SseOptions = {}): Answer {
  return async (exchange) => {
    const { response, signal } = exchange;
    response.writeHead(options.status ?? 200, {
      'content-type': 'text/event-stream; charset=utf-8',
      ...options.headers,
    });
    response.flushHeaders();
    for (const piece of splitBytes(encodeFrames(frames, options.eol), options.splitAt)) {
      if (options.gate && !(await options.gate.pass(signal))) return;
      await write(exchange, piece);
    }
    if (options.gate && !(await options.gate.pass(signal))) return;
    if (options.ending === 'fin' || options.ending === 'reset') exchange.cut(options.ending);
    else if (options.ending !== 'hang') response.end();
  };
}

/** How a scripted model behaves when it is asked for a stream. */
export interface ChatOptions extends ChatScript, SseOptions {
  /** Whether usage is streamed: when asked for (`stream_options.include_usage`, the default), always, or never. */
  readonly usageFrame?: 'asked' | 'always' | 'never';
  /** Whether `[DONE]` closes the stream; default true. */
  readonly done?: boolean;
  /** Frames put before the answer: comments, pings, events nobody knows. */
  readonly before?: readonly Frame[];
}

/** A model that says this, buffered or as a stream, as it is asked to. */
export function chat(options: ChatOptions): Answer {
  return (exchange) => {
    const asked = bodyOf(exchange.request);
    if (asked.stream !== true) {
      const answer = json(completion(options), options.status, options.headers);
      return options.gate ? gated(options.gate, answer)(exchange) : answer(exchange);
    }
    return sse(chatFrames(options, asked.stream_options?.include_usage === true), options)(exchange);
  };
}

/** The frames that `chat` streams. */
export function chatFrames(options: ChatOptions, usageAsked = false): Frame[] {
  const mode = options.usageFrame ?? 'asked';
  const withUsage = options.usage !== null && (mode === 'always' || (mode === 'asked' && usageAsked));
  return [
    ...(options.before ?? []),
    ...completionFrames(options),
    ...(withUsage ? [usageFrame(options)] : []),
    ...(options.done === false ? [] : [DONE]),
  ];
}

/** What `echo` does with the text it repeats. */
export interface EchoOptions extends Omit<ChatOptions, 'content' | 'toolCalls'> {
  /** UTF-16 positions in the text where one delta ends and the next begins; default: one delta. */
  readonly cutAt?: readonly number[] | 'every-unit';
  /** Repeats it as the answer's text, or as the arguments of a tool call, `{"text": …}`, cut the same way. */
  readonly as?: 'content' | 'tool-arguments';
}

/** A model that repeats the text of the last user message. */
export function echo(options: EchoOptions = {}): Answer {
  return (exchange) => {
    const said = lastUserText(exchange.request);
    const cut = (whole: string): string[] => {
      const every = Array.from({ length: Math.max(0, whole.length - 1) }, (_, index) => index + 1);
      return cutText(whole, options.cutAt === 'every-unit' ? every : (options.cutAt ?? []));
    };
    if (options.as !== 'tool-arguments') return chat({ ...options, content: cut(said) })(exchange);
    const call = { id: 'call_echo', name: 'echo', arguments: cut(JSON.stringify({ text: said })) };
    return chat({ ...options, toolCalls: [call] })(exchange);
  };
}

/** Takes the request and says nothing, ever. */
export function hang(): Answer {
  return () => {};
}

/** Ends the connection before any answer. */
export function cutOff(how: 'reset' | 'fin' = 'reset'): Answer {
  return (exchange) => exchange.cut(how);
}

/** Bytes that are not HTTP, then a FIN. */
export function notHttp(bytes: string | Uint8Array = '\u0000\u0001 not http\r\n\r\n'): Answer {
  return (exchange) => {
    exchange.response.socket?.write(bytes);
    exchange.cut('fin');
  };
}

/** Waits at the gate before answering, so that a test decides when, and in which order. */
export function gated(gate: Gate, answer: Answer): Answer {
  return async (exchange) => {
    if (await gate.pass(exchange.signal)) await answer(exchange);
  };
}

/** Resolves when the bytes were handed to the kernel, or the connection is gone. */
function write({ response, signal }: Exchange, bytes: Uint8Array): Promise<void> {
  if (signal.aborted || bytes.length === 0) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    response.write(bytes, () => resolve());
  });
}

interface ChatBody {
  readonly stream?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown };
  readonly messages?: readonly { readonly role?: unknown; readonly content?: unknown }[];
}

function bodyOf(request: UpstreamRequest): ChatBody {
  // A gateway may ask for the list of models: without a body.
  return (request.body === '' ? {} : JSON.parse(request.body)) as ChatBody;
}

function lastUserText(request: UpstreamRequest): string {
  const content = bodyOf(request).messages?.findLast(({ role }) => role === 'user')?.content;
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as { readonly text?: unknown }[]) : [];
  return parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
}
