import type { Demand } from '#meter/demand.ts';
import type { Hold } from '#meter/meter.ts';
import { estimatedTokens, NO_USAGE } from '#wire/usage.ts';
import { restoreAnswer } from '#inspect/restore.ts';
import type { Inspection } from '#inspect/inspect.ts';
import { ClientHungUp, ServerRestarting, type Answer, type Call } from '#pipeline/call.ts';
import { UpstreamFault, type Incoming, type Outgoing } from '#ports/provider.ts';
import type { Entry } from '#seal/entry.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import { removeMembers, render, setString, type Edit } from '#wire/document.ts';
import { isObject, type JsonObject } from '#wire/json.ts';
import { attempt } from './attempts.ts';
import type { Candidate } from './plan.ts';
import { StreamRelay } from './relay.ts';
import { noAnswer } from './upstream-error.ts';

/** All that was decided about a call before it leaves. */
export interface Dispatch {
  readonly call: Call;
  readonly inspection: Inspection;
  readonly demand: Demand;
  readonly hold: Hold;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** How long a hung-up stream is read on to its usage frame, where the workload wants exact bills. // design 2 */
const DRAIN_MS = 30_000;
/** How long any stream is, once its answer is complete and only its usage is missing. */
const USAGE_MS = 5000;

/** Asks the provider and relays its answer, restoring tags; the bytes of everything else stay as they came. */
export async function* dispatch(work: Dispatch, entry: Entry): AsyncGenerator<Answer> {
  const { call, hold, demand } = work;
  const upstream = new UpstreamSignal(call);
  try {
    // A client that is gone already is not dispatched for, nor billed.
    if (call.signal.aborted) throw new UpstreamFault('aborted', 'the client hung up before dispatch');
    const { candidate, incoming } = await attempt(hold.plan, {
      outgoing: (target, timeoutMs) => outgoing(work, target, timeoutMs, upstream.signal),
      timeoutMs: call.timeoutMs,
      signal: upstream.signal,
      report: entry.attempts,
      onAttempt: ({ provider, model }) => {
        entry.target = { provider: provider.config.slug, model, jurisdiction: provider.config.jurisdiction };
        entry.seen = { ...NO_USAGE, input: demand.estimatedInput };
      },
    });
    entry.answering = true;
    yield* call.ask.stream ? streamed(work, candidate, incoming, entry, upstream) : buffered(work, incoming, entry);
    if (!call.signal.aborted) entry.served();
  } catch (thrown) {
    throw explain(thrown, call, entry);
  } finally {
    upstream.release();
  }
}

/** The request as one provider gets it: the original bytes with the declared edits. */
function outgoing({ call, inspection }: Dispatch, target: Candidate, timeoutMs: number, signal: AbortSignal): Outgoing {
  const { provider, model } = target;
  const { document, ask, codec } = call;
  const edits: Edit[] = [
    ...call.edits,
    ...inspection.edits,
    setString(ask.modelNode, model),
    ...provider.quirks(document),
  ];
  if (ask.stream && !provider.usageOption)
    edits.push(...removeMembers(document.root, ({ value }) => value === 'stream_options'));
  else if (ask.stream && !ask.includeUsage) edits.push(...codec.askForUsage(document));
  return { family: codec.family, model, stream: ask.stream, body: render(call.text, edits), timeoutMs, signal };
}

async function* buffered({ call, inspection }: Dispatch, incoming: Incoming, entry: Entry): AsyncGenerator<Answer> {
  const text = await incoming.text(MAX_ANSWER_BYTES);
  const facts = call.codec.readAnswer(parseAnswer(text));
  if (!facts.complete) throw new UpstreamFault('protocol', 'the answer has no choices');
  entry.providerResponseId = facts.id ?? null;
  entry.usage = facts.usage;
  entry.seen = { ...entry.seen, output: estimatedTokens(text.length) };
  yield { kind: 'head' };
  yield { kind: 'body', text: restoreAnswer(text, call.codec, inspection.tags, call.ask.jsonAnswer) };
}

function parseAnswer(text: string): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new UpstreamFault('protocol', 'the answer is not JSON', { cause });
  }
  if (!isObject(body)) throw new UpstreamFault('protocol', 'the answer is not a JSON object');
  return body;
}

async function* streamed(
  { call, inspection }: Dispatch,
  { provider }: Candidate,
  incoming: Incoming,
  entry: Entry,
  upstream: UpstreamSignal,
): AsyncGenerator<Answer> {
  const relay = new StreamRelay(call, inspection.tags, entry, provider.config);
  upstream.relay = relay;
  const chunks = incoming.chunks()[Symbol.asyncIterator]();
  let head = false;
  /** Nothing more is to be read. */
  let over = false;
  try {
    while (!over) {
      const next = await chunks.next();
      over = next.done === true;
      const text = next.done ? relay.end() : relay.consume(next.value);
      if (!head && relay.begun) {
        head = true;
        yield { kind: 'head' };
      }
      if (head && text !== '' && !call.signal.aborted) yield { kind: 'body', text };
      if (relay.failure !== undefined) throw relay.failure;
      over ||= relay.over;
    }
  } finally {
    if (!over && !relay.failure && upstream.draining) await drain(chunks, relay);
    incoming.close();
  }
}

/** Reads on for the usage of a stream that nobody is listening to any more. */
async function drain(chunks: AsyncIterator<Uint8Array>, relay: StreamRelay): Promise<void> {
  try {
    for (let next = await chunks.next(); !next.done && !relay.failure; next = await chunks.next()) {
      relay.consume(next.value);
      if (relay.over) return;
    }
  } catch {
    // Out of time, or the provider failed too: what was seen is billed.
  }
}

/**
 * When the provider is to be given up: with the client, or for a stream some time later, where the workload drains or
 * where only the usage of a complete answer is missing.
 */
class UpstreamSignal {
  readonly signal: AbortSignal;
  relay: StreamRelay | undefined;
  readonly #call: Call;
  readonly #late: AbortController | undefined;
  readonly #onAbort = (): void => this.#end();
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Call) {
    this.#call = call;
    if (call.ask.stream) {
      this.#late = new AbortController();
      call.signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    this.signal = this.#late?.signal ?? call.signal;
  }

  /** The client is gone and the provider is read on. */
  get draining(): boolean {
    return this.#call.signal.aborted && !this.signal.aborted;
  }

  release(): void {
    if (!this.#late) return;
    clearTimeout(this.#timer);
    this.#call.signal.removeEventListener('abort', this.#onAbort);
  }

  #end(): void {
    const wait = this.#call.signal.reason instanceof ClientHungUp ? this.#patience() : 0;
    if (wait === 0) this.#late?.abort();
    else this.#timer = setTimeout(() => this.#late?.abort(), wait).unref();
  }

  #patience(): number {
    if (this.#call.key.workload.onHangUp === 'drain') return DRAIN_MS;
    return this.relay?.awaitsUsage ? USAGE_MS : 0;
  }
}

/** What a fault behind the gateway is to the client. */
function explain(thrown: unknown, call: Call, entry: Entry): unknown {
  if (call.signal.aborted && call.signal.reason instanceof ServerRestarting) {
    return new GatewayError('server_restarting', 'The gateway is restarting; send the request again.');
  }
  if (!(thrown instanceof UpstreamFault)) return thrown;
  const last = entry.attempts.at(-1);
  // The attempt was reported when its head came; its failure came later.
  if (last?.status !== undefined && entry.answering)
    entry.attempts[entry.attempts.length - 1] = { ...last, error: thrown.kind };
  return noAnswer(thrown.kind, entry.attempts);
}
