import type { ConfigEvent, ConfigSource } from '#/config/config-source.ts';
import type { PricesEvent, SnapshotFile } from '#/meter/pricing/price-snapshot-file.ts';
import type { Log } from '#/telemetry/log.ts';
import { counter, gauge, type Metrics } from '#/telemetry/metrics.ts';

export const CONFIG_METRICS = {
  notTaken: counter(
    'gw_config_not_taken_total',
    'Times that published configuration was not applied, by reason.',
    'why',
  ),
  readable: gauge('gw_config_readable', '1 while the latest configuration is in force.'),
  age: gauge(
    'gw_config_age_seconds',
    'Time since the configuration in force was known to be the latest. Revocations may be as late.',
  ),
  pricesRejected: counter('gw_price_snapshots_rejected_total', 'Price snapshots that were not applied.'),
  pricesAge: gauge('gw_price_snapshot_age_seconds', 'Age of the price snapshot in force.'),
};

/** Counts and logs changes of the configuration and of price snapshots. */
export function observeConfig(log: Log, metrics: Metrics) {
  const count = metrics.open(CONFIG_METRICS);
  return {
    onConfig: (event: ConfigEvent): void => {
      switch (event.name) {
        case 'config.loaded':
          return log.info({ event: event.name, revision: event.revision, counts: event.counts });
        case 'config.rejected':
          return log.error({ event: event.name, faults: event.faults });
        case 'config.not_taken':
          count.notTaken.inc(event.why);
          return log.error({ event: event.name, why: event.why, segments: event.segments });
        case 'config.taken_again':
          return log.info({ event: event.name });
        case 'config.failed':
          return log.error({ event: event.name, err: event.error });
      }
    },
    onPrices: (event: PricesEvent): void => {
      switch (event.name) {
        case 'prices.loaded': {
          const { id, builtAt, prices, differences } = event.snapshot;
          const facts = { snapshot: id, built_at: new Date(builtAt).toISOString(), models: prices.size };
          return log.info({
            event: event.name,
            ...facts,
            differences: differences.length,
            last_good: event.lastGood,
          });
        }
        case 'prices.rejected':
          count.pricesRejected.inc();
          return log.error({ event: event.name, why: event.why });
        case 'prices.old':
          return log.warn({ event: event.name, snapshot: event.id, days: event.days });
      }
    },
    watchConfig(config: ConfigSource): void {
      count.readable.from(() => Number(config.readable()));
      count.age.from(() => config.age() / 1000);
    },
    watchPrices: (prices: SnapshotFile): void =>
      count.pricesAge.from(() => Math.floor((Date.now() - prices.current().builtAt) / 1000)),
  };
}
