import {
  CountersUnavailable,
  type CountersView,
  type HoldRequest,
  type LimitCounters,
  type OpenHold,
  type Periods,
  type PeriodTotals,
  type SpendTotals,
} from '#/ports/limit-counters.ts';

export const ORGANIZATION = 'default/acme';
export const PERIODS: Periods = { day: '2026-11-21', month: '2026-11' };

/** A call with its own id, by default one nano-euro on `default/w1`, without any limit. */
export function request(callId: string, overrides: Partial<HoldRequest> = {}): HoldRequest {
  return {
    callId,
    owner: 'gateway-1',
    organization: ORGANIZATION,
    workload: 'default/w1',
    at: Date.UTC(2026, 10, 21, 12),
    periods: PERIODS,
    amount: 1n,
    tokens: 0,
    draft: `{"call":"${callId}",\n"note":"two lines"}`,
    ...overrides,
  };
}

/** The hold that a request leaves open. */
export function openHold(callId: string, overrides: Partial<OpenHold> = {}): OpenHold {
  const { owner, organization, workload, at, periods, amount, tokens, draft } = request(callId, overrides);
  return { callId, owner, organization, workload, at, periods, amount, tokens, draft };
}

export const NOTHING: PeriodTotals = { total: 0n, day: 0n, month: 0n };

/** Totals of an organization that has spent `amount`, all today and by one workload. */
export function spent(amount: bigint, overrides: Partial<SpendTotals> = {}): SpendTotals {
  const totals: PeriodTotals = { total: amount, day: amount, month: amount };
  return {
    periods: PERIODS,
    organization: totals,
    workloads: amount > 0n ? new Map([['default/w1', totals]]) : new Map(),
    ...overrides,
  };
}

/** Spend counters as `scope period -> amount`. */
export function spendOf(view: CountersView): Record<string, bigint> {
  return Object.fromEntries(view.spend.map(({ scope, period, amount }) => [`${scope} ${period}`, amount]));
}

/** The ledger as the counters know it: rows by call. */
export class TestLedger {
  readonly rows = new Map<string, { workload: string; periods: Periods; cost: bigint }>();
  periods: Periods = PERIODS;

  append(hold: OpenHold, cost: bigint): void {
    if (!this.rows.has(hold.callId))
      this.rows.set(hold.callId, { workload: hold.workload, periods: hold.periods, cost });
  }

  totals(open: readonly OpenHold[]): SpendTotals {
    const openIds = new Set(open.map((hold) => hold.callId));
    const organization = { ...NOTHING };
    const workloads = new Map<string, { total: bigint; day: bigint; month: bigint }>();
    for (const [callId, row] of this.rows) {
      if (openIds.has(callId)) continue;
      const workload = workloads.get(row.workload) ?? { ...NOTHING };
      workloads.set(row.workload, workload);
      for (const scope of [organization, workload]) {
        scope.total += row.cost;
        if (row.periods.day === this.periods.day) scope.day += row.cost;
        if (row.periods.month === this.periods.month) scope.month += row.cost;
      }
    }
    return { periods: this.periods, organization, workloads };
  }

  /** What every counter of `view` should say: its ledger rows and its open holds. */
  expected(view: CountersView): Record<string, bigint> {
    return Object.fromEntries(
      view.spend.map(({ scope, period }) => [`${scope} ${period}`, this.expectedOf(view, scope, period)]),
    );
  }

  /** What one of them should say. */
  expectedOf(view: CountersView, scope: string, period: string): bigint {
    const counts = (workload: string, periods: Periods): boolean =>
      (scope === 'organization' || scope === workload) &&
      (period === 'total' || period === periods.day || period === periods.month);
    let sum = 0n;
    for (const [id, row] of this.rows)
      if (!view.holds.some(({ callId }) => callId === id) && counts(row.workload, row.periods)) sum += row.cost;
    for (const hold of view.holds) if (counts(hold.workload, hold.periods)) sum += hold.amount;
    return sum;
  }
}

/** One gateway process, doing with the counters what the pipeline does: hold, dispatch, ledger, settle. */
export class TestGateway {
  readonly open = new Map<string, OpenHold>();
  private restoring: Promise<void> | undefined;
  private readonly counters: LimitCounters;
  private readonly ledger: TestLedger;
  private readonly pause: () => Promise<void>;

  constructor(counters: LimitCounters, ledger: TestLedger, pause: () => Promise<void>) {
    this.counters = counters;
    this.ledger = ledger;
    this.pause = pause;
  }

  async hold(call: HoldRequest): Promise<'granted' | 'refused'> {
    for (;;) {
      const decision = await this.counters.hold(call).catch(unavailable);
      if (decision?.kind === 'granted') {
        this.open.set(call.callId, openHold(call.callId, call));
        return 'granted';
      }
      if (decision?.kind === 'refused') return 'refused';
      if (decision?.kind === 'cold') await this.restore();
      else await this.pause();
    }
  }

  /** The row is durable before the hold is settled; `times`: how often the settlement is sent at once. */
  async finish(callId: string, cost: bigint, times = 1): Promise<void> {
    const hold = this.open.get(callId)!;
    this.ledger.append(hold, cost);
    const settlement = { callId, organization: hold.organization, cost, tokens: 0 };
    for (;;) {
      await this.pause();
      const answers = await Promise.all(
        Array.from({ length: times }, () => this.counters.settle([settlement]).catch(unavailable)),
      );
      const results = answers.map((answer) => answer?.[0] ?? 'busy');
      if (results.includes('busy')) continue;
      this.open.delete(callId);
      if (!results.includes('settled')) await this.restoreAnew();
      return;
    }
  }

  /** Callers that ask while a restore is under way share it. */
  restore(): Promise<void> {
    this.restoring ??= this.restoreAnew().finally(() => (this.restoring = undefined));
    return this.restoring;
  }

  private async restoreAnew(): Promise<void> {
    for (;;) {
      const own = [...this.open.values()];
      const read = async (open: readonly OpenHold[]) => {
        await this.pause();
        const totals = this.ledger.totals(open);
        await this.pause();
        return totals;
      };
      try {
        return await this.counters.restore(ORGANIZATION, own, read);
      } catch (error) {
        unavailable(error);
        await this.pause();
      }
    }
  }
}

function unavailable(error: unknown): undefined {
  if (!(error instanceof CountersUnavailable)) throw error;
}
