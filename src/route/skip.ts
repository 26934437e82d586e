import type { Target } from '#/call/target.ts';

/** Notes that a target which policy lets through is not asked after all. */
export function leaveOut({ route }: { readonly route: string[] }, { provider, model }: Target, why: string): void {
  route.push(`${provider.config.slug}/${model}: left out: ${why}`);
}
