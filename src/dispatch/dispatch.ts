import { ServerRestarting } from '#/call/call.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { restarting } from '#/errors/gateway-error.ts';
import type { AnswerTally } from './answer-tally.ts';
import { attempt, type Answered } from './attempts.ts';
import { comingOf, type Coming, type Dispatch, type Retain, type Source } from './coming.ts';
import type { Upstreams } from './upstream/upstreams.ts';
import type { Ownership } from './kept/ownership.ts';
import type { UnsupportedParameters } from './unsupported-parameters.ts';
import type { Candidate } from '#/call/target.ts';
import { replayed } from './cache/recorded.ts';
import { noAnswer, outcomeOfFault, reportedError, ReportedFailure } from './upstream/upstream-error.ts';
import { UpstreamSignal } from './upstream-signal.ts';

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
export async function ask(
  work: Dispatch,
  parts: DispatchParts,
  retain: Retain | undefined,
  tally: AnswerTally,
): Promise<Coming> {
  const { call, bounds, hold, recalled } = work;
  const upstream = call.ask.stream ? new UpstreamSignal(call) : undefined;
  let asked: Candidate | undefined;
  const onAsked = (candidate: Candidate): void => {
    asked = candidate;
    tally.asks(candidate, call.ask, bounds);
  };
  let answered: Answered | undefined;
  try {
    // A client that is gone already is not dispatched for, nor billed.
    if (call.signal.aborted) throw new UpstreamFault('aborted', 'the client hung up before dispatch');
    if (!recalled.hit) {
      if (!hold) throw new Error('a provider was to be asked without a hold');
      answered = await attempt(hold.plan, {
        call,
        // Waiting for another call's answer was waiting for the provider's.
        timeoutMs: Math.max(1, call.timeoutMs - Math.floor(recalled.waitedMs)),
        patienceMs: call.key.workload.policy.answerTimeoutSeconds * 1000,
        signal: upstream?.signal ?? call.signal,
        tally,
        onAsked,
        unsupported: parts.unsupported,
        upstreams: parts.upstreams,
      });
    }
    const source = answered ?? replay(work, tally, onAsked);
    tally.isAnswering = true;
    return comingOf(work, source, retain, parts.ownership, tally, upstream);
  } catch (thrown) {
    answered?.permit.end(call.signal.aborted ? 'unknown' : outcomeOfFault(thrown, answered.fair));
    upstream?.release();
    if (retain && asked) retain(asked)(undefined);
    throw explain(thrown, call.signal, tally);
  }
}

/** An answer that was given before, as if its provider gave it now. */
function replay({ recalled }: Dispatch, tally: AnswerTally, onAsked: (candidate: Candidate) => void): Source {
  const { candidate, answer } = recalled.hit!;
  tally.cacheHit = 'exact';
  onAsked(candidate);
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
