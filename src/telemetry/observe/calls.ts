import { CATALOGUE } from '#/errors/catalogue.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { Log } from '#/telemetry/log.ts';
import { counter, type Metrics } from '#/telemetry/metrics.ts';
import type { Handlers } from './handlers.ts';

export const CALL_METRICS = {
  sealed: counter('gw_calls_total', 'Calls with an audit row, by outcome and error code.', 'outcome', 'code'),
  errors: counter('gw_errors_total', 'Errors sent to clients, by error code.', 'code'),
  cache: counter('gw_cache_lookups_total', 'Lookups in the response cache, by result.', 'result'),
  contentDropped: counter(
    'gw_content_dropped_total',
    'Calls whose content was not retained because too much waited to be stored.',
  ),
  abandoned: counter('gw_calls_abandoned_total', 'Calls of dead processes that this gateway closed.'),
  shadowed: counter(
    'gw_shadow_differences_total',
    'Calls that a policy in shadow mode would have decided differently, by field of the policy.',
    'field',
  ),
  implausible: counter(
    'gw_usage_implausible_total',
    "Calls billed by the gateway's own count because the usage that the provider reported cannot be true, by provider.",
    'provider',
  ),
};

type CallKind =
  | 'call.sealed'
  | 'calls.abandoned'
  | 'cache.asked'
  | 'content.dropped'
  | 'objects.dropped'
  | 'detectors.used'
  | 'shadow.differed'
  | 'usage.implausible';

/** Counts calls and their errors, and logs unusual ones. */
export function observeCalls(log: Log, metrics: Metrics) {
  const count = metrics.open(CALL_METRICS);
  const handlers: Handlers<CallKind> = {
    'call.sealed': ({ outcome, code }) => count.sealed.inc(outcome, code ?? ''),
    'calls.abandoned': ({ kind, holds }) => {
      count.abandoned.add(holds.length);
      log.warn({ event: kind, calls: holds.map((hold) => hold.callId) });
    },
    'cache.asked': ({ result }) => count.cache.inc(result),
    'content.dropped': () => count.contentDropped.inc(),
    'objects.dropped': ({ kind, objects }) => log.warn({ event: kind, objects }),
    'detectors.used': ({ kind, set }) => log.info({ event: kind, ...set }),
    'shadow.differed': ({ field }) => count.shadowed.inc(field),
    'usage.implausible': ({ kind, provider, callId }) => {
      count.implausible.inc(provider);
      log.warn({ event: kind, provider, call: callId });
    },
  };
  return {
    handlers,
    onError: (error: GatewayError, callId: string): void => {
      count.errors.inc(error.code);
      if (CATALOGUE[error.code].status >= 500)
        log.warn({ event: 'call.failed', call_id: callId, code: error.code, err: error.cause });
    },
  };
}
