import type { OrganizationConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';

/**
 * What every call of an organization is refused with while it has no active plan: `insufficient_quota`, with the day
 * from which or until which it has one. Undefined: it may call. // spec 7.1
 */
export function planRefusal({ suspended, plan }: OrganizationConfig, now: number): GatewayError | undefined {
  if (suspended) return noPlan('This organization has no active plan: it is suspended.');
  if (plan === undefined) return undefined;
  if (plan.type === 'none') return noPlan('This organization has no active plan.');
  if (plan.activeFrom !== undefined && now < plan.activeFrom)
    return noPlan(`This organization has no active plan yet. It begins at ${instant(plan.activeFrom)}.`);
  if (plan.activeUntil !== undefined && now >= plan.activeUntil)
    return noPlan(`This organization has no active plan any more. It ended at ${instant(plan.activeUntil)}.`);
  return undefined;
}

function noPlan(message: string): GatewayError {
  return new GatewayError('insufficient_quota', message);
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
