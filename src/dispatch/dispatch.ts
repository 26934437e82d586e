import { ServerRestarting, type Call } from '#/call/call.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { restarting } from '#/errors/gateway-error.ts';
import type { AnswerTally } from './answer-tally.ts';
import { attempt, type Answered, type Asking } from './attempts.ts';
import type { Upstreams } from './upstream/upstreams.ts';
import type { Ownership } from './kept/ownership.ts';
import type { UnsupportedParameters } from './unsupported-parameters.ts';
import { replayed, RecordedAnswer } from './cache/recorded.ts';
import { noAnswer, outcomeOfFault, reportedError, ReportedFailure } from './upstream/upstream-error.ts';
import { UpstreamSignal } from './upstream-signal.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { Hold } from '#/meter/meter.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { Candidate } from '#/call/target.ts';
import type { Recalled } from './cache/recalled.ts';
import { madeObjectsOf, type MadeObjects } from './kept/made-objects.ts';
import { contextOf, restoringFor } from './relay/answer-context.ts';
import { hidesCacheCounts } from './relay/display.ts';
import type { Reading } from './relay/buffered.ts';
import type { Relay } from './relay/relay.ts';
import { TranslatedRelay } from './relay/translated-relay.ts';
import { VerbatimRelay } from './relay/verbatim-relay.ts';
import type { Restoration } from '#/inspect/restore/restoration.ts';

/** All that was decided about a call before it leaves. */
export interface Dispatch {
  readonly call: Call;
  readonly inspection: Inspection;
  readonly bounds: UsageBounds;
  /** Absent if the answer is at hand: no provider is asked or paid. */
  readonly hold: Hold<Candidate> | undefined;
  readonly recalled: Recalled;
}

/** Keeps the request to a candidate. The function that it gives takes the answer, if one came. */
export type Retain = (candidate: Candidate) => (answer: Buffer | undefined) => void;

/** Where an answer is from: a provider, or the cache, which needs no permit. */
interface Source extends Pick<Answered, 'candidate' | 'incoming' | 'fair'> {
  readonly permit: Answered['permit'] | undefined;
}

/**
 * An answer whose head is there. From here on no provider is asked again, so the request is dropped, except for the parts
 * that the answer needs: a prompt may be long, and its answer may take an hour.
 */
export interface Coming extends Omit<Source, 'candidate'> {
  /** Aborted when the client leaves, or the process ends. */
  readonly signal: AbortSignal;
  readonly from: Pick<Candidate, 'provider' | 'model' | 'family'>;
  readonly tally: AnswerTally;
  readonly recalled: Recalled;
  /** The same answer, where a copy of it is recorded. */
  readonly recorded: RecordedAnswer | undefined;
  readonly made: MadeObjects | undefined;
  /** Takes the recorded bytes when the answer ends; absent unless policy retains content. */
  readonly retain: ((answer: Buffer | undefined) => void) | undefined;
  readonly reading: Streaming | Reading;
}

/** How a stream is read. */
export interface Streaming {
  readonly relay: Relay;
  readonly restoration: Restoration | undefined;
  readonly upstream: UpstreamSignal;
}

/** Makes of a call and the head of its answer all that passing the answer on needs. */
function comingOf(
  work: Dispatch,
  { candidate, incoming, permit, fair }: Source,
  retain: Retain | undefined,
  ownership: Ownership,
  tally: AnswerTally,
  upstream: UpstreamSignal | undefined,
): Coming {
  const { call, recalled } = work;
  const { provider, model, family } = candidate;
  const isRecorded = recalled.state === 'miss' || (retain !== undefined && !recalled.hit);
  const recorded = isRecorded ? recordedFor(incoming, recalled) : undefined;
  return {
    signal: call.signal,
    from: { provider, model, family },
    incoming: recorded ?? incoming,
    permit,
    fair,
    tally,
    recalled,
    recorded,
    // An answer that was given before made what it made then.
    made: permit && madeObjectsOf(call, candidate, permit.credential?.name, ownership),
    retain: retain?.(candidate),
    reading: upstream ? streamingOf(work, candidate, tally, upstream) : readingOf(work, candidate),
  };
}

function recordedFor(incoming: Incoming, recalled: Recalled): RecordedAnswer {
  return new RecordedAnswer(incoming, () => recalled.letGo());
}

function streamingOf(
  { call, inspection, bounds }: Dispatch,
  candidate: Candidate,
  tally: AnswerTally,
  upstream: UpstreamSignal,
): Streaming {
  const restoration = restoringFor(call, inspection)?.();
  const { translation } = candidate;
  const relay = translation
    ? new TranslatedRelay(
        call,
        restoration,
        tally,
        candidate,
        translation,
        contextOf(call, candidate, translation.settings, bounds),
      )
    : new VerbatimRelay(call, restoration, tally, candidate);
  upstream.relay = relay;
  return { relay, restoration, upstream };
}

function readingOf({ call, inspection, bounds }: Dispatch, candidate: Candidate): Reading {
  const { codec } = call;
  const { answers, background, jsonAnswer } = call.ask;
  const { translation, provider, body } = candidate;
  return {
    codec,
    answers,
    inBackground: background === true,
    jsonAnswer,
    hideCache: provider.config.keyOwnership === 'managed' && hidesCacheCounts(provider.config),
    translation: translation && { ...translation, context: contextOf(call, candidate, translation.settings, bounds) },
    asked: codec.fitAnswer && { request: call.document, sent: body },
    restoring: restoringFor(call, inspection),
  };
}

/** What asking providers takes, besides the call. */
export interface DispatchParts {
  readonly unsupported: UnsupportedParameters;
  readonly upstreams: Upstreams;
  readonly ownership: Ownership;
}

/**
 * Asks providers until the head of an answer is there; or takes the answer that is at hand. Whom it asked is in `tally`,
 * also when it rejects. `retain`: absent unless policy retains content.
 */
export async function askProviders(
  work: Dispatch,
  parts: DispatchParts,
  retain: Retain | undefined,
  tally: AnswerTally,
): Promise<Coming> {
  const { call, bounds, hold, recalled } = work;
  const upstream = call.ask.stream ? new UpstreamSignal(call) : undefined;
  const asking: Asking = {
    call,
    // Waiting for another call's answer was waiting for the provider's.
    timeoutMs: Math.max(1, call.timeoutMs - Math.floor(recalled.waitedMs)),
    patienceMs: call.key.workload.policy.answerTimeoutSeconds * 1000,
    signal: upstream?.signal ?? call.signal,
    tally,
    bounds,
    asked: undefined,
    unsupported: parts.unsupported,
    upstreams: parts.upstreams,
  };
  let answered: Answered | undefined;
  try {
    // A client that is gone already is not dispatched for, nor billed.
    if (call.signal.aborted) throw new UpstreamFault('aborted', 'the client hung up before dispatch');
    if (!recalled.hit) {
      if (!hold) throw new Error('a provider was to be asked without a hold');
      answered = await attempt(hold.plan, asking);
    }
    const source = answered ?? replay(work, asking);
    tally.isAnswering = true;
    return comingOf(work, source, retain, parts.ownership, tally, upstream);
  } catch (thrown) {
    answered?.permit.end(call.signal.aborted ? 'unknown' : outcomeOfFault(thrown, answered.fair));
    upstream?.release();
    if (retain && asking.asked) retain(asking.asked)(undefined);
    throw explain(thrown, call.signal, tally);
  }
}

/** An answer that was given before, as if its provider gave it now. */
function replay({ call, recalled, bounds }: Dispatch, asking: Asking): Source {
  const { candidate, answer } = recalled.hit!;
  const { tally } = asking;
  tally.cacheHit = 'exact';
  asking.asked = candidate;
  tally.asks(candidate, call.ask, bounds);
  return { candidate, incoming: replayed(answer), permit: undefined, fair: true };
}

/** What a fault behind the gateway is to the client. `signal`: aborted once the client no longer waits. */
export function explain(thrown: unknown, signal: AbortSignal, tally: AnswerTally): unknown {
  if (signal.aborted && signal.reason instanceof ServerRestarting) return restarting();
  if (thrown instanceof ReportedFailure) return reportedError(thrown, tally.attempts);
  if (!(thrown instanceof UpstreamFault)) return thrown;
  const last = tally.attempts.at(-1);
  // The attempt was reported when its head came; its failure came later.
  if (last?.status !== undefined && tally.isAnswering)
    tally.attempts[tally.attempts.length - 1] = { ...last, error: thrown.kind };
  return noAnswer(thrown, tally.attempts);
}
