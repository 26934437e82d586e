import { checkDebit, checkRequest } from '../memory/spend.ts';
import { RecentIds } from '../memory/time-windows.ts';
import type { CreditCounters } from '#/ports/credit.ts';
import { CountersUnavailable, type Ended, type HoldRequest, type LimitCounters } from '#/ports/limit-counters.ts';
import type { Marks } from '#/ports/marks.ts';
import type { OpenHolds } from '#/ports/open-holds.ts';
import { openConnection, type ConnectionOptions } from './connection.ts';
import { gatherFreeCalls } from './free-calls.ts';
import { gatherHolds } from './gather-holds.ts';
import { countCalls, placeHolds } from './hold.ts';
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
 * has no lease may be taken over by any process. A `hold` that rejects gives back its possible debit once the store
 * answers again.
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
  const closed = new RecentIds(pauseMs);
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

  /** Holds of one organization. The checks before sending run without a break in between. */
  const place = async (requests: readonly HoldRequest[]) => {
    const { organization } = requests[0]!;
    while (renewing && proved !== connection.times) await proveOnce();
    if (leases.owed.has(organization)) {
      await proveOnce();
      if (leases.owed.has(organization))
        throw new CountersUnavailable('the holds that the store may have lost are not restored yet');
    }
    for (const { callId } of requests) orphans.forget(callId);
    const wasSent = connection.isReady;
    try {
      const decisions = await placeHolds(store, requests, inFlight.witness(organization));
      for (const [index, { kind }] of decisions.entries())
        if (kind === 'granted') inFlight.add(organization, requests[index]!.callId);
      return decisions;
    } catch (error) {
      if (wasSent && error instanceof CountersUnavailable)
        for (const { callId, owner } of requests) orphans.add(organization, callId, owner);
      throw error;
    }
  };
  const gathered = gatherHolds(place);

  const hold = async (request: HoldRequest) => {
    checkRequest(request);
    return request.free === true ? freeCalls(request) : gathered(request);
  };

  const settle = async (settlements: readonly Ended[], owner?: string) => {
    for (const { cost, tokens } of settlements) checkDebit(cost, tokens);
    const results = await settleHolds(store, settlements, owner);
    const now = performance.now();
    for (const [i, result] of results.entries()) {
      const { organization, callId, stays } = settlements[i]!;
      if (result === 'busy' || stays) continue;
      inFlight.remove(organization, callId);
      closed.add(callId, now);
    }
    return results;
  };

  return {
    hold,
    settle,
    async restore(organization, own, read, lowers = 'everything') {
      for (const { amount, tokens } of own) checkDebit(amount, tokens);
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
        // Another process that owned it meanwhile may have sealed it: it has to be looked up, not given back.
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
