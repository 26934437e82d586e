import type { ProviderConfig, VendorId } from '#/config/snapshot.ts';
import type { Usage } from '#/wire/answer/usage.ts';

/** Vendors whose cached-token counts are shown on managed accounts too: their cache is kept apart by key. */
const SHOWN: ReadonlySet<VendorId> = new Set(['openai', 'azure']);

/** Whether answers of this provider show cached tokens as 0: on a managed account they are not the caller's. // spec 4.3.3 */
export function hidesCacheCounts({ keyOwnership, vendor }: ProviderConfig): boolean {
  return keyOwnership === 'managed' && !SHOWN.has(vendor);
}

/** A usage as such an answer shows it: cached input is fresh input, and totals stay what is billed by. */
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
