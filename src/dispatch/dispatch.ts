import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { Hold } from '#/meter/meter.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { ServerRestarting, type Call, type Emit } from '#/call/call.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { restarting } from '#/errors/gateway-error.ts';
import type { AnswerTally } from './answer-tally.ts';
import { readBuffered } from './relay/buffered.ts';
import type { Recalled } from './cache/answer-cache.ts';
import { attempt, type Answered } from './attempts.ts';
import type { AttemptPermit, Upstreams } from './upstream/upstreams.ts';
import { MadeObjects } from './kept/made-objects.ts';
import type { Ownership } from './kept/ownership.ts';
import type { UnsupportedParameters } from './unsupported-parameters.ts';
import { lossHeaders } from './losses.ts';
import type { Candidate } from '#/call/target.ts';
import { RecordedAnswer, replayed } from './cache/recorded.ts';
import type { Relay } from './relay/relay.ts';
import { inSlices } from './relay/read-in-slices.ts';
import { TranslatedRelay } from './relay/translated-relay.ts';
import { noAnswer, outcomeOfFault, reportedError, ReportedFailure } from './upstream/upstream-error.ts';
import { UpstreamSignal } from './upstream-signal.ts';
import { VerbatimRelay } from './relay/verbatim-relay.ts';
import { contextOf, restorationFor } from './relay/answer-context.ts';

/** What asking providers takes, besides the call. */
export interface DispatchParts {
  readonly unsupported: UnsupportedParameters;
  readonly upstreams: Upstreams;
  readonly ownership: Ownership;
}

/** All that was decided about a call before it leaves. */
export interface Dispatch {
  readonly call: Call;
  readonly inspection: Inspection;
  readonly bounds: UsageBounds;
  /** Absent if the answer is at hand: no provider is asked or paid. */
  readonly hold: Hold<Candidate> | undefined;
  readonly recalled: Recalled;
}

/** Keeps what a candidate was sent and what it said. */
export type Retain = (candidate: Candidate, answer: Buffer | undefined) => void;

/**
 * Asks the provider and relays its answer, restoring tags; all other bytes stay as they came. The result
 * is in `tally`, also when it rejects. `retain`: absent unless policy retains content.
 */
export async function dispatch(
  work: Dispatch,
  parts: DispatchParts,
  retain: Retain | undefined,
  tally: AnswerTally,
  emit: Emit,
): Promise<void> {
  const { call, bounds, hold, recalled } = work;
  const upstream = call.ask.stream ? new UpstreamSignal(call) : undefined;
  let answered: Answered | undefined;
  let answer: RecordedAnswer | undefined;
  try {
    // A client that is gone already is not dispatched for, nor billed.
    if (call.signal.aborted) throw new UpstreamFault('aborted', 'the client hung up before dispatch');
    if (!recalled.hit) {
      if (!hold) throw new Error('a provider was to be asked without a hold');
      answered = await attempt(hold.plan, {
        call,
        bounds,
        // Waiting for another call's answer was waiting for the provider's.
        timeoutMs: Math.max(1, call.timeoutMs - Math.floor(recalled.waitedMs)),
        patienceMs: call.key.workload.policy.answerTimeoutSeconds * 1000,
        signal: upstream?.signal ?? call.signal,
        tally,
        unsupported: parts.unsupported,
        upstreams: parts.upstreams,
      });
    }
    const { candidate, incoming } = answered ?? replay(work, tally);
    tally.isAnswering = true;
    if (recalled.state === 'miss' || (retain && !recalled.hit))
      answer = new RecordedAnswer(incoming, () => recalled.letGo());
    const source = { candidate, incoming: answer ?? incoming, permit: answered?.permit };
    const isHeard = upstream
      ? await streamed(work, source, parts, tally, upstream, emit)
      : await buffered(work, source, parts, tally, emit);
    if (!isHeard || call.signal.aborted) return;
    tally.isServed = true;
    answered?.permit.end('served');
    if (answer) recalled.keep(candidate, answer);
  } catch (thrown) {
    answered?.permit.end(call.signal.aborted ? 'unknown' : outcomeOfFault(thrown, answered.fair));
    throw explain(thrown, call, tally);
  } finally {
    answered?.permit.end('unknown');
    upstream?.release();
    if (retain && tally.candidate) retain(tally.candidate, answer?.bytes);
  }
}

/** Source of an answer: a provider, or the cache, which needs no attempt. */
interface Source extends Pick<Answered, 'candidate' | 'incoming'> {
  readonly permit: AttemptPermit | undefined;
}

/** An answer that was given before, as if its provider gave it now. */
function replay({ call, bounds, recalled }: Dispatch, tally: AnswerTally): Omit<Source, 'permit'> {
  const { candidate, answer } = recalled.hit!;
  tally.cacheHit = 'exact';
  tally.asks(candidate, call.ask, bounds);
  return { candidate, incoming: replayed(answer) };
}

/** Whether the answer was taken to its end. */
async function buffered(
  { call, inspection, bounds }: Dispatch,
  { candidate, incoming, permit }: Source,
  { ownership }: DispatchParts,
  tally: AnswerTally,
  emit: Emit,
): Promise<boolean> {
  const text = await readBuffered(call, inspection, bounds, candidate, incoming, tally);
  // An answer that was given before made what it made then.
  const recording = permit && MadeObjects.of(call, candidate, permit.credential?.name, ownership)?.ofAnswer(text);
  if (recording) await recording;
  const told = emit({ kind: 'head', headers: lossHeaders(tally.losses) });
  if (!(told instanceof Promise ? await told : told)) return false;
  return emit({ kind: 'body', text });
}

/** Whether the answer was taken to its end. */
async function streamed(
  { call, inspection, bounds }: Dispatch,
  { candidate, incoming, permit }: Source,
  { ownership }: DispatchParts,
  tally: AnswerTally,
  upstream: UpstreamSignal,
  emit: Emit,
): Promise<boolean> {
  const { translation } = candidate;
  const restoration = restorationFor(call, inspection);
  const made = permit && MadeObjects.of(call, candidate, permit.credential?.name, ownership);
  const relay = translation
    ? new TranslatedRelay(call, restoration, tally, candidate, translation, contextOf(call, candidate, bounds))
    : new VerbatimRelay(call, restoration, tally, candidate);
  upstream.relay = relay;
  const chunks = inSlices(incoming.chunks());
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
        permit?.answering();
        if (restoration.withheld) tally.lose('restore');
        if (!(await emit({ kind: 'head', headers: lossHeaders(tally.losses) }))) return false;
      }
      if (head && text !== '' && !call.signal.aborted) {
        const recording = made?.ofEvents(text);
        if (recording) await recording;
        if (!(await emit({ kind: 'body', text }))) return false;
      }
      if (relay.failure !== undefined) throw relay.failure;
      over ||= relay.over;
    }
    if (!head) throw new UpstreamFault('reset', 'the stream ended before its answer began');
    return true;
  } finally {
    if (!over && !relay.failure && upstream.draining) await drain(chunks, relay);
    incoming.close();
    if (restoration.withheld) tally.lose('restore');
  }
}

/** Reads on for the usage of a stream after its client left. */
async function drain(chunks: AsyncIterator<Uint8Array>, relay: Relay): Promise<void> {
  try {
    for (let next = await chunks.next(); !next.done && !relay.failure; next = await chunks.next()) {
      relay.consume(next.value);
      if (relay.over) return;
    }
  } catch {
    // Out of time, or the provider failed too: the usage seen so far is billed.
  }
}

/** What a fault behind the gateway is to the client. */
function explain(thrown: unknown, call: Call, tally: AnswerTally): unknown {
  if (call.signal.aborted && call.signal.reason instanceof ServerRestarting) return restarting();
  if (thrown instanceof ReportedFailure) return reportedError(thrown, tally.attempts);
  if (!(thrown instanceof UpstreamFault)) return thrown;
  const last = tally.attempts.at(-1);
  // The attempt was reported when its head came; its failure came later.
  if (last?.status !== undefined && tally.isAnswering)
    tally.attempts[tally.attempts.length - 1] = { ...last, error: thrown.kind };
  return noAnswer(thrown, tally.attempts);
}
