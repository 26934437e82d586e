import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { Hold } from '#/meter/meter.ts';
import { inServiceTier, NO_USAGE } from '#/wire/answer/usage.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { ServerRestarting, type Call, type Emit } from '#/call/call.ts';
import { UpstreamFault, type Outgoing } from '#/ports/provider.ts';
import { restarting } from '#/errors/gateway-error.ts';
import type { AnswerTally } from './answer-tally.ts';
import { readBuffered } from './relay/buffered.ts';
import type { Recalled } from './cache/answer-cache.ts';
import { attempt, type Answered } from './attempts.ts';
import type { AttemptPermit, UpstreamHealth, Upstreams } from './upstreams.ts';
import { MadeObjects } from './kept/made-objects.ts';
import type { Ownership } from './kept/ownership.ts';
import type { UnsupportedParameters } from './unsupported-parameters.ts';
import { lossHeaders, tellableLosses } from './losses.ts';
import type { Candidate } from '#/call/target.ts';
import { RecordedAnswer, replayed } from './cache/recorded.ts';
import type { Relay } from './relay/relay.ts';
import { inSlices } from './relay/read-in-slices.ts';
import { TranslatedRelay } from './relay/translated-relay.ts';
import { noAnswer, outcomeOfFault, reportedError, ReportedFailure } from './upstream-error.ts';
import { UpstreamSignal } from './upstream-signal.ts';
import { VerbatimRelay } from './relay/verbatim-relay.ts';
import type { AnswerContext } from '#/wire/hub/codec.ts';
import { Conversation } from '#/inspect/restore/conversation.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import type { AnswerMeter } from './relay/answer-meter.ts';

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
  const { call, bounds, recalled } = work;
  const upstream = call.ask.stream ? new UpstreamSignal(call) : undefined;
  const signal = upstream?.signal ?? call.signal;
  let asked: Candidate | undefined;
  let answered: Answered | undefined;
  let answer: RecordedAnswer | undefined;
  const onAttempt = (candidate: Candidate): void => {
    asked = candidate;
    name(candidate, work, tally);
  };
  try {
    // A client that is gone already is not dispatched for, nor billed.
    if (call.signal.aborted) throw new UpstreamFault('aborted', 'the client hung up before dispatch');
    if (!recalled.hit) answered = await askProvider(work, parts, signal, onAttempt, tally);
    const { candidate, incoming } = answered ?? replay(recalled.hit!, onAttempt, tally);
    tally.begin();
    if (recalled.state === 'miss' || (retain && !recalled.hit))
      answer = new RecordedAnswer(incoming, () => recalled.letGo());
    const permit = answered?.permit;
    // An answer that was given before made what it made then.
    const made = permit && MadeObjects.of(call, candidate, permit.credential?.name, parts.ownership);
    const source = { candidate, incoming: answer ?? incoming, permit, made };
    const context = contextOf(call, candidate, bounds);
    const isHeard = upstream
      ? await streamed(work, source, tally, upstream, context, emit)
      : await buffered(work, source, tally, context, emit);
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
    if (asked) retain?.(asked, answer?.bytes);
  }
}

/** Source of an answer: a provider, or the cache, which needs no attempt. */
interface Source extends Pick<Answered, 'candidate' | 'incoming'> {
  readonly permit: AttemptPermit | undefined;
  readonly made: MadeObjects | undefined;
}

/** An answer that was given before, as if its provider gave it now. */
function replay(
  { candidate, answer }: NonNullable<Recalled['hit']>,
  onAttempt: (candidate: Candidate) => void,
  tally: AnswerTally,
): Source {
  tally.cacheHit = 'exact';
  onAttempt(candidate);
  return { candidate, incoming: replayed(answer), permit: undefined, made: undefined };
}

function askProvider(
  { call, hold, recalled }: Dispatch,
  { unsupported, upstreams }: DispatchParts,
  signal: AbortSignal,
  onAttempt: (candidate: Candidate) => void,
  tally: AnswerTally,
): Promise<Answered> {
  if (!hold) throw new Error('a provider was to be asked without a hold');
  return attempt(hold.plan, {
    outgoing: (asked, permit, timeoutMs) => outgoing(call, asked, permit, timeoutMs, signal),
    // Waiting for another call's answer was waiting for the provider's.
    timeoutMs: Math.max(1, call.timeoutMs - Math.floor(recalled.waitedMs)),
    patienceMs: call.key.workload.policy.answerTimeoutSeconds * 1000,
    signal,
    report: tally.attempts,
    unsupported,
    upstreams,
    onAttempt,
    onLeftAlone: ({ provider, model }, cause) =>
      void tally.route.push(`${provider.config.slug}/${model}: skipped: ${SKIPPED[cause]}`),
  });
}

/** Why an upstream is not asked, in the words of the audit row. */
const SKIPPED: Readonly<Record<UpstreamHealth['cause'], string>> = {
  circuit_open: 'its circuit breaker is open',
  overloaded: 'it asked to wait',
};

/** Names the candidate in the call's row, as the one that it is asked of now. */
function name({ provider, model, family, losses }: Candidate, { call, bounds }: Dispatch, tally: AnswerTally): void {
  tally.target = { provider: provider.config.slug, model, family, jurisdiction: provider.jurisdiction(model) };
  tally.losses = losses.length === 0 ? losses : tellableLosses(losses);
  // Nothing says in which tier it is served until the provider does: it is billed as it was asked for.
  const output = call.ask.background === true ? (bounds.ceiling.outputTokens ?? 0) : 0;
  tally.seen = inServiceTier({ ...NO_USAGE, input: bounds.estimatedInput, output }, bounds.servedAs);
  tally.units = call.ask.units;
  tally.believable = provider.config.slug === LOCAL_PROVIDER.slug ? undefined : bounds.believable;
}

function outgoing(
  call: Call,
  { provider, model: id, family, body }: Candidate,
  { credential }: AttemptPermit,
  timeoutMs: number,
  signal: AbortSignal,
): Outgoing {
  const { headers, ask } = call;
  const model = provider.upstreamModel(id);
  const { stream, dialect } = ask;
  return { family, model, stream, body, headers, credential, timeoutMs, signal, ...(dialect && { dialect }) };
}

function contextOf(call: Call, { model }: Candidate, bounds: UsageBounds): AnswerContext {
  return {
    callId: call.id,
    model,
    createdAt: Math.floor(call.startedAt / 1000),
    request: call.document,
    includeUsage: call.ask.includeUsage,
    estimatedInput: bounds.estimatedInput,
  };
}

/** Whether the answer was taken to its end. */
async function buffered(
  { call, inspection }: Dispatch,
  { candidate, incoming, made }: Source,
  tally: AnswerTally,
  context: AnswerContext,
  emit: Emit,
): Promise<boolean> {
  const restoration = restorationFor(call, inspection);
  const text = await readBuffered(call, restoration, candidate, incoming, tally, context);
  const recording = made?.ofAnswer(text);
  if (recording) await recording;
  noteWithheld(restoration, tally);
  const headers = tally.losses.length === 0 ? {} : lossHeaders(tally.losses);
  if (!(await emit({ kind: 'head', headers }))) return false;
  return emit({ kind: 'body', text });
}

/** Whether the answer was taken to its end. */
async function streamed(
  { call, inspection }: Dispatch,
  { candidate, incoming, permit, made }: Source,
  tally: AnswerTally,
  upstream: UpstreamSignal,
  context: AnswerContext,
  emit: Emit,
): Promise<boolean> {
  const { translation } = candidate;
  const restoration = restorationFor(call, inspection);
  const relay = translation
    ? new TranslatedRelay(call, restoration, tally, candidate, translation, context)
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
        noteWithheld(restoration, tally);
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
    noteWithheld(restoration, tally);
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

/** What may be put back into the answer to a call. */
function restorationFor({ codec, document, key }: Call, { tags }: Pick<Inspection, 'tags'>): Restoration {
  const conversation = new Conversation(document, () => codec.speakers?.(document) ?? []);
  return new Restoration(tags, conversation, key.workload.policy.dlp.restore);
}

/** Names tags that stayed, since what they stand for was not to go where they stand. */
function noteWithheld({ withheld }: Restoration, meter: AnswerMeter): void {
  if (withheld) meter.lose('restore');
}
