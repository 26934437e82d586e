import type { ProviderConfig } from '#/config/snapshot.ts';
import { VENDORS } from '#/vendors/list.ts';
import type { Usage } from '#/wire/answer/usage.ts';

/**
 * Whether the callers of a managed account share the vendor's cache, which is not kept apart by key. Then answers show
 * cached tokens as 0, since they are not the caller's. // spec 4.3.3
 */
export function sharesCache({ vendor }: ProviderConfig): boolean {
  return VENDORS[vendor].cachesByKey !== true;
}

/** A usage as such an answer shows it: cached input counts as fresh input, and totals stay those that are billed. */
export function shownUsage(usage: Usage): Usage {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, cacheReadAudio, ...others } = usage;
  const inputAudio = (others.inputAudio ?? 0) + (cacheReadAudio ?? 0);
  return {
    ...others,
    ...(inputAudio > 0 && { inputAudio }),
    input: input + cacheRead + cacheWrite5m + cacheWrite1h,
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
  };
}
