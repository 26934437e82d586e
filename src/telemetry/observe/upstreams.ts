import type { ListEvent, VendorLists } from '#/dispatch/vendor-lists.ts';
import type { Log } from '#/telemetry/log.ts';
import { counter, gauge, type Metrics } from '#/telemetry/metrics.ts';
import type { Handlers } from './handlers.ts';

export const UPSTREAM_METRICS = {
  circuits: counter(
    'gw_circuit_changes_total',
    'Changes of circuit breakers, by provider and new state.',
    'provider',
    'state',
  ),
  setAside: counter(
    'gw_credentials_set_aside_total',
    'Times that a credential was not used for a while, by provider and reason.',
    'provider',
    'why',
  ),
  lists: counter('gw_model_lists_total', 'Requests for the models of a vendor, by result.', 'result'),
  listAge: gauge(
    'gw_model_list_age_seconds',
    'Time since a vendor listed its models, by provider. Without a value, the catalogue is used.',
    'provider',
  ),
};

/** Counts and logs circuit breakers, credentials, and vendors' own lists of models. */
export function observeUpstreams(log: Log, metrics: Metrics) {
  const count = metrics.open(UPSTREAM_METRICS);
  const handlers: Handlers<'circuit.changed' | 'credential.set_aside'> = {
    'circuit.changed': ({ kind, provider, model, state }) => {
      count.circuits.inc(provider, state);
      const line = { event: kind, provider, model, state };
      if (state === 'open') log.warn(line);
      else log.info(line);
    },
    'credential.set_aside': ({ kind, waitMs, ...facts }) => {
      count.setAside.inc(facts.provider, facts.why);
      log.warn({ event: kind, ...facts, wait_ms: Math.ceil(waitMs) });
    },
  };
  return {
    handlers,
    /** A vendor that does not list its models is logged once for each reason. */
    onModelList: (event: ListEvent): void => {
      count.lists.inc(event.kind === 'models.listed' ? 'listed' : 'failed');
      if (event.kind === 'models.listed')
        log.debug({ event: event.kind, provider: event.provider, models: event.models });
      else if (event.isNew) log.warn({ event: event.kind, provider: event.provider, why: event.why });
    },
    watchLists: (lists: VendorLists): void => count.listAge.from(() => lists.ages(Date.now())),
  };
}
