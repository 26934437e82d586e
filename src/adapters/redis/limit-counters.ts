import { checkHold, checkRequest, checkSettlement } from '#adapters/memory/amount.ts';
import { recentIds } from '#adapters/memory/recent-ids.ts';
import type { CreditCounters } from '#ports/credit.ts';
import { CountersUnavailable, type HoldRequest, type LimitCounters, type Settlement } from '#ports/limit-counters.ts';
import type { Marks } from '#ports/marks.ts';
import type { OpenHolds } from '#ports/open-holds.ts';
import { openConnection, type ConnectionOptions } from './connection.ts';
import { gatherFreeCalls } from './free-calls.ts';
import { countCalls, placeHold } from './hold.ts';
import { trackInFlight } from './in-flight.ts';
import { checkPrefix } from './keys.ts';
import { trackLeases } from './leases.ts';
import { releaseOrphans } from './orphans.ts';
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
 * has no lease is anybody's. A `hold` that rejects gives back what it may have debited once the store answers again.
 */
export function openRedisCounters(options: RedisCountersOptions): RedisLimitCounters {
  const { keyPrefix: prefix = 'gw:', pauseMs = PAUSE_MS, clock } = options;
  checkPrefix(prefix);
  const scripts = loadScripts();
  const connection = openConnection(
    { ...options, onReady: () => void proveOnce().catch(() => {}) },
    Object.values(scripts),
  );
  const store: Store = {
    connection,
    scripts,
    prefix,
    clock: clock ? () => String(clock()) : () => '',
    pauseMs,
  };
  const inFlight = trackInFlight();
  const leases = trackLeases(store);
  // For as long as a restore may wait for its turn.
  const closed = recentIds(pauseMs);
  const orphans = releaseOrphans((settlements, owner) => settleHolds(store, settlements, owner));

  const freeCalls = gatherFreeCalls((request, calls) =>
    countCalls(store, request, inFlight.witness(request.organization), calls),
  );

  let renewing: Owner | undefined;
  let proved = 0;
  let proving: Promise<void> | undefined;
  /** After each connection that is made: before what may be lost is put back, nothing may be debited. */
  const prove = async (): Promise<void> => {
    if (!renewing) return;
    const { times } = connection;
    await renewLease(store, leases, renewing);
    proved = times;
  };
  const proveOnce = (): Promise<void> => (proving ??= prove().finally(() => (proving = undefined)));

  const hold = async (request: HoldRequest) => {
    checkRequest(request);
    if (request.free === true) return freeCalls(request);
    while (renewing && proved !== connection.times) await proveOnce();
    const { organization, callId, owner } = request;
    if (leases.owed.has(organization)) {
      await proveOnce();
      if (leases.owed.has(organization))
        throw new CountersUnavailable('what the store may have lost is not put back yet');
    }
    orphans.forget(callId);
    const wasSent = connection.isReady;
    try {
      const decision = await placeHold(store, request, inFlight.witness(organization));
      if (decision.kind === 'granted') inFlight.add(organization, callId);
      return decision;
    } catch (error) {
      if (wasSent && error instanceof CountersUnavailable) orphans.add(organization, callId, owner);
      throw error;
    }
  };

  const settle = async (settlements: readonly Settlement[], owner?: string) => {
    settlements.forEach(checkSettlement);
    const results = await settleHolds(store, settlements, owner);
    for (const [i, result] of results.entries()) {
      if (result === 'busy') continue;
      const { organization, callId } = settlements[i]!;
      inFlight.remove(organization, callId);
      closed.add(callId, performance.now());
    }
    return results;
  };

  return {
    hold,
    settle,
    async restore(organization, own, read, lowers = 'everything') {
      own.forEach(checkHold);
      const stillOwn = () => own.filter(({ callId }) => !closed.has(callId, performance.now()));
      await restoreSpend(store, leases, organization, stillOwn, read, lowers);
      inFlight.replace(
        organization,
        stillOwn().map((known) => known.callId),
      );
    },
    view: (organization, closedSince) => viewOrganization(store, organization, closedSince),
    findHolds: (organization, callIds) => findHolds(store, organization, callIds),
    allHolds: async (organization) => (await holdsOf(store, organization)) ?? [],
    async takeOver(organizations, owner, ttlMs, own = () => []) {
      const { times } = connection;
      const stillOwn = () => own().filter(({ callId }) => !closed.has(callId, performance.now()));
      renewing = { organizations, owner, ttlMs, own: stillOwn };
      const taken = await takeOverHolds(store, leases, renewing);
      proved = times;
      for (const { organization, callId } of taken.holds) {
        inFlight.add(organization, callId);
        // Whoever had it meanwhile may have sealed it: it has to be looked up, not given back.
        orphans.forget(callId);
      }
      return taken;
    },
    async putCredit(organization, { number, sum }) {
      await runOn(store, 'credit', organization, [String(number), String(sum)]);
    },
    claim: async (organization, name, ms) => (await runOn(store, 'mark', organization, [name, String(ms), ''])) === 1,
    async keep(organization, name, ms) {
      await runOn(store, 'mark', organization, [name, String(ms), '1']);
    },
    ping: () => connection.ping(),
    async close() {
      orphans.stop();
      await connection.close();
    },
  };
}
