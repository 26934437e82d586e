import type { ResolvedPolicy } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';

/**
 * The workload's stated purpose as a question to the local typed model. No local model is part of this build, so no
 * verdict can be reached: mode `block` fails closed. // spec 7.1, scope_guard_unavailable
 */
export function guardScope({ scopeGuard }: ResolvedPolicy): void {
  if (scopeGuard.mode !== 'block') return;
  throw new GatewayError('scope_guard_unavailable', 'The scope guard reached no verdict; nothing was sent.');
}
