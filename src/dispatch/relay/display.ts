import type { ProviderConfig } from '#/config/snapshot.ts';
import { VENDORS } from '#/vendors/list.ts';
import type { Usage } from '#/wire/answer/usage.ts';

/**
 * Whether answers of this provider show cached tokens as 0: on a managed account they are not the caller's, unless the
 * vendor's cache is kept apart by key. // spec 4.3.3
 */
export function hidesCacheCounts({ keyOwnership, vendor }: ProviderConfig): boolean {
  return keyOwnership === 'managed' && VENDORS[vendor].cachesByKey !== true;
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
