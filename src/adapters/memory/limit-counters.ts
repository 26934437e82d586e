import { setTimeout as sleep } from 'node:timers/promises';
import type { CreditCounters } from '#/ports/credit.ts';
import {
  CountersUnavailable,
  type CountersView,
  type HoldDecision,
  type HoldRequest,
  type LimitCounters,
  type Lowering,
  type Ended,
  type OpenHold,
  type SettleResult,
  type TakeOver,
  type LimitName,
  type RateStatus,
} from '#/ports/limit-counters.ts';
import type { Marks } from '#/ports/marks.ts';
import type { OpenHolds } from '#/ports/open-holds.ts';
import { checkHold, checkRequest, checkSettlement, nearTokens } from './amount.ts';
import { openJournal, type Journal } from './journal.ts';
import { openOrganization, type OrganizationState } from './organization-state.ts';
import { restoredSpend } from './restored-spend.ts';
import { correct, advance, emptyWindow, resetMs, use, waitFor, type SlidingWindow } from './sliding-window.ts';
import { addSpend, isNear, putCredit, setSpend, spendVerdict } from './spend.ts';

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

/**
 * Counters in this process's memory. With a journal open holds survive the process; spend counters start cold, and
 * per-minute windows empty. A process must call `takeOver` before its first `hold`, and then at least three times a
 * lease. Throws when the journal cannot be read or written.
 */
export function openMemoryCounters(options: MemoryCountersOptions = {}): MemoryLimitCounters {
  const state: State = {
    organizations: new Map(),
    leases: new Map(),
    marks: new Map(),
    now: options.now ?? (() => performance.timeOrigin + performance.now()),
    pauseMs: options.pauseMs ?? PAUSE_MS,
    journal: undefined,
  };
  if (options.journal !== undefined) {
    const { journal, open } = openJournal(options.journal, () => allHolds(state));
    state.journal = journal;
    for (const left of open)
      organizationOf(state, left.organization).holds.set(left.callId, { hold: left, reservedIn: 0 });
  }
  return {
    hold: async (request) => hold(state, request),
    settle: async (settlements, owner) => settle(state, settlements, owner),
    restore: (organization, own, read, lowers) => restore(state, organization, own, read, lowers),
    view: async (organization, closedSince) => view(state, organization, closedSince),
    findHolds: async (organization, callIds) => {
      const { holds } = organizationOf(state, organization);
      return callIds.flatMap((callId) => holds.get(callId)?.hold ?? []);
    },
    allHolds: async (organization) => holdsIn(organizationOf(state, organization)),
    takeOver: async (organizations, owner, ttlMs) => takeOver(state, organizations, owner, ttlMs),
    putCredit: async (organization, credit) => putCredit(organizationOf(state, organization).spend, credit),
    claim: async (organization, name, ms) => mark(state, organization, name, ms, false),
    keep: async (organization, name, ms) => void mark(state, organization, name, ms, true),
    ping: async () => {},
    close: async () => state.journal?.close(),
  };
}

interface State {
  readonly organizations: Map<string, OrganizationState>;
  /** Owner -> end of its lease. */
  readonly leases: Map<string, number>;
  /** Organization and name -> until when it is set. */
  readonly marks: Map<string, number>;
  readonly now: () => number;
  readonly pauseMs: number;
  journal: Journal | undefined;
}

function hold(state: State, request: HoldRequest): HoldDecision {
  checkRequest(request);
  const organization = organizationOf(state, request.organization);
  if (organization.isPaused()) return { kind: 'busy' };
  const now = state.now();
  const rates = checkRates(organization, request, now);
  if (request.free !== true && organization.holds.has(request.callId))
    return { kind: 'granted', near: true, ...rates.statuses() };
  if (rates.refusal) return { kind: 'refused', ...rates.refusal, ...rates.statuses() };
  const verdict = spendVerdict(organization.spend, request, now);
  if (verdict === 'cold') return { kind: 'cold' };
  if (verdict) return { kind: 'refused', by: verdict, ...rates.statuses() };
  if (request.free === true) {
    takeRates(rates, 0);
    return { kind: 'granted', ...rates.statuses() };
  }
  const open = openHoldOf(request);
  const near = isNear(organization.spend, request) || (rates.tokens?.sum ?? 0) > nearTokens(request);
  state.journal?.placed([open]);
  addSpend(organization.spend, open, open.amount, now);
  organization.holds.set(open.callId, { hold: open, reservedIn: takeRates(rates, request.tokens) });
  return { kind: 'granted', ...(near && { near: true }), ...rates.statuses() };
}

function settle(state: State, settlements: readonly Ended[], owner: string | undefined): readonly SettleResult[] {
  settlements.forEach(checkSettlement);
  const closing: OpenHold[] = [];
  const staying: OpenHold[] = [];
  for (const { organization, callId, cost, tokens, stays } of settlements) {
    const known = organizationOf(state, organization);
    const open = known.isPaused() ? undefined : known.holds.get(callId);
    if (!open || !isTheirs(open.hold, owner)) continue;
    if (stays) staying.push({ ...open.hold, amount: cost, tokens });
    else closing.push(open.hold);
  }
  if (staying.length > 0) state.journal?.placed(staying);
  if (closing.length > 0) state.journal?.closed(closing);
  return settlements.map((settlement) => settleOne(state, settlement, owner));
}

function settleOne(
  state: State,
  { organization: id, callId, cost, tokens, stays }: Ended,
  owner: string | undefined,
): SettleResult {
  const organization = organizationOf(state, id);
  if (organization.isPaused()) return 'busy';
  const now = state.now();
  const open = organization.holds.get(callId);
  if (open && !isTheirs(open.hold, owner)) return 'unknown';
  if (!stays) organization.closed.add(callId, now);
  if (!open) return 'unknown';
  if (stays) organization.holds.set(callId, { ...open, hold: { ...open.hold, amount: cost, tokens } });
  else organization.holds.delete(callId);
  addSpend(organization.spend, open.hold, cost - open.hold.amount, now);
  const window = organization.tokens.get(open.hold.workload);
  if (window && open.reservedIn > 0) {
    correct(window, Math.floor(now / 1000), open.reservedIn, tokens - open.hold.tokens);
  }
  return 'settled';
}

function isTheirs(open: OpenHold, owner: string | undefined): boolean {
  return owner === undefined || open.owner === owner;
}

async function restore(
  state: State,
  id: string,
  own: readonly OpenHold[],
  read: Parameters<LimitCounters['restore']>[2],
  lowers: Lowering = 'everything',
): Promise<void> {
  own.forEach(checkHold);
  const organization = organizationOf(state, id);
  const deadline = performance.now() + state.pauseMs;
  while (organization.isPaused()) {
    if (performance.now() > deadline)
      throw new CountersUnavailable('another restore of the organization has not ended');
    await sleep(ASK_AGAIN_MS);
  }
  const pause = organization.pause(state.pauseMs);
  try {
    const lost = own.filter(
      ({ callId }) => !organization.holds.has(callId) && !organization.closed.has(callId, state.now()),
    );
    const open = [...holdsIn(organization), ...lost.map(openHoldOf)];
    const totals = await read(open);
    if (!organization.isPaused(pause))
      throw new CountersUnavailable('the restore took longer than the longest pause of holds');
    // Together with the counters that count them: a restore that fails leaves both as they were.
    if (lost.length > 0) state.journal?.placed(lost);
    for (const put of lost) organization.holds.set(put.callId, { hold: openHoldOf(put), reservedIn: 0 });
    setSpend(organization.spend, totals, restoredSpend(totals, open), lowers, state.now());
  } finally {
    organization.resume(pause);
  }
}

function view(state: State, id: string, closedSince: number | undefined): CountersView {
  const organization = organizationOf(state, id);
  const { spend, closed } = organization;
  const counters: { scope: string; period: string; amount: bigint }[] = [];
  const now = state.now();
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

function takeOver(state: State, organizations: readonly string[], owner: string, ttlMs: number): TakeOver {
  const now = state.now();
  for (const [name, end] of state.leases) if (end <= now) state.leases.delete(name);
  state.leases.set(owner, now + ttlMs);
  const taken: OpenHold[] = [];
  for (const id of organizations) {
    for (const open of organizationOf(state, id).holds.values()) {
      if (state.leases.has(open.hold.owner)) continue;
      open.hold = { ...open.hold, owner };
      taken.push(open.hold);
    }
  }
  return { holds: taken, missed: NOTHING_MISSED };
}

const NOTHING_MISSED: ReadonlyMap<string, unknown> = new Map();

function mark(state: State, organization: string, name: string, ms: number, anyway: boolean): boolean {
  const now = state.now();
  for (const [key, until] of state.marks) if (until <= now) state.marks.delete(key);
  const key = JSON.stringify([organization, name]);
  if (!anyway && state.marks.has(key)) return false;
  state.marks.set(key, now + ms);
  return true;
}

function organizationOf(state: State, id: string): OrganizationState {
  let organization = state.organizations.get(id);
  if (!organization) state.organizations.set(id, (organization = openOrganization()));
  return organization;
}

function holdsIn({ holds }: OrganizationState): readonly OpenHold[] {
  return [...holds.values()].map((open) => open.hold);
}

function* allHolds(state: State): Iterable<OpenHold> {
  for (const { holds } of state.organizations.values()) for (const open of holds.values()) yield open.hold;
}

/** Without the limits that came with a request. */
function openHoldOf({ callId, owner, organization, workload, at, periods, amount, tokens, draft }: OpenHold): OpenHold {
  return { callId, owner, organization, workload, at, periods: { ...periods }, amount, tokens, draft };
}

/** The per-minute limits of one request, checked at one instant. */
export interface Rates {
  readonly requests: SlidingWindow | undefined;
  readonly tokens: SlidingWindow | undefined;
  readonly second: number;
  readonly refusal: { readonly by: LimitName; readonly retryAfterMs?: number } | undefined;
  /** State of the limits, including this call. */
  statuses(): { readonly requests?: RateStatus; readonly tokens?: RateStatus };
}

/** Checks requests and tokens per minute; takes nothing. */
export function checkRates(organization: OrganizationState, request: HoldRequest, now: number): Rates {
  const { workload, requestsPerMinute, tokensPerMinute } = request;
  const second = Math.floor(now / 1000);
  const requests = requestsPerMinute === undefined ? undefined : openWindow(organization.requests, workload, second);
  const tokens = tokensPerMinute === undefined ? undefined : openWindow(organization.tokens, workload, second);
  const refusal =
    refusalBy('requests', requests, now, 1, requestsPerMinute) ??
    refusalBy('tokens', tokens, now, request.tokens, tokensPerMinute);
  return {
    requests,
    tokens,
    second,
    refusal,
    statuses: () => ({
      ...(requests && { requests: status(requests, now, requestsPerMinute!) }),
      ...(tokens && { tokens: status(tokens, now, tokensPerMinute!) }),
    }),
  };
}

/** Takes one request and its tokens. Returns the second in which the tokens are counted; 0: in none. */
export function takeRates(rates: Rates, tokens: number): number {
  if (rates.requests) use(rates.requests, rates.second, 1);
  return rates.tokens ? use(rates.tokens, rates.second, tokens) : 0;
}

function openWindow(windows: Map<string, SlidingWindow>, workload: string, second: number): SlidingWindow {
  let window = windows.get(workload);
  if (!window) windows.set(workload, (window = emptyWindow()));
  advance(window, second);
  return window;
}

function refusalBy(
  by: LimitName,
  window: SlidingWindow | undefined,
  now: number,
  uses: number,
  limit: number | undefined,
): Rates['refusal'] {
  if (!window || limit === undefined || window.sum + uses <= limit) return undefined;
  const retryAfterMs = waitFor(window, now, uses, limit);
  return { by, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function status(window: SlidingWindow, now: number, limit: number): RateStatus {
  return { limit, remaining: Math.max(0, limit - window.sum), resetMs: resetMs(window, now) };
}
