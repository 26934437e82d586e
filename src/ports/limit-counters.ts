import type { NanoEuro } from '#/values/money.ts';

/** The calendar periods a call counts towards, in its organization's time zone. */
export interface Periods {
  /** `2026-11-21` */
  readonly day: string;
  /** `2026-11` */
  readonly month: string;
}

/** A spend limit as the counters enforce it. */
export interface SpendLimit {
  readonly amount: NanoEuro;
  readonly period: 'total' | 'daily' | 'monthly';
}

/**
 * The durable intent of one call: what it may cost at worst, whose it is, and what an `abandoned` row
 * would say about it. Lives in the counters from the debit until its ledger row is durable.
 */
export interface OpenHold {
  readonly callId: string;
  /** The gateway process that placed the hold, or that claimed it from a dead one. */
  readonly owner: string;
  readonly organization: string;
  readonly workload: string;
  /** Start of the call, milliseconds since the epoch. */
  readonly at: number;
  readonly periods: Periods;
  /** Worst-case price of the call. */
  readonly amount: NanoEuro;
  /** Tokens reserved against the workload's tokens per minute. */
  readonly tokens: number;
  /** What the sweeper needs to seal the call as abandoned; JSON, no content. */
  readonly draft: string;
}

/** One call asking to be let through and debited. */
export interface HoldRequest extends OpenHold {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly workloadBudget?: SpendLimit;
  readonly organizationCap?: SpendLimit;
  /** The organization may spend in all no more than the credit that the counters know of. */
  readonly prepaid?: boolean;
  /**
   * It costs nothing: it is checked and counted as a request like any other, but leaves no hold, so there is nothing to
   * settle. Its amount and tokens are 0.
   */
  readonly free?: boolean;
}

/** How far a per-minute limit is used, for `x-ratelimit-*`. */
export interface RateStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the oldest use in the window leaves it. */
  readonly resetMs: number;
}

/** How far the limits per minute of a workload are used; those it has. */
export interface Limits {
  readonly requests?: RateStatus;
  readonly tokens?: RateStatus;
}

/** The limits a hold can be refused by. */
export type LimitName = 'requests' | 'tokens' | 'budget' | 'cap' | 'credit';

/**
 * Result of a hold request. `cold`: a spend counter that a limit needs does not exist (a new period, or a
 * store that lost its data) and must be restored from the ledger first. `busy`: a restore is under way; ask again.
 */
export type HoldDecision =
  | {
      readonly kind: 'granted';
      /** A limit is so near that another call may be refused for what this one holds and does not use. */
      readonly near?: true;
      readonly requests?: RateStatus;
      readonly tokens?: RateStatus;
    }
  | {
      readonly kind: 'refused';
      readonly by: LimitName;
      /** For a per-minute limit: when the call would fit. */
      readonly retryAfterMs?: number;
      readonly requests?: RateStatus;
      readonly tokens?: RateStatus;
    }
  | { readonly kind: 'cold' }
  | { readonly kind: 'busy' };

/** A hold whose ledger row is durable, with what the call really cost. */
export interface Settlement {
  readonly callId: string;
  readonly organization: string;
  readonly cost: NanoEuro;
  /** Tokens really used; corrects the reservation against tokens per minute. */
  readonly tokens: number;
}

/** What a call that is over really cost. */
export interface Ended extends Settlement {
  /** Its row is not durable yet: the hold stays open, at this cost and with these tokens. */
  readonly stays?: true;
}

/**
 * `unknown`: the hold is not open (settled before, taken over, or lost with the store's data): restore the
 * organization.
 */
export type SettleResult = 'settled' | 'unknown' | 'busy';

/** Spend of one scope as the ledger knows it, by period. */
export interface PeriodTotals {
  readonly total: NanoEuro;
  readonly day: NanoEuro;
  readonly month: NanoEuro;
}

/** What an organization has paid in so far. */
export interface Credit {
  /** Number of the last entry that is in the sum; a sum with a higher one is newer. */
  readonly number: number;
  /** Of all entries; negative when corrections took away more than was paid in. */
  readonly sum: NanoEuro;
}

/** Spend of one organization in the current periods, from the ledger. */
export interface SpendTotals {
  readonly periods: Periods;
  readonly organization: PeriodTotals;
  readonly workloads: ReadonlyMap<string, PeriodTotals>;
  /** Of a prepaid organization. */
  readonly credit?: Credit;
}

/**
 * Which counters a restore may set to less than they say: none of those that are there, those of days and months (their
 * days begin at another hour than before), or all. A counter that is too high refuses calls; one that is too low gives
 * money away.
 */
export type Lowering = 'nothing' | 'periods' | 'everything';

/** What the counters hold for one organization: for restoring, reconciling and metrics. */
export interface CountersView {
  /** The store's clock, milliseconds since the epoch. */
  readonly now: number;
  readonly holds: readonly OpenHold[];
  /** The credit that holds are checked against, where one was put. */
  readonly credit?: Credit;
  /** Where it was asked for: calls settled, or found to be not held, since the beginning of that minute. */
  readonly closed?: readonly string[];
  /** Spend counters, holds included. Scope is `organization` or a workload id; a counter not kept is absent. */
  readonly spend: readonly {
    readonly scope: string;
    /** `total`, `2026-11-21` or `2026-11`. */
    readonly period: string;
    readonly amount: NanoEuro;
  }[];
}

/**
 * Limits, budgets and holds, shared by every gateway process. Each verb is atomic. All verbs reject with
 * `CountersUnavailable` when the store cannot be reached: callers fail closed.
 */
export interface LimitCounters {
  /** Checks every limit; when all allow, debits them all and records the hold, else changes nothing. */
  hold(request: HoldRequest): Promise<HoldDecision>;
  /**
   * Replaces held amounts by real costs and closes the holds, but for those that stay. Idempotent by call id. With `owner`, holds of another owner
   * are `unknown`, and left to it: it may have sealed the call at another cost.
   */
  settle(settlements: readonly Ended[], owner?: string): Promise<readonly SettleResult[]>;
  /**
   * Rebuilds an organization's spend counters: pauses its holds and settlements, asks `read` for the ledger's
   * totals without the calls whose holds are open, sets counters to ledger + open holds, resumes.
   * `own` are holds the caller knows to be in flight; those the store lost are put back. Credit that is older than what
   * the counters know already is passed over. `lowers`: by default everything.
   */
  restore(
    organization: string,
    own: readonly OpenHold[],
    read: (open: readonly OpenHold[]) => Promise<SpendTotals>,
    lowers?: Lowering,
  ): Promise<void>;
  /**
   * Everything kept for one organization, at one instant; with `closedSince`, by the store's clock and at most a minute
   * ago, also the holds closed since the beginning of that minute. A future time means now.
   */
  view(organization: string, closedSince?: number): Promise<CountersView>;
  /**
   * Says that `owner` is alive for `ttlMs`, and takes over the holds of dead owners. `own`: its holds in
   * flight, restored at once if the store has lost its data, so that no other call spends them. Faults of one
   * organization are in `missed` and do not stop the others; rejects if the lease cannot be renewed.
   */
  takeOver(
    organizations: readonly string[],
    owner: string,
    ttlMs: number,
    own?: () => readonly OpenHold[],
  ): Promise<TakeOver>;
}

/** What a renewal came to. */
export interface TakeOver {
  readonly holds: readonly OpenHold[];
  /**
   * Organizations that could not be reached, and why: holds may have been taken over there of which nothing is known, and
   * nothing is debited there before this process has put back what may be lost. Tried again with the next renewal.
   */
  readonly missed: ReadonlyMap<string, unknown>;
}

/** The counters cannot be reached: nothing may be dispatched. */
export class CountersUnavailable extends Error {
  override readonly name = 'CountersUnavailable';
}

/** Names that only one gateway sets first, so that work is done once. Stored with the counters, and lost with them. */
export interface Marks {
  /** Sets a name for that time, unless it is set already. True: it is the caller's to do. */
  claim(organization: string, name: string, ms: number): Promise<boolean>;
  /** Sets a name for that time, also if another gateway has set it: the work is done. */
  keep(organization: string, name: string, ms: number): Promise<void>;
}

/** Open holds, read without blocking others, however many there are: not as of one instant. */
export interface OpenHolds {
  /** Those of these calls that are open. */
  findHolds(organization: string, callIds: readonly string[]): Promise<readonly OpenHold[]>;
  /** All that are open from before the question until after the answer, and maybe others; each once. */
  allHolds(organization: string): Promise<readonly OpenHold[]>;
}
