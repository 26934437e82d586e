import type { Target } from './plan.ts';
import type { Entry } from '#/seal/call-record.ts';

/** Notes that a target which policy lets through is not asked after all. */
export function leaveOut({ route }: Entry, { provider, model }: Target, why: string): void {
  route.push(`${provider.config.slug}/${model}: left out: ${why}`);
}
