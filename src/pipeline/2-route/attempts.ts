import type { AttemptReport } from '#errors/gateway-error.ts';
import { UpstreamFault, type Incoming, type Outgoing } from '#ports/provider.ts';
import type { LearnedRejects } from './learned-rejects.ts';
import type { Candidate, Plan } from './prepare.ts';
import { answeredWithError, noAnswer, retryable } from './upstream-error.ts';

/** At most this many attempts a call, over all candidates. // design 5 */
const MAX_ATTEMPTS = 3;
const BASE_WAIT_MS = 100;
/** A provider that asks for a longer wait is answered for, not waited for. */
const MAX_WAIT_MS = 5000;
const MAX_ERROR_BODY = 64 * 1024;

export interface AttemptDeps {
  /** The request as this candidate gets it. */
  readonly outgoing: (candidate: Candidate, timeoutMs: number) => Outgoing;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told before each attempt. */
  readonly onAttempt: (candidate: Candidate) => void;
  /** Where attempts are reported. */
  readonly report: AttemptReport[];
  readonly learned: LearnedRejects;
}

export interface Answered {
  readonly candidate: Candidate;
  readonly incoming: Incoming;
}

/**
 * Asks the candidates in order until one answers with success. One failed attempt may be repeated, bounded by the
 * provider's own setting and by three in all; never after a timeout, since the provider may still be running it. One
 * that was refused for an optional member is repeated without it, once.
 * Throws what the client is told of the last failure. // spec 7.1
 */
export async function attempt(plan: Plan, deps: AttemptDeps): Promise<Answered> {
  const deadline = performance.now() + deps.timeoutMs;
  let last: Failure | undefined;
  for (const planned of plan) {
    let candidate = deps.learned.fit(planned);
    let { attempts } = planned.provider.config;
    for (let round = 0; round < attempts && deps.report.length < MAX_ATTEMPTS; round++) {
      if (last?.again && !(await pause(last, round, deadline, deps.signal))) throw last.error;
      deps.onAttempt(candidate);
      const result = await once(candidate, deadline, deps);
      if ('incoming' in result) return { candidate, incoming: result.incoming };
      last = result;
      if (last.lighter && candidate === planned) {
        candidate = last.lighter;
        attempts++;
      } else if (!last.again) throw last.error;
    }
  }
  throw last!.error;
}

interface Failure {
  readonly error: Error;
  /** Whether another attempt makes sense. */
  readonly again: boolean;
  readonly waitMs: number | undefined;
  /** The request without an optional member that was refused. */
  readonly lighter?: Candidate | undefined;
}

async function once(
  candidate: Candidate,
  deadline: number,
  deps: AttemptDeps,
): Promise<{ incoming: Incoming } | Failure> {
  const started = performance.now();
  const record = (outcome: { status?: number; error?: string }): void => {
    const { config } = candidate.provider;
    deps.report.push({
      provider: config.slug,
      model: candidate.model,
      ...outcome,
      duration_ms: Math.round(performance.now() - started),
    });
  };
  try {
    const incoming = await candidate.provider.send(
      deps.outgoing(candidate, remaining(deadline - started, deps.timeoutMs)),
    );
    if (incoming.status >= 200 && incoming.status < 300) {
      record({ status: incoming.status });
      return { incoming };
    }
    const failure = candidate.provider.readFailure(incoming, await errorBody(incoming));
    const { message, retryAfterMs } = failure;
    const status = failure.status ?? incoming.status;
    record({ status });
    const managed = candidate.provider.config.keyOwnership === 'managed';
    const error = answeredWithError(status, message, retryAfterMs, deps.report, managed);
    const lighter = deps.learned.learn(candidate, status, message);
    return { error, again: failure.retryable ?? retryable(status), waitMs: retryAfterMs, lighter };
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFault)) throw thrown;
    record({ error: thrown.kind });
    const again = thrown.kind === 'connect' || thrown.kind === 'reset';
    return { error: thrown.kind === 'aborted' ? thrown : noAnswer(thrown.kind, deps.report), again, waitMs: undefined };
  }
}

/**
 * What is left of the answer timeout, in steps of a quarter of a second: timers of equal length share one list in the
 * event loop, and the first attempt has the whole of it.
 */
function remaining(leftMs: number, timeoutMs: number): number {
  return Math.min(timeoutMs, Math.max(1, Math.ceil(leftMs / 250)) * 250);
}

/** An error body that can't be read is no reason to lose the status it came with. */
async function errorBody(incoming: Incoming): Promise<string> {
  try {
    return await incoming.text(MAX_ERROR_BODY);
  } catch (thrown) {
    if (thrown instanceof UpstreamFault && thrown.kind !== 'aborted') return '';
    throw thrown;
  }
}

/** Waits before an attempt; false when the wait asked for is not worth it. */
async function pause(last: Failure, round: number, deadline: number, signal: AbortSignal): Promise<boolean> {
  const wait = last.waitMs ?? BASE_WAIT_MS * 2 ** round * (0.5 + Math.random());
  if (wait > MAX_WAIT_MS || performance.now() + wait >= deadline || signal.aborted) return false;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, wait);
    signal.addEventListener('abort', done, { once: true });
  });
  return !signal.aborted;
}
