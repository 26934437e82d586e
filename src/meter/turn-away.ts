import type { GatewayError } from '#/errors/gateway-error.ts';
import type { Opening } from '#/call/call.ts';
import type { Arrivals } from './arrivals.ts';
import { planRefusal } from './plan-refusal.ts';
import type { RecentRefusals } from './recent-refusals.ts';

/** Why a request is refused before its body is read; undefined: it must be looked at, and has been counted as arrived. */
export function turnAway(
  caller: Pick<Opening, 'id' | 'key' | 'snapshot' | 'startedAt' | 'headers'>,
  { refusals, arrivals }: { readonly refusals: RecentRefusals; readonly arrivals: Arrivals },
): GatewayError | undefined {
  const { key, snapshot, startedAt } = caller;
  return planRefusal(key.workload.organization, startedAt) ?? refusals.find(key, snapshot) ?? arrivals.enter(caller);
}
