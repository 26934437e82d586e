import type { Call } from '#/call/call.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { Hold } from '#/meter/meter.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { Incoming } from '#/ports/provider.ts';
import type { Candidate } from '#/call/target.ts';
import type { AnswerTally } from './answer-tally.ts';
import type { Answered } from './attempts.ts';
import type { Recalled } from './cache/recalled.ts';
import { RecordedAnswer } from './cache/recorded.ts';
import { MadeObjects } from './kept/made-objects.ts';
import type { Ownership } from './kept/ownership.ts';
import { contextOf, restoringFor } from './relay/answer-context.ts';
import { hidesCacheCounts } from './relay/display.ts';
import type { Reading } from './relay/buffered.ts';
import type { Relay } from './relay/relay.ts';
import { TranslatedRelay } from './relay/translated-relay.ts';
import { VerbatimRelay } from './relay/verbatim-relay.ts';
import type { Restoration } from '#/inspect/restore/restoration.ts';
import type { UpstreamSignal } from './upstream-signal.ts';

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
export interface Source extends Pick<Answered, 'candidate' | 'incoming' | 'fair'> {
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
export function comingOf(
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
    made: permit && MadeObjects.of(call, candidate, permit.credential?.name, ownership),
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
    ? new TranslatedRelay(call, restoration, tally, candidate, translation, contextOf(call, candidate, translation.settings, bounds))
    : new VerbatimRelay(call, restoration, tally, candidate);
  upstream.relay = relay;
  return { relay, restoration, upstream };
}

function readingOf({ call, inspection, bounds }: Dispatch, candidate: Candidate): Reading {
  const { codec, ask } = call;
  const { translation, provider, body } = candidate;
  return {
    codec,
    answers: ask.answers,
    inBackground: ask.background === true,
    jsonAnswer: ask.jsonAnswer,
    hideCache: hidesCacheCounts(provider.config),
    translation: translation && { ...translation, context: contextOf(call, candidate, translation.settings, bounds) },
    asked: codec.fitAnswer && { request: call.document, sent: body },
    restoring: restoringFor(call, inspection),
  };
}
