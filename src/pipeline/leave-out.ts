import type { Target } from '#route/plan.ts';
import type { Entry } from '#seal/entry.ts';

/** Notes that a target which policy lets through is not asked after all. */
export function leaveOut({ route }: Entry, { provider, model }: Target, why: string): void {
  route.push(`${provider.config.slug}/${model}: left out: ${why}`);
}
