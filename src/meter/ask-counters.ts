import type { WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import {
  CountersUnavailable,
  type HoldDecision,
  type HoldRequest,
  type LimitCounters,
} from '#/ports/limit-counters.ts';
import type { Restorer } from './counter-rebuild.ts';

/** How long a call waits for counters that are being restored, before it is refused. */
const RESTORE_PATIENCE_MS = 3000;
const BUSY_WAIT_MS = 5;

/** Asks the counters, and restores them where they are cold. Throws `limits_unavailable` where that takes too long. */
export async function askCounters(
  asked: HoldRequest,
  { organization }: WorkloadConfig,
  { counters, restorer }: { readonly counters: LimitCounters; readonly restorer: Restorer },
): Promise<Exclude<HoldDecision, { kind: 'cold' | 'busy' }>> {
  const askedAt = performance.now();
  try {
    for (;;) {
      const decision = await counters.hold(asked);
      if (decision.kind !== 'cold' && decision.kind !== 'busy') return decision;
      if (performance.now() > askedAt + RESTORE_PATIENCE_MS) throw new CountersUnavailable('they are being restored');
      if (decision.kind === 'cold') await restorer.restore(organization);
      else await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
    }
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** Counters that cannot be asked fail closed. // spec 8 */
export function unavailable(cause: unknown): GatewayError {
  const store =
    cause === undefined || cause instanceof CountersUnavailable ? 'limits_unavailable' : 'ledger_unavailable';
  return new GatewayError(store, 'Limits and budget could not be checked. Nothing was sent.', {}, { cause });
}
