import type { ListEvent, VendorLists } from '#/dispatch/vendor-lists.ts';
import type { Log } from '#/telemetry/log.ts';
import type { Metrics } from '#/telemetry/metrics.ts';

/** Tells of vendors' own lists of models: who does not list them once, not every time. */
export function observeLists(log: Log, metrics: Metrics) {
  const asked = metrics.counter('gw_model_lists_total', 'Times that a vendor was asked for its models, by result.');
  return {
    on(event: ListEvent): void {
      const { kind, provider } = event;
      asked(`result="${kind === 'models.listed' ? 'listed' : 'failed'}"`);
      if (kind === 'models.listed') log.debug({ event: kind, provider, models: event.models });
      else if (event.isNew) log.warn({ event: kind, provider, why: event.why });
    },
    watch(lists: VendorLists): void {
      metrics.gauges(
        'gw_model_list_age_seconds',
        'Time since a vendor listed its models, by provider; one that is not here goes by the catalogue.',
        () => lists.ages(Date.now()).map(([provider, age]) => [`provider="${provider}"`, age]),
      );
    },
  };
}
