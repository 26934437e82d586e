import { LRUCache } from 'lru-cache';
import type { OrganizationConfig, Snapshot, WorkloadConfig } from '#/config/snapshot.ts';
import type { Alert, AlertSink } from '#/ports/alerts.ts';
import type { CreditEntries } from '#/ports/credit.ts';
import type { LimitCounters, Marks } from '#/ports/limit-counters.ts';
import { dueAlerts, refusalName, type MoneyLimit } from './alerts.ts';
import { reconcileCounters, worstDrift, type ReconciledCounter, type ReconciliationDeps } from './reconciliation.ts';
import type { Restorer } from '../counter-rebuild.ts';

export interface ReconcilerDeps extends ReconciliationDeps {
  readonly counters: LimitCounters;
  readonly credit: CreditEntries;
  readonly marks: Marks;
  readonly restorer: Restorer;
  /** Organization -> its last settlement, on the monotonic clock. */
  readonly settledAt: Pick<ReadonlyMap<string, number>, 'get'>;
  /** Where alerts go in addition to the log, if anywhere. */
  readonly sink: AlertSink | undefined;
  readonly snapshot: () => Snapshot | undefined;
  /** Whether rows of this process wait for the ledger to take them. */
  readonly behind: () => boolean;
  readonly onAlert: (alert: Alert) => void;
  readonly onUndelivered: (alert: Alert) => void;
  readonly onDrift: (organization: string, line: ReconciledCounter) => void;
  readonly onFault: (error: unknown) => void;
}

/** Watches money in the background: alerts, drift, and days whose start has moved. */
export interface Reconciler {
  /** A call that began `at` was refused because money was used up. */
  refused(limit: MoneyLimit, workload: WorkloadConfig, at: number): void;
  /** Organization -> how far its counters are off, nano-euro, as this gateway found last; 0 when they agree with the ledger. */
  readonly drift: ReadonlyMap<string, bigint>;
  start(): void;
  stop(): void;
}

const EVERY_MS = 5000;
/** One gateway of all looks at an organization in that time. */
const ALERTS_TURN_MS = 4000;
const RECONCILE_TURN_MS = 60_000;
/** Reading more open holds keeps calls waiting: alerts are then checked as seldom as counters are reconciled. */
const MANY_HOLDS = 2000;
/** As long after its last settlement an organization is looked at for alerts. */
const LATELY_MS = 3 * EVERY_MS;
/** A gateway that dies over an alert leaves it to others after this. */
const RAISING_MS = 90_000;
const DAY_MS = 86_400_000;
/** Every gateway has read the configuration by then. */
const ZONE_AGAIN_MS = 60_000;
const ZONE_KNOWN_MS = 400 * DAY_MS;
/** Older findings were reported by another gateway. */
const DRIFT_TOLD_MS = 3 * RECONCILE_TURN_MS;
const MOST_ORGANIZATIONS = 1000;
const MOST_RAISED = 10_000;
const MOST_DELIVERING = 50;

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  return new Keeper(deps);
}

class Keeper implements Reconciler {
  readonly #deps: ReconcilerDeps;
  /** Organization -> refusals since it was last looked at, and when their calls began. */
  readonly #refused = new LRUCache<string, Map<string, number>>({ max: MOST_ORGANIZATIONS });
  /** Organizations that had very many open holds when they were last looked at. */
  readonly #crowded = new LRUCache<string, true>({ max: MOST_ORGANIZATIONS });
  /** Alerts that some gateway has raised, as far as this one knows. */
  readonly #raised = new LRUCache<string, true>({ max: MOST_RAISED });
  readonly #drift = new LRUCache<string, bigint>({ max: MOST_ORGANIZATIONS, ttl: DRIFT_TOLD_MS });
  /** Organization -> the time zone its days were cut by when it was last looked at. */
  readonly #zones = new LRUCache<string, string>({ max: MOST_ORGANIZATIONS });
  #timer: NodeJS.Timeout | undefined;
  #delivering = 0;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  get drift(): ReadonlyMap<string, bigint> {
    return new Map(this.#drift.entries());
  }

  refused(limit: MoneyLimit, { id, organization }: WorkloadConfig, at: number): void {
    const known = this.#refused.get(organization.id);
    if (known) known.set(refusalName(limit, id), at);
    else this.#refused.set(organization.id, new Map([[refusalName(limit, id), at]]));
  }

  start(): void {
    const next = (): void => {
      this.#timer = setTimeout(() => void this.#tick().then(() => this.#timer && next()), EVERY_MS).unref();
    };
    next();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    const snapshot = this.#deps.snapshot();
    // Without the ledger nothing is settled, and there may be very many open holds: they are not even looked at.
    if (!snapshot || this.#deps.behind()) return;
    let fault: { readonly error: unknown } | undefined;
    for (const organization of snapshot.organizations.values()) {
      if (!this.#timer) return;
      // An organization that cannot be checked must not stop the others.
      await this.#look(organization, snapshot).catch((error: unknown) => (fault ??= { error }));
    }
    if (fault) this.#deps.onFault(fault.error);
  }

  async #look(organization: OrganizationConfig, snapshot: Snapshot): Promise<void> {
    const { marks } = this.#deps;
    const { id } = organization;
    const settledAt = this.#deps.settledAt.get(id);
    if (await this.#looksForAlerts(id, settledAt)) await this.#raiseAlerts(organization, snapshot);
    if (settledAt !== undefined) await this.#watchZone(organization);
    if (settledAt !== undefined && (await marks.claim(id, 'reconciling counters', RECONCILE_TURN_MS)))
      await this.#reconcile(organization);
  }

  async #looksForAlerts(id: string, settledAt: number | undefined): Promise<boolean> {
    const crowded = this.#crowded.has(id);
    const refused = this.#refused.has(id);
    if (refused && !crowded) return true;
    const lately = settledAt !== undefined && performance.now() - settledAt < LATELY_MS;
    if (!refused && !lately) return false;
    return this.#deps.marks.claim(id, 'looking for alerts', crowded ? RECONCILE_TURN_MS : ALERTS_TURN_MS);
  }

  async #raiseAlerts(organization: OrganizationConfig, { workloads }: Snapshot): Promise<void> {
    const refused = this.#refused.get(organization.id) ?? new Map<string, number>();
    // Later refusals are handled next time.
    this.#refused.delete(organization.id);
    try {
      await this.#raiseDue(organization, workloads, refused);
    } catch (error) {
      const since = this.#refused.get(organization.id) ?? [];
      this.#refused.set(organization.id, new Map([...refused, ...since]));
      throw error;
    }
  }

  async #raiseDue(
    organization: OrganizationConfig,
    workloads: Snapshot['workloads'],
    refused: ReadonlyMap<string, number>,
  ): Promise<void> {
    const { counters, credit } = this.#deps;
    const view = await counters.view(organization.id);
    if (view.holds.length > MANY_HOLDS) this.#crowded.set(organization.id, true);
    else this.#crowded.delete(organization.id);
    const standing =
      organization.plan?.type === 'prepaid'
        ? (await credit.standings([organization.id])).get(organization.id)
        : undefined;
    const own = [...workloads.values()].filter((one) => one.organization.id === organization.id);
    const watched = { organization, workloads: own, refused, ...(standing && { credit: standing }) };
    for (const alert of dueAlerts(watched, view, Date.now())) if (!this.#raised.has(alert.id)) await this.#raise(alert);
  }

  /** The first gateway to set the mark sends the alert; the others note that it was sent. */
  async #raise(alert: Alert): Promise<void> {
    const { marks, sink, onAlert, onUndelivered, onFault } = this.#deps;
    const mark = `alert ${alert.id}`;
    const mine = await marks.claim(alert.organization, mark, RAISING_MS);
    // The gateway that claimed it may die before sending: then it can be claimed again.
    this.#raised.set(alert.id, true, { ttl: mine ? 0 : RAISING_MS });
    if (!mine) return;
    onAlert(alert);
    const deliver = async (): Promise<void> => {
      this.#delivering++;
      try {
        if (sink && (this.#delivering > MOST_DELIVERING || !(await sink.deliver(alert)))) onUndelivered(alert);
        await marks.keep(alert.organization, mark, keptFor(alert));
      } finally {
        this.#delivering--;
      }
    };
    // In the background: an address that does not answer must delay nothing.
    void deliver().catch(onFault);
  }

  async #reconcile(organization: OrganizationConfig): Promise<void> {
    const { below, above } = worstDrift(await reconcileCounters(organization, this.#deps));
    const worst = below && above ? (-below.drift > above.drift ? below : above) : (below ?? above);
    this.#drift.set(organization.id, worst?.drift ?? 0n);
    // Told first, so that it is not put right in silence.
    for (const line of [below, above]) if (line) this.#deps.onDrift(organization.id, line);
    // A counter that is too high may have a debit that the ledger has lost: people must decide.
    if (below) await this.#deps.restorer.restoreAfresh(organization);
  }

  /**
   * Counters are cut by days, and days by the time zone: when that was changed, here or while this gateway was not there,
   * they are rebuilt, and once more when every gateway uses it.
   */
  async #watchZone(organization: OrganizationConfig): Promise<void> {
    const { id, timeZone } = organization;
    const before = this.#zones.get(id);
    if (before === timeZone) return;
    const news = await this.#deps.marks.claim(id, `days in ${timeZone}`, ZONE_KNOWN_MS);
    this.#zones.set(id, timeZone);
    if (before === undefined && !news) return;
    const rebuild = (): Promise<void> => this.#deps.restorer.restoreAfresh(organization, 'periods');
    setTimeout(() => void rebuild().catch(this.#deps.onFault), ZONE_AGAIN_MS).unref();
    await rebuild();
  }
}

/** Longer than the period lasts; for limits without an end, a year. */
function keptFor({ limit, period }: Alert): number {
  if (limit === 'credit' || period === 'total') return 400 * DAY_MS;
  return (period.length === 'yyyy-mm'.length ? 40 : 3) * DAY_MS;
}
