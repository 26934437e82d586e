import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { AskedTarget, CallFacts } from '#/call/facts.ts';
import type { Candidate } from '#/call/target.ts';
import type { Units } from '#/call/units.ts';
import type { AttemptReport } from '#/errors/gateway-error.ts';
import { believedUnits, isBelievable, type Believable, type Seen } from '#/meter/plausible-usage.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import { inServiceTier, NO_USAGE, type Usage } from '#/wire/answer/usage.ts';
import type { Ask } from '#/wire/hub/codec.ts';
import { tellableLosses } from './losses.ts';
import type { AnswerMeter } from './relay/answer-meter.ts';

/**
 * Whom a call is asked of, and what its answer tells. Its fields are the facts that dispatching a call states; relays see
 * its `AnswerMeter`.
 */
export class AnswerTally implements AnswerMeter, CallFacts {
  /** Those that were skipped. */
  readonly route: string[] = [];
  readonly attempts: AttemptReport[] = [];
  target: AskedTarget | undefined;
  losses: readonly string[] = [];
  cacheHit: NonNullable<CallFacts['cacheHit']> = 'none';
  seen: Usage = NO_USAGE;
  units: Units | undefined;
  usage: Usage | undefined;
  isServed = false;
  isAnswering = false;
  isDoubted = false;
  providerResponseId: string | null = null;
  #believable: Believable | undefined;

  /** Limits of believable usage. Undefined: the gateway itself reports it. */
  set believable(limits: Believable) {
    this.#believable = limits;
  }

  /** Names the candidate as the one that a call is asked of now. */
  asks(candidate: Candidate, ask: Ask, bounds: UsageBounds): void {
    const { provider, model, family, losses } = candidate;
    const { slug } = provider.config;
    this.target = { provider: slug, model, family, jurisdiction: provider.jurisdiction(model) };
    this.losses = losses.length === 0 ? losses : tellableLosses(losses);
    // Nothing says in which tier it is served until the provider does: it is billed as it was asked for.
    const output = ask.background === true ? (bounds.ceiling.outputTokens ?? 0) : 0;
    const seen = { ...NO_USAGE, input: bounds.estimatedInput, output };
    this.seen = bounds.servedAs === undefined ? seen : inServiceTier(seen, bounds.servedAs);
    this.units = ask.units;
    this.#believable = slug === LOCAL_PROVIDER.slug ? undefined : bounds.believable;
  }

  identify(id: string): void {
    this.providerResponseId ??= id;
  }

  lose(loss: string): void {
    if (!this.losses.includes(loss)) this.losses = [...this.losses, loss];
  }

  /** Notes a reported usage. A usage that is implausible is replaced by our own count, unless a better one follows. */
  tell(usage: Usage, seen: Seen): boolean {
    const isBelieved = this.#believable === undefined || isBelievable(usage, this.#believable, seen);
    if (!seen.whole) return isBelieved;
    this.usage = isBelieved ? usage : undefined;
    this.isDoubted = !isBelieved;
    return isBelieved;
  }

  /** Units are taken in as far as they can be believed. */
  tellUnits(told: Units): void {
    const { units, doubted } = believedUnits(told, this.#believable?.units ?? {}, this.units);
    this.units = { ...this.units, ...units };
    this.isDoubted ||= doubted;
  }
}
