import { checkDebit, checkRequest } from '../memory/spend.ts';
import { RecentIds } from '../memory/time-windows.ts';
import type { CreditCounters } from '#/ports/credit.ts';
import {
  CountersUnavailable,
  type CountersView,
  type Credit,
  type Ended,
  type HoldDecision,
  type HoldRequest,
  type LimitCounters,
  type Lowering,
  type Marks,
  type OpenHold,
  type OpenHolds,
  type SettleResult,
  type TakeOver,
} from '#/ports/limit-counters.ts';
import { openConnection, type Connection, type ConnectionOptions } from './connection.ts';
import { gatherFreeCalls } from './free-calls.ts';
import { gatherHolds } from './gather-holds.ts';
import { countCalls, placeHolds } from './hold.ts';
import { trackInFlight } from './in-flight.ts';
import { checkPrefix, KEY_PREFIX } from './keys.ts';
import { trackLeases, type Leases } from './leases.ts';
import { releaseOrphans, type Orphans } from './orphans.ts';
import { restoreSpend } from './restore.ts';
import { loadScripts } from './scripts.ts';
import { settleHolds } from './settle.ts';
import { runOn, type Store } from './store.ts';
import { renewLease, takeOverHolds, type Owner } from './take-over.ts';
import { findHolds, holdsOf, viewOrganization } from './view.ts';

export interface RedisCountersOptions extends ConnectionOptions {
  /** Put before every key; without braces. Default `gw:`. */
  readonly keyPrefix?: string;
  /** How long a restore may keep an organization's holds waiting. Default 10 000. */
  readonly pauseMs?: number;
  /** For tests: the scripts' clock, milliseconds since the epoch. By default the store's own. */
  readonly clock?: () => number;
}

/** Limit counters in Redis, shared by every gateway that uses the same server and key prefix. */
export interface RedisLimitCounters extends LimitCounters, OpenHolds, CreditCounters, Marks {
  /** Rejects with CountersUnavailable unless the store answers within the command timeout, connecting included. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const PAUSE_MS = 10_000;

/**
 * Connects to Redis (7.0 or newer), standalone or Cluster. Calls made before the connection stands reject.
 *
 * A process must call `takeOver` before its first `hold`, and then at least three times per lease: a hold whose owner
 * has no lease may be taken over by any process. A `hold` that rejects gives back its possible debit once the store
 * answers again.
 */
export function openRedisCounters(options: RedisCountersOptions): RedisLimitCounters {
  const { keyPrefix = KEY_PREFIX } = options;
  checkPrefix(keyPrefix);
  return new RedisCounters({ ...options, keyPrefix });
}

class RedisCounters implements RedisLimitCounters {
  readonly #connection: Connection;
  readonly #store: Store;
  readonly #leases: Leases;
  readonly #inFlight = trackInFlight();
  /** Ids that were closed lately: for as long as a restore may wait for its turn. */
  readonly #closed: RecentIds;
  readonly #orphans: Orphans;
  readonly #holdSoon: (request: HoldRequest) => Promise<HoldDecision>;
  readonly #countSoon: (request: HoldRequest) => Promise<HoldDecision>;
  #renewing: Owner | undefined;
  /** The connection, by its number, after which what may have been lost was put back. */
  #proved = 0;
  #proving: Promise<void> | undefined;

  constructor(options: RedisCountersOptions & { readonly keyPrefix: string }) {
    const { keyPrefix: prefix, pauseMs = PAUSE_MS, clock } = options;
    const scripts = loadScripts();
    const onReady = (): void => void this.#proveOnce().catch(() => {});
    const connection = openConnection({ ...options, onReady }, Object.values(scripts));
    const store = { connection, scripts, prefix, clock: clock ? () => String(clock()) : () => '', pauseMs };
    this.#connection = connection;
    this.#store = store;
    this.#leases = trackLeases(store);
    this.#closed = new RecentIds(pauseMs);
    this.#orphans = releaseOrphans((settlements, owner) => settleHolds(store, settlements, owner));
    this.#holdSoon = gatherHolds((requests) => this.#place(requests));
    this.#countSoon = gatherFreeCalls((request, calls) =>
      countCalls(store, request, this.#inFlight.witness(request.organization), calls),
    );
  }

  async hold(request: HoldRequest): Promise<HoldDecision> {
    checkRequest(request);
    return request.free === true ? this.#countSoon(request) : this.#holdSoon(request);
  }

  async settle(settlements: readonly Ended[], owner?: string): Promise<readonly SettleResult[]> {
    for (const { cost, tokens } of settlements) checkDebit(cost, tokens);
    const results = await settleHolds(this.#store, settlements, owner);
    const now = performance.now();
    for (const [index, result] of results.entries()) {
      const { organization, callId, stays } = settlements[index]!;
      if (result === 'busy' || stays) continue;
      this.#inFlight.remove(organization, callId);
      this.#closed.add(callId, now);
    }
    return results;
  }

  async restore(
    organization: string,
    own: readonly OpenHold[],
    read: Parameters<LimitCounters['restore']>[2],
    lowers: Lowering = 'everything',
  ): Promise<void> {
    for (const { amount, tokens } of own) checkDebit(amount, tokens);
    const stillOwn = (): readonly OpenHold[] => this.#notClosed(own);
    await restoreSpend(this.#store, this.#leases, organization, stillOwn, read, lowers);
    this.#inFlight.replace(
      organization,
      stillOwn().map((known) => known.callId),
    );
  }

  view(organization: string, closedSince?: number): Promise<CountersView> {
    return viewOrganization(this.#store, organization, closedSince);
  }

  findHolds(organization: string, callIds: readonly string[]): Promise<readonly OpenHold[]> {
    return findHolds(this.#store, organization, callIds);
  }

  async allHolds(organization: string): Promise<readonly OpenHold[]> {
    return (await holdsOf(this.#store, organization)) ?? [];
  }

  async takeOver(
    organizations: readonly string[],
    owner: string,
    ttlMs: number,
    own: () => readonly OpenHold[] = () => [],
  ): Promise<TakeOver> {
    const { times } = this.#connection;
    this.#renewing = { organizations, owner, ttlMs, own: () => this.#notClosed(own()) };
    const taken = await takeOverHolds(this.#store, this.#leases, this.#renewing);
    this.#proved = times;
    for (const { organization, callId } of taken.holds) {
      this.#inFlight.add(organization, callId);
      // Another process that owned it meanwhile may have sealed it: it has to be looked up, not given back.
      this.#orphans.forget(callId);
    }
    return taken;
  }

  async putCredit(organization: string, { number, sum }: Credit): Promise<void> {
    await runOn(this.#store, 'credit', organization, [String(number), String(sum)]);
  }

  async claim(organization: string, name: string, ms: number): Promise<boolean> {
    return (await runOn(this.#store, 'mark', organization, [name, String(ms), ''])) === 1;
  }

  async keep(organization: string, name: string, ms: number): Promise<void> {
    await runOn(this.#store, 'mark', organization, [name, String(ms), '1']);
  }

  ping(): Promise<void> {
    return this.#connection.ping();
  }

  async close(): Promise<void> {
    this.#orphans.stop();
    await this.#connection.close();
  }

  /** Holds of one organization. The checks before sending run without a break in between. */
  async #place(requests: readonly HoldRequest[]): Promise<readonly HoldDecision[]> {
    const { organization } = requests[0]!;
    while (this.#renewing && this.#proved !== this.#connection.times) await this.#proveOnce();
    if (this.#leases.owed.has(organization)) {
      await this.#proveOnce();
      if (this.#leases.owed.has(organization))
        throw new CountersUnavailable('the holds that the store may have lost are not restored yet');
    }
    for (const { callId } of requests) this.#orphans.forget(callId);
    const wasSent = this.#connection.isReady;
    try {
      const decisions = await placeHolds(this.#store, requests, this.#inFlight.witness(organization));
      for (const [index, { kind }] of decisions.entries())
        if (kind === 'granted') this.#inFlight.add(organization, requests[index]!.callId);
      return decisions;
    } catch (error) {
      if (wasSent && error instanceof CountersUnavailable)
        for (const { callId, owner } of requests) this.#orphans.add(organization, callId, owner);
      throw error;
    }
  }

  #proveOnce(): Promise<void> {
    return (this.#proving ??= this.#prove().finally(() => (this.#proving = undefined)));
  }

  /** After each connection that is made: before what may be lost is put back, nothing may be debited. */
  async #prove(): Promise<void> {
    if (!this.#renewing) return;
    const { times } = this.#connection;
    await renewLease(this.#store, this.#leases, this.#renewing);
    this.#proved = times;
  }

  #notClosed(holds: readonly OpenHold[]): readonly OpenHold[] {
    const now = performance.now();
    return holds.filter(({ callId }) => !this.#closed.has(callId, now));
  }
}
