import type { AskedTarget, CallFacts } from '#/call/facts.ts';
import type { Units } from '#/call/units.ts';
import type { AttemptReport } from '#/errors/gateway-error.ts';
import { believedUnits, isBelievable, type Believable, type Seen } from '#/meter/plausible-usage.ts';
import { NO_USAGE, type Usage } from '#/wire/answer/usage.ts';
import type { AnswerMeter } from './relay/answer-meter.ts';

/** Whom a call is asked of, and what its answer tells: all that dispatching it states. Relays see its `AnswerMeter`. */
export class AnswerTally implements AnswerMeter {
  /** Those that were left alone. */
  readonly route: string[] = [];
  readonly attempts: AttemptReport[] = [];
  target: AskedTarget | undefined;
  losses: readonly string[] = [];
  cacheHit: NonNullable<CallFacts['cacheHit']> = 'none';
  seen: Usage = NO_USAGE;
  units: Units | undefined;
  /** Limits of believable usage. Undefined: the gateway itself reports it. */
  believable: Believable | undefined;
  /** The whole answer was handed to the surface. */
  isServed = false;
  #usage: Usage | undefined;
  #isAnswering = false;
  #isDoubted = false;
  #providerResponseId: string | null = null;

  get usage(): Usage | undefined {
    return this.#usage;
  }

  get providerResponseId(): string | null {
    return this.#providerResponseId;
  }

  get isAnswering(): boolean {
    return this.#isAnswering;
  }

  begin(): void {
    this.#isAnswering = true;
  }

  identify(id: string): void {
    this.#providerResponseId ??= id;
  }

  count(seen: Usage): void {
    this.seen = seen;
  }

  lose(loss: string): void {
    if (!this.losses.includes(loss)) this.losses = [...this.losses, loss];
  }

  /** Notes a reported usage. A usage that is implausible is replaced by our own count, unless a better one follows. */
  tell(usage: Usage, seen: Seen): boolean {
    const isBelieved = this.believable === undefined || isBelievable(usage, this.believable, seen);
    if (!seen.whole) return isBelieved;
    this.#usage = isBelieved ? usage : undefined;
    this.#isDoubted = !isBelieved;
    return isBelieved;
  }

  /** Units are taken in as far as they can be believed. */
  tellUnits(told: Units): void {
    const { units, doubted } = believedUnits(told, this.believable?.units ?? {}, this.units);
    this.units = { ...this.units, ...units };
    this.#isDoubted ||= doubted;
  }

  facts(): CallFacts {
    const { route, attempts, target, losses, cacheHit, seen, units, usage, isServed, providerResponseId } = this;
    return {
      route,
      attempts,
      target,
      losses,
      cacheHit,
      seen,
      units,
      usage,
      isServed,
      providerResponseId,
      isAnswering: this.#isAnswering,
      isDoubted: this.#isDoubted,
    };
  }
}
