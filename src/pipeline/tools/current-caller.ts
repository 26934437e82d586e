import type { CallContext } from '#/call/call.ts';
import type { Snapshot } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';

type Caller = Pick<CallContext, 'key' | 'snapshot'>;

/**
 * A caller under the configuration in force, so that a revoked key or a changed policy acts on the next call of a request
 * that takes minutes. Throws `invalid_api_key`.
 */
export function currentCaller({ key, snapshot }: Caller, current: Snapshot | undefined): Caller {
  const isSame = current === undefined || current.revision === snapshot.revision;
  const now = isSame ? key : current.keysById.get(key.id);
  const isGood = now && !now.revoked && (now.expiresAt ?? Infinity) > Date.now() && now.workload.id === key.workload.id;
  if (!isGood)
    throw new GatewayError('invalid_api_key', 'The API key was revoked, or has expired, during the request.');
  return { key: now, snapshot: isSame ? snapshot : current };
}
