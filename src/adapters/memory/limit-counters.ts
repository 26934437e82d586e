import { setTimeout as sleep } from 'node:timers/promises';
import type { CreditCounters } from '#/ports/credit.ts';
import {
  CountersUnavailable,
  type CountersView,
  type Credit,
  type Ended,
  type HoldDecision,
  type HoldRequest,
  type LimitCounters,
  type LimitName,
  type Lowering,
  type Marks,
  type OpenHold,
  type OpenHolds,
  type SettleResult,
  type TakeOver,
} from '#/ports/limit-counters.ts';
import { openJournal, type Journal } from './journal.ts';
import {
  addSpend,
  checkDebit,
  checkRequest,
  nearTokens,
  putCredit,
  restoredSpend,
  setSpend,
  spendVerdict,
  type Spend,
} from './spend.ts';
import {
  advance,
  correct,
  emptyWindow,
  RecentIds,
  statusOf,
  use,
  waitFor,
  type SlidingWindow,
} from './time-windows.ts';

export interface MemoryCountersOptions {
  /** File that keeps open holds over the death of the process. */
  readonly journal?: string;
  /** Milliseconds of a clock that is never set, or limits per minute would wait for it to catch up. */
  readonly now?: () => number;
  /** How long a restore may keep an organization's holds waiting. Default 10 000. */
  readonly pauseMs?: number;
}

/** Limit counters of a single process. */
export interface MemoryLimitCounters extends LimitCounters, OpenHolds, CreditCounters, Marks {
  ping(): Promise<void>;
  close(): Promise<void>;
}

const PAUSE_MS = 10_000;
const ASK_AGAIN_MS = 5;
/** How long ids that were settled are remembered, at least. */
const CLOSED_MS = 60_000;

/**
 * Counters in this process's memory. With a journal open holds survive the process; spend counters start cold, and
 * per-minute windows empty. A process must call `takeOver` before its first `hold`, and then at least three times a
 * lease. Throws when the journal cannot be read or written.
 */
export function openMemoryCounters(options: MemoryCountersOptions = {}): MemoryLimitCounters {
  return new MemoryCounters(options);
}

class MemoryCounters implements MemoryLimitCounters {
  readonly #organizations = new Map<string, OrganizationState>();
  /** Owner -> end of its lease. */
  readonly #leases = new Map<string, number>();
  /** Organization and name -> until when it is set. */
  readonly #marks = new Map<string, number>();
  readonly #now: () => number;
  readonly #pauseMs: number;
  readonly #journal: Journal | undefined;

  constructor({ journal: path, now, pauseMs = PAUSE_MS }: MemoryCountersOptions) {
    this.#now = now ?? (() => performance.timeOrigin + performance.now());
    this.#pauseMs = pauseMs;
    if (path === undefined) return;
    const { journal, open } = openJournal(path, () => this.#allHolds());
    this.#journal = journal;
    for (const left of open)
      this.#organization(left.organization).holds.set(left.callId, { hold: left, reservedIn: 0 });
  }

  async hold(request: HoldRequest): Promise<HoldDecision> {
    checkRequest(request);
    const organization = this.#organization(request.organization);
    if (organization.pause && isPaused(organization)) return { kind: 'busy' };
    const { workload, requestsPerMinute, tokensPerMinute } = request;
    const now = this.#now();
    const second = Math.floor(now / 1000);
    const requests = requestsPerMinute === undefined ? undefined : windowOf(organization.requests, workload, second);
    const tokens = tokensPerMinute === undefined ? undefined : windowOf(organization.tokens, workload, second);
    const decision = this.#decide(organization, request, requests, tokens, now);
    if (decision.kind === 'cold') return decision;
    return {
      ...decision,
      ...(requests && { requests: statusOf(requests, now, requestsPerMinute!) }),
      ...(tokens && { tokens: statusOf(tokens, now, tokensPerMinute!) }),
    };
  }

  /** Asks the limits, and counts what they all allow. */
  #decide(
    organization: OrganizationState,
    request: HoldRequest,
    requests: SlidingWindow | undefined,
    tokens: SlidingWindow | undefined,
    now: number,
  ): HoldDecision {
    const { requestsPerMinute = Infinity, tokensPerMinute = Infinity, free = false } = request;
    if (!free && organization.holds.has(request.callId)) return { kind: 'granted', near: true };
    if (requests && requests.sum + 1 > requestsPerMinute)
      return refusal('requests', waitFor(requests, now, 1, requestsPerMinute));
    if (tokens && tokens.sum + request.tokens > tokensPerMinute)
      return refusal('tokens', waitFor(tokens, now, request.tokens, tokensPerMinute));
    const verdict = spendVerdict(organization.spend, request, now);
    if (verdict === 'cold') return { kind: 'cold' };
    if (verdict !== undefined && verdict !== 'near') return refusal(verdict, undefined);
    if (free) {
      takeRates(requests, tokens, now, 0);
      return { kind: 'granted' };
    }
    const isNear = verdict === 'near' || (tokens && tokens.sum > nearTokens(request));
    const open = openHoldOf(request);
    this.#journal?.placed([open]);
    addSpend(organization.spend, open, open.amount, now);
    organization.holds.set(open.callId, { hold: open, reservedIn: takeRates(requests, tokens, now, open.tokens) });
    return { kind: 'granted', ...(isNear === true && { near: true }) };
  }

  async settle(settlements: readonly Ended[], owner?: string): Promise<readonly SettleResult[]> {
    const closing: OpenHold[] = [];
    const staying: OpenHold[] = [];
    for (const { organization: id, callId, cost, tokens, stays } of settlements) {
      checkDebit(cost, tokens);
      const organization = this.#organization(id);
      const isBusy = organization.pause && isPaused(organization);
      const hold = isBusy ? undefined : organization.holds.get(callId)?.hold;
      if (!hold || (owner !== undefined && hold.owner !== owner)) continue;
      if (stays) staying.push({ ...hold, amount: cost, tokens });
      else closing.push(hold);
    }
    if (staying.length > 0) this.#journal?.placed(staying);
    if (closing.length > 0) this.#journal?.closed(closing);
    const results: SettleResult[] = [];
    for (const settlement of settlements) results.push(this.#settleOne(settlement, owner));
    return results;
  }

  #settleOne({ organization: id, callId, cost, tokens, stays }: Ended, owner: string | undefined): SettleResult {
    const organization = this.#organization(id);
    if (organization.pause && isPaused(organization)) return 'busy';
    const now = this.#now();
    const open = organization.holds.get(callId);
    if (open && owner !== undefined && open.hold.owner !== owner) return 'unknown';
    if (!stays) organization.closed.add(callId, now);
    if (!open) return 'unknown';
    const { hold, reservedIn } = open;
    if (stays) organization.holds.set(callId, { ...open, hold: { ...hold, amount: cost, tokens } });
    else organization.holds.delete(callId);
    addSpend(organization.spend, hold, cost - hold.amount, now);
    const window = organization.tokens.get(hold.workload);
    if (window && reservedIn > 0) correct(window, Math.floor(now / 1000), reservedIn, tokens - hold.tokens);
    return 'settled';
  }

  async restore(
    id: string,
    own: readonly OpenHold[],
    read: Parameters<LimitCounters['restore']>[2],
    lowers: Lowering = 'everything',
  ): Promise<void> {
    for (const { amount, tokens } of own) checkDebit(amount, tokens);
    const organization = this.#organization(id);
    const deadline = performance.now() + this.#pauseMs;
    while (isPaused(organization)) {
      if (performance.now() > deadline)
        throw new CountersUnavailable('another restore of the organization has not ended');
      await sleep(ASK_AGAIN_MS);
    }
    const pause = { until: performance.now() + this.#pauseMs };
    organization.pause = pause;
    try {
      const lost = own.filter(
        ({ callId }) => !organization.holds.has(callId) && !organization.closed.has(callId, this.#now()),
      );
      const open = [...holdsIn(organization), ...lost.map(openHoldOf)];
      const totals = await read(open);
      if (!isPaused(organization) || organization.pause !== pause)
        throw new CountersUnavailable('the restore took longer than the longest pause of holds');
      // Together with the counters that count them: a restore that fails leaves both as they were.
      if (lost.length > 0) this.#journal?.placed(lost);
      for (const put of lost) organization.holds.set(put.callId, { hold: openHoldOf(put), reservedIn: 0 });
      setSpend(organization.spend, totals, restoredSpend(totals, open), lowers, this.#now());
    } finally {
      if (organization.pause === pause) organization.pause = undefined;
    }
  }

  async view(id: string, closedSince?: number): Promise<CountersView> {
    const organization = this.#organization(id);
    const { spend, closed } = organization;
    const counters: { scope: string; period: string; amount: bigint }[] = [];
    const now = this.#now();
    for (const [period, { expiresAt, organization: amount, workloads }] of spend) {
      if (expiresAt <= now) continue;
      counters.push({ scope: 'organization', period, amount });
      for (const [scope, spent] of workloads) counters.push({ scope, period, amount: spent });
    }
    const credit = spend.get('total')?.credit;
    return {
      now,
      holds: holdsIn(organization),
      spend: counters,
      ...(credit && { credit }),
      ...(closedSince !== undefined && { closed: closed.since(closedSince, now) }),
    };
  }

  async findHolds(id: string, callIds: readonly string[]): Promise<readonly OpenHold[]> {
    const { holds } = this.#organization(id);
    return callIds.flatMap((callId) => holds.get(callId)?.hold ?? []);
  }

  async allHolds(id: string): Promise<readonly OpenHold[]> {
    return holdsIn(this.#organization(id));
  }

  async takeOver(organizations: readonly string[], owner: string, ttlMs: number): Promise<TakeOver> {
    const now = this.#now();
    for (const [name, end] of this.#leases) if (end <= now) this.#leases.delete(name);
    this.#leases.set(owner, now + ttlMs);
    const taken: OpenHold[] = [];
    for (const id of organizations) {
      for (const open of this.#organization(id).holds.values()) {
        if (this.#leases.has(open.hold.owner)) continue;
        open.hold = { ...open.hold, owner };
        taken.push(open.hold);
      }
    }
    return { holds: taken, missed: NOTHING_MISSED };
  }

  async putCredit(id: string, credit: Credit): Promise<void> {
    putCredit(this.#organization(id).spend, credit);
  }

  async claim(organization: string, name: string, ms: number): Promise<boolean> {
    return this.#mark(organization, name, ms, false);
  }

  async keep(organization: string, name: string, ms: number): Promise<void> {
    this.#mark(organization, name, ms, true);
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.#journal?.close();
  }

  #mark(organization: string, name: string, ms: number, anyway: boolean): boolean {
    const now = this.#now();
    for (const [key, until] of this.#marks) if (until <= now) this.#marks.delete(key);
    const key = JSON.stringify([organization, name]);
    if (!anyway && this.#marks.has(key)) return false;
    this.#marks.set(key, now + ms);
    return true;
  }

  #organization(id: string): OrganizationState {
    let organization = this.#organizations.get(id);
    if (!organization) this.#organizations.set(id, (organization = openOrganization()));
    return organization;
  }

  *#allHolds(): Iterable<OpenHold> {
    for (const { holds } of this.#organizations.values()) for (const open of holds.values()) yield open.hold;
  }
}

/** Counts a request and its tokens; the second in which the tokens are reserved, or 0. */
function takeRates(
  requests: SlidingWindow | undefined,
  tokens: SlidingWindow | undefined,
  now: number,
  count: number,
): number {
  const second = Math.floor(now / 1000);
  if (requests) use(requests, second, 1);
  return tokens ? use(tokens, second, count) : 0;
}

const NOTHING_MISSED: ReadonlyMap<string, unknown> = new Map();

/** State of one organization. */
interface OrganizationState {
  readonly holds: Map<string, KeptHold>;
  readonly spend: Spend;
  /** By workload. */
  readonly requests: Map<string, SlidingWindow>;
  readonly tokens: Map<string, SlidingWindow>;
  /** Ids that were settled a minute or two ago: a restore must not put them back. */
  readonly closed: RecentIds;
  /** Of the restore that is under way, by `performance.now()`. */
  pause: { readonly until: number } | undefined;
}

interface KeptHold {
  hold: OpenHold;
  /** The second in which its tokens were reserved; 0: none are counted. */
  readonly reservedIn: number;
}

function openOrganization(): OrganizationState {
  return {
    holds: new Map(),
    spend: new Map(),
    requests: new Map(),
    tokens: new Map(),
    closed: new RecentIds(CLOSED_MS),
    pause: undefined,
  };
}

/** Whether a restore is under way. */
function isPaused(organization: OrganizationState): boolean {
  if (organization.pause && organization.pause.until <= performance.now()) organization.pause = undefined;
  return organization.pause !== undefined;
}

function holdsIn({ holds }: OrganizationState): readonly OpenHold[] {
  return [...holds.values()].map((open) => open.hold);
}

/** Without the limits that came with a request. */
function openHoldOf({ callId, owner, organization, workload, at, periods, amount, tokens, draft }: OpenHold): OpenHold {
  return { callId, owner, organization, workload, at, periods: { ...periods }, amount, tokens, draft };
}

/** Uses of a workload in the minute that ends now. */
function windowOf(windows: Map<string, SlidingWindow>, workload: string, second: number): SlidingWindow {
  let window = windows.get(workload);
  if (!window) windows.set(workload, (window = emptyWindow()));
  advance(window, second);
  return window;
}

function refusal(by: LimitName, retryAfterMs: number | undefined): HoldDecision {
  return { kind: 'refused', by, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
