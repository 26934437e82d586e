import type { AttemptReport } from '#/errors/gateway-error.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import type { Call } from '#/call/call.ts';
import { skipped } from '#/route/decision.ts';
import type { AnswerTally } from './answer-tally.ts';
import type { UpstreamHealth, Upstreams, AttemptPermit } from './upstream/upstreams.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { UnsupportedParameters } from './unsupported-parameters.ts';
import type { Candidate, Candidates, Target } from '#/call/target.ts';
import { readRefusal, type Refusal } from './upstream/upstream-refusal.ts';
import { againAfterFault, noAnswer, nobodyToAsk, outcomeOfFault } from './upstream/upstream-error.ts';
import type { ProviderConfig } from '#/config/snapshot.ts';

/** At most this many attempts a call, over all candidates. // design 5 */
const MAX_ATTEMPTS = 3;
/** Turns that were lost to other calls count too. */
const MAX_TURNS = 2 * MAX_ATTEMPTS;
const BASE_WAIT_MS = 100;
/** A provider that asks for a longer wait is answered for, not waited for. */
const MAX_WAIT_MS = 5000;
/** Calls that wait for the same moment should not all come in it. */
const SPREAD = 0.1;

/** The requests to send, and how. */
export interface Asking {
  readonly call: Call;
  readonly timeoutMs: number;
  /** How long the workload lets a provider take: one that was given less is not blamed for its silence. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** Where attempts are reported, and each candidate that is skipped when the call comes. */
  readonly tally: AnswerTally;
  readonly bounds: UsageBounds;
  /** The candidate that was asked last. */
  asked: Candidate | undefined;
  readonly unsupported: UnsupportedParameters;
  readonly upstreams: Upstreams;
}

export interface Answered {
  readonly candidate: Candidate;
  readonly incoming: Incoming;
  /** The caller must report how the rest of the answer went. */
  readonly permit: AttemptPermit;
  /** The provider had the time that the workload gives. */
  readonly fair: boolean;
}

/**
 * Asks the candidates until one answers with success: in the order of the plan, those without a wait first.
 * One failed attempt may be repeated, bounded by the provider's own setting and by three in all; never after a timeout,
 * since the provider may still be running it. One that was refused for an optional member is repeated without it, once.
 * Throws the client's error for the last failure, or `upstream_overloaded` if no candidate may be asked. // spec 7.1
 */
export async function attempt(plan: Candidates, asking: Asking): Promise<Answered> {
  const { upstreams, tally, signal } = asking;
  const deadline = performance.now() + asking.timeoutMs;
  const choices: Choice[] = [];
  for (const planned of plan) {
    const choice = new Choice(planned, asking);
    const { candidate, health } = choice;
    if (health.waitMs > 0) tally.route.push(skipped(candidate, SKIPPED[health.cause]));
    choices.push(choice);
  }
  let last: Failure | undefined;
  for (let turn = 0; turn < MAX_TURNS && tally.attempts.length < MAX_ATTEMPTS; turn++) {
    if (turn > 0) for (const one of choices) one.health = upstreams.health(one.candidate);
    const [planned] = choices;
    const isReady = turn === 0 && planned?.health.waitMs === 0;
    const choice = isReady ? planned : soonest(choices);
    if (!choice || signal.aborted || !(isReady || (await pause(choice.restMs, deadline, signal)))) break;
    const permit = upstreams.enter(choice.candidate);
    // Another call has come first meanwhile, and things are otherwise now.
    if (!permit) continue;
    asking.asked = choice.candidate;
    tally.asks(choice.candidate, asking.call.ask, asking.bounds);
    const result = await once(choice.candidate, permit, deadline, asking);
    if ('incoming' in result) return result;
    last = result;
    if (!choice.failed(result)) break;
  }
  throw last?.error ?? nobodyToAsk(choices.map(({ candidate }) => upstreams.health(candidate)));
}

/** Why an upstream is not asked, in the words of the audit row. */
const SKIPPED: Readonly<Record<UpstreamHealth['cause'], string>> = {
  circuit_open: 'its circuit breaker is open',
  overloaded: 'it asked to wait',
};

/** A candidate, and the attempts that it has left. */
class Choice {
  candidate: Candidate;
  left: number;
  /** As it was at the beginning of this turn. */
  health: UpstreamHealth;
  readonly #planned: Candidate;
  /** Before this the provider has asked not to be asked by this call. */
  #notBefore = 0;
  #restUntil = 0;
  #failures = 0;

  constructor(planned: Candidate, { unsupported, upstreams }: Asking) {
    this.#planned = planned;
    this.candidate = unsupported.hasLearned ? unsupported.fit(planned) : planned;
    this.left = planned.provider.config.attempts;
    this.health = upstreams.health(this.candidate);
  }

  /** Milliseconds until it may be asked; 0: now. Calls never wait for an upstream that does not recover. */
  get waitMs(): number {
    const { waitMs, cause } = this.health;
    if (waitMs > 0 && cause === 'circuit_open') return Infinity;
    return Math.max(waitMs, this.#notBefore - performance.now(), 0);
  }

  /** Milliseconds until it is worth asking: one that has just failed is given a moment. */
  get restMs(): number {
    return Math.max(this.waitMs, this.#restUntil - performance.now());
  }

  /** Notes a failed attempt; false if no further attempt is allowed. */
  failed({ again, waitMs, lighter }: Failure): boolean {
    if (lighter && this.candidate === this.#planned) {
      this.candidate = lighter;
      return true;
    }
    this.left--;
    if (again !== 'here') this.left = 0;
    else if (waitMs !== undefined) this.#notBefore = performance.now() + waitMs;
    else this.#restUntil = performance.now() + BASE_WAIT_MS * 2 ** this.#failures++ * (0.5 + Math.random());
    return again !== 'nowhere';
  }
}

/** The first that may be asked now, else the one that may be soonest. */
function soonest(choices: readonly Choice[]): Choice | undefined {
  let best: Choice | undefined;
  let least = Infinity;
  for (const choice of choices) {
    const { left, waitMs } = choice;
    if (left === 0 || waitMs >= least) continue;
    best = choice;
    least = waitMs;
  }
  return best;
}

interface Failure extends Pick<Refusal, 'again' | 'waitMs'> {
  readonly error: Error;
  /** The request without an optional member that was refused. */
  readonly lighter?: Candidate | undefined;
}

async function once(
  candidate: Candidate,
  permit: AttemptPermit,
  deadline: number,
  asking: Asking,
): Promise<Answered | Failure> {
  const { signal, unsupported } = asking;
  const { headers, ask } = asking.call;
  const { attempts } = asking.tally;
  const { provider, model, family, body } = candidate;
  const started = performance.now();
  // The rest of the answer timeout in steps of a quarter of a second: timers of equal length share one list in the event
  // loop, and the first attempt has the whole of it.
  const timeoutMs = Math.min(asking.timeoutMs, Math.max(1, Math.ceil((deadline - started) / 250)) * 250);
  const fair = timeoutMs >= asking.patienceMs;
  try {
    const incoming = await provider.send({
      family,
      model: provider.upstreamModel(model),
      stream: ask.stream,
      body,
      headers,
      credential: permit.credential,
      timeoutMs,
      signal,
      ...(ask.dialect && { dialect: ask.dialect }),
    });
    if (incoming.status >= 200 && incoming.status < 300) {
      attempts.push(attemptReport(candidate, { status: incoming.status, sent: true }, started));
      return { candidate, incoming, permit, fair };
    }
    const refusal = await readRefusal(incoming, provider, permit, attempts);
    const { status, message } = refusal;
    attempts.push(attemptReport(candidate, { status, sent: true }, started));
    return { ...refusal, lighter: unsupported.learn(candidate, status, message) };
  } catch (thrown) {
    permit.end(outcomeOfFault(thrown, fair));
    if (!(thrown instanceof UpstreamFault)) throw thrown;
    attempts.push(attemptReport(candidate, { error: thrown.kind, sent: thrown.sent }, started));
    const error = thrown.kind === 'aborted' ? thrown : noAnswer(thrown, attempts);
    return { error, again: againAfterFault(thrown.kind), waitMs: undefined };
  }
}

/** Waits before an attempt; false when the wait is not worth it. */
async function pause(wait: number, deadline: number, signal: AbortSignal): Promise<boolean> {
  if (wait <= 0) return true;
  if (wait > MAX_WAIT_MS || performance.now() + wait >= deadline || signal.aborted) return false;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, wait * (1 + SPREAD * Math.random()));
    signal.addEventListener('abort', done, { once: true });
  });
  return !signal.aborted;
}

/** The outcome of an attempt. */
export interface AttemptOutcome {
  readonly status?: number;
  readonly error?: string;
  /** Whether the prompt was sent, or may have been. */
  readonly sent: boolean;
}

const hosts = new WeakMap<ProviderConfig, string>();

/** An attempt as the audit row tells it. `started`: by `performance.now()`. */
export function attemptReport(
  { provider, model }: Pick<Target, 'provider' | 'model'>,
  { status, error, sent }: AttemptOutcome,
  started: number,
): AttemptReport {
  const host = hosts.get(provider.config) ?? hostOf(provider.config);
  const duration_ms = Math.round(performance.now() - started);
  const jurisdiction = provider.jurisdiction(model);
  const { slug } = provider.config;
  // Most attempts are answered; spelled out, since spreading costs more than all else here.
  if (status !== undefined && error === undefined && host !== '')
    return { provider: slug, model, status, duration_ms, host, jurisdiction, sent };
  return {
    provider: slug,
    model,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    duration_ms,
    ...(host !== '' && { host }),
    jurisdiction,
    sent,
  };
}

/** The host of a provider's base address, empty where it is this gateway. */
function hostOf(config: ProviderConfig): string {
  const host = URL.parse(config.url)?.host ?? '';
  hosts.set(config, host);
  return host;
}
