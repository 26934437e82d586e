import { newCallId } from '#/call/call-id.ts';
import { ServerRestarting, type CallContext, type CallRequest, type Emit } from '#/call/call.ts';
import type { CustomTerm, Snapshot } from '#/config/snapshot.ts';
import type { ToolCallRequest, ToolReply } from '#/call/tool-call.ts';
import { asGatewayError, GatewayError, restarting } from '#/errors/gateway-error.ts';
import { NotAJsonObject } from '#/wire/document/document.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import type { LoopCall, LoopConversation } from '#/wire/hub/tool-loop/loop-codec.ts';
import { currentCaller } from './current-caller.ts';
import { Heard } from './heard.ts';
import { failed, runTool } from './run-tool.ts';

/** What rounds are made of. */
export interface LoopParts {
  /** Serves one model call. */
  readonly serve: (request: CallRequest, text: string, emit: Emit) => Promise<unknown>;
  readonly callTool: (request: ToolCallRequest) => Promise<ToolReply>;
  /** The configuration in force. */
  readonly snapshot: () => Snapshot | undefined;
  /** Seals a refusal that no call of its own has come to. */
  readonly seal: (context: CallContext, error: GatewayError) => void;
}

/** What one request may take. */
export const LOOP_LIMITS = {
  rounds: 16,
  /** Calls that one answer of the model may make; more are not run. */
  callsPerRound: 16,
  /** No round and no tool begins later. */
  seconds: 600,
  /** Bytes of the request of one round, and of its answer. */
  bytes: 4 * 1024 * 1024,
} as const;

/** A request whose tools the gateway runs. */
export interface LoopRequest {
  readonly request: CallRequest;
  readonly conversation: LoopConversation;
  readonly stream: boolean;
  /** Terms that the client wants removed from what leaves. */
  readonly remove: readonly CustomTerm[];
  /** Most calls of tools that the client allows. */
  readonly maxCalls: number;
}

/**
 * Asks the model, runs the tools that it calls, and asks again, until it answers or calls a function of the client's. Every
 * round and every call of a tool is a call of its own: inspected, held, sealed and settled. The first round bears the id of
 * the request, all others name it. Throws the error for the client.
 */
export async function runToolLoop(loop: LoopRequest, emit: Emit, parts: LoopParts): Promise<void> {
  const { request, conversation, stream } = loop;
  const heard = new Heard(emit, stream);
  const calls = new Calls(loop, parts);
  try {
    await calls.runApproved((told) => heard.write(told));
    for (let round = 1; ; round++) {
      if (round > LOOP_LIMITS.rounds)
        throw calls.stopped(limit(`The model has not answered after ${LOOP_LIMITS.rounds} rounds.`));
      const context = round === 1 ? calls.inTime(request) : calls.child();
      const text = conversation.request();
      if (Buffer.byteLength(text) > LOOP_LIMITS.bytes) throw calls.stopped(tooLong());
      calls.hasRow = true;
      await askModel({ ...request, ...context }, text, conversation, heard, parts);
      const { calls: called, isLast } = calls.reading(() => conversation.read());
      await calls.run(called, (told) => heard.write(told));
      if (!isLast) continue;
      await heard.write(calls.reading(() => conversation.end()));
      return;
    }
  } catch (thrown) {
    const isHangUp = request.signal.aborted && !(thrown instanceof GatewayError);
    if (!calls.ran || isHangUp) throw thrown;
    // Sending the request again would run its tools again.
    const error = asGatewayError(thrown);
    throw error.shouldRetry ? notAgain(error) : error;
  }
}

async function askModel(
  request: CallRequest,
  text: string,
  conversation: LoopConversation,
  heard: Heard,
  { serve }: LoopParts,
): Promise<void> {
  let bytes = 0;
  await serve(request, text, (answer) => {
    if (answer.kind !== 'body') return heard.take(answer);
    bytes += answer.text.length;
    if (bytes > LOOP_LIMITS.bytes) throw tooLong();
    request.keep?.(answer.text.length);
    const { text: piece } = answer;
    return heard.write(readable(() => conversation.hear(piece)));
  });
  goOn(request);
}

/** Reads of an answer. Throws `upstream_error` for one that is not of its family, or that is more than can be read. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!UNREADABLE.some((fault) => thrown instanceof fault)) throw thrown;
    const report = { cause: 'protocol', attempts: [] };
    const message = 'The provider answered in a form that the gateway cannot read.';
    throw new GatewayError('upstream_error', message, { report }, { cause: thrown });
  }
}

const UNREADABLE = [SyntaxError, RangeError, NotAJsonObject, AmbiguousJson, TooManyValues];

/** The calls of tools of one request. */
class Calls {
  /** Whether a tool may have been run. */
  ran = false;
  /** Whether a round seals the row of the request, or has. */
  hasRow = false;
  readonly #loop: LoopRequest;
  readonly #parts: LoopParts;
  readonly #until = performance.now() + LOOP_LIMITS.seconds * 1000;
  readonly #sealed = new WeakSet<GatewayError>();
  #count = 0;

  constructor(loop: LoopRequest, parts: LoopParts) {
    this.#loop = loop;
    this.#parts = parts;
  }

  /** Runs what the client has approved. No round has begun: what stops it has the row of the request. */
  async runApproved(tell: (text: string) => boolean | Promise<boolean>): Promise<void> {
    try {
      await this.run(this.#loop.conversation.approved, tell);
    } catch (thrown) {
      throw thrown instanceof GatewayError ? this.stoppedOnce(thrown) : thrown;
    }
  }

  /** Runs them one after the other, in the order of the model. */
  async run(calls: readonly LoopCall[], tell: (text: string) => boolean | Promise<boolean>): Promise<void> {
    for (const [at, call] of calls.entries()) {
      const ran = await this.#run(call, at);
      this.#loop.request.keep?.(ran.output.length);
      await tell(this.#loop.conversation.ran({ ...call, ...ran }));
      goOn(this.#loop.request);
    }
  }

  async #run(call: LoopCall, at: number) {
    if (at >= LOOP_LIMITS.callsPerRound)
      return failed(`Not run: at most ${LOOP_LIMITS.callsPerRound} tools are called at once.`);
    if (this.#count >= this.#loop.maxCalls) return failed('Not run: the request allows no more calls of tools.');
    const context = this.child();
    this.#count++;
    this.ran = true;
    return runTool(call, { ...context, remove: this.#loop.remove }, this.#parts.callTool);
  }

  /** A call of the gateway's own for this request. Throws as `inTime` and `currentCaller` do. */
  child(): CallContext {
    const child = this.inTime(this.#child());
    try {
      return { ...child, ...currentCaller(child, this.#parts.snapshot()) };
    } catch (thrown) {
      throw this.stopped(asGatewayError(thrown));
    }
  }

  /** Reads of an answer that is over. Throws as `readable` does. */
  reading<T>(read: () => T): T {
    try {
      return readable(read);
    } catch (thrown) {
      throw thrown instanceof GatewayError ? this.stopped(thrown) : thrown;
    }
  }

  /** The request ends here, between two calls, or before the first: a row says so. */
  stopped(error: GatewayError): GatewayError {
    this.#sealed.add(error);
    this.#parts.seal(this.hasRow ? this.#child() : this.#loop.request, error);
    return error;
  }

  /** The same, of an error that may have a row. */
  stoppedOnce(error: GatewayError): GatewayError {
    return this.#sealed.has(error) ? error : this.stopped(error);
  }

  #child(): CallContext {
    const { codec: _codec, ...context } = this.#loop.request;
    const startedAt = Date.now();
    return { ...context, id: newCallId(startedAt), startedAt, parent: context.id };
  }

  /** The same with no more time than is left of the request's. Throws `tool_loop_limit` where none is. */
  inTime<C extends CallContext>(context: C): C {
    const left = Math.floor((this.#until - performance.now()) / 1000);
    if (left < 1) throw this.stopped(limit(`The model has not answered within ${LOOP_LIMITS.seconds} seconds.`));
    const { headers, key } = context;
    if (left >= key.workload.policy.answerTimeoutSeconds) return context;
    const asked = Number(headers[TIMEOUT] ?? Infinity);
    return asked <= left ? context : { ...context, headers: { ...headers, [TIMEOUT]: String(left) } };
  }
}

/** Throws where the client has left, or the process ends. */
function goOn({ signal }: CallContext): void {
  if (!signal.aborted) return;
  throw signal.reason instanceof ServerRestarting ? restarting() : (signal.reason as Error);
}

const TIMEOUT = 'x-gw-upstream-timeout';

function limit(message: string): GatewayError {
  return new GatewayError('tool_loop_limit', message);
}

function tooLong(): GatewayError {
  return limit(`The conversation with its tools has more than ${LOOP_LIMITS.bytes} bytes.`);
}

function notAgain(error: GatewayError): GatewayError {
  const { code, message, param, retryAfterMs, report, status, limits } = asGatewayError(error);
  return new GatewayError(
    code,
    message,
    {
      ...(param !== undefined && { param }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(report && { report }),
      ...(limits && { limits }),
      status,
      shouldRetry: false,
    },
    { cause: error },
  );
}
