import { formatEuro } from '#/values/money.ts';
import type { Log } from '#/telemetry/log.ts';
import { counter, type Metrics } from '#/telemetry/metrics.ts';
import type { Handlers } from './handlers.ts';

export const MONEY_METRICS = {
  restored: counter('gw_counters_restored_total', 'Times that spend counters were rebuilt from the ledger.'),
  alerts: counter(
    'gw_money_alerts_total',
    'Alerts about budgets, caps and credit, by limit and event.',
    'limit',
    'event',
  ),
  undelivered: counter('gw_money_alerts_undelivered_total', 'Alerts that the webhook did not accept.'),
  drifts: counter(
    'gw_money_drift_total',
    'Spend counters that differed from the ledger, by direction: too little (corrected) or too much (left as it is).',
    'direction',
  ),
};

/** Counts and logs alerts, and counters that differ from the ledger. */
export function observeMoney(
  log: Log,
  metrics: Metrics,
): Handlers<'counters.restored' | 'money.alert' | 'money.alert_undelivered' | 'money.drift'> {
  const count = metrics.open(MONEY_METRICS);
  return {
    'counters.restored': ({ kind, organization }) => {
      count.restored.inc();
      log.info({ event: kind, organization });
    },
    'money.alert': ({ kind, alert }) => {
      count.alerts.inc(alert.limit, alert.event);
      const { amount, spent, left, at: _, event: what, ...facts } = alert;
      const euro = { amount_eur: formatEuro(amount), spent_eur: formatEuro(spent), left_eur: formatEuro(left) };
      log.warn({ event: kind, what, ...facts, ...euro });
    },
    'money.alert_undelivered': ({ kind, alert }) => {
      count.undelivered.inc();
      log.error({ event: kind, id: alert.id });
    },
    'money.drift': ({ kind, organization, line }) => {
      const { scope, period, counter: counted, ledger, held, drift } = line;
      count.drifts.inc(drift < 0n ? 'too_little' : 'too_much');
      const sums = { counter: `${counted}`, ledger: `${ledger}`, held: `${held}`, drift: `${drift}` };
      log.error({ event: kind, organization, scope, period, nano_eur: sums });
    },
  };
}
