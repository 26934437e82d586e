import type { Snapshot } from '#/config/snapshot.ts';
import type { Providers } from '#/route/offer.ts';
import { VendorLists } from '#/dispatch/vendor-lists.ts';
import type { Observer } from '#/telemetry/observe/observer.ts';
import type { Settings } from '#/settings/gateway-settings.ts';

/** Begins to fetch vendors' lists of models, unless the settings turn it off. */
export function openVendorLists(
  { modelListSeconds: seconds }: Pick<Settings, 'modelListSeconds'>,
  providers: Providers,
  snapshot: () => Snapshot | undefined,
  { onModelList: onEvent }: Pick<Observer, 'onModelList'>,
): VendorLists | undefined {
  if (seconds === 0) return undefined;
  const lists = new VendorLists({ providers, snapshot, seconds, onEvent });
  lists.start();
  return lists;
}
