import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { ask, CHAT } from './lib/calls.ts';
import { GATEWAYS, KEYS, number, TIMEOUT } from './lib/settings.ts';

/**
 * How much a deployment bears: the rate rises to `GW_RATE` calls a second over `GW_SECONDS`. The run ends, as failed, as
 * soon as calls fail or become slow; the rate at which it ended is what it bore.
 */
const RATE = number('GW_RATE', 200, 1);
const P95_MS = number('GW_P95_MS', 2000, 1);

export const options: Options = {
  scenarios: {
    ramp: {
      executor: 'ramping-arrival-rate',
      exec: 'call',
      startRate: Math.ceil(RATE / 20),
      timeUnit: '1s',
      stages: [{ target: RATE, duration: `${number('GW_SECONDS', 300, 1)}s` }],
      preAllocatedVUs: Math.ceil(RATE / 4),
      // As many as are under way when calls take twice what they may.
      maxVUs: Math.ceil((RATE * 2 * P95_MS) / 1000) + 10,
      gracefulStop: `${TIMEOUT}s`,
    },
  },
  thresholds: {
    gw_errors: [{ threshold: `rate<=${number('GW_SHARE', 0.01)}`, abortOnFail: true, delayAbortEval: '5s' }],
    gw_first_byte: [{ threshold: `p(95)<=${P95_MS}`, abortOnFail: true, delayAbortEval: '5s' }],
    gw_untold: ['rate==0'],
    dropped_iterations: [{ threshold: 'count==0', abortOnFail: true }],
  },
};

export function call(): void {
  // Clients take turns once every gateway had its turn.
  ask({ door: CHAT, client: Math.floor(exec.scenario.iterationInTest / GATEWAYS.length) % KEYS.length });
}
