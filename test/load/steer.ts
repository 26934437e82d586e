import type { Options } from 'k6/options';
import { ask, CHAT } from './lib/calls.ts';
import { at, forEachClient, post, secondsIn, shares, thisClient } from './lib/load.ts';
import { number } from './lib/settings.ts';

/**
 * A provider fails in mid-run: traffic steers around it. `GW_MODEL` is an alias of two providers, one of which is broken
 * after `GW_FAILS_AT` seconds and mended after `GW_MENDS_AT`, by hand or by the addresses in `GW_BREAK_URL` and
 * `GW_MEND_URL`, which are sent a POST. Before that no call may fail. In the breaker's window (`GW_WINDOW` seconds) and
 * after it each client, taken by itself, may see its share of errors and no more.
 */
const SECONDS = number('GW_SECONDS', 120, 1);
const FAILS_AT = number('GW_FAILS_AT', 30);
const MENDS_AT = number('GW_MENDS_AT', 90);
const WINDOW = number('GW_WINDOW', 15);
const SHARE_IN_WINDOW = number('GW_WINDOW_SHARE', 0.01);
const SHARE = number('GW_SHARE', 0.01);
const BREAK_URL = __ENV['GW_BREAK_URL'];
const MEND_URL = __ENV['GW_MEND_URL'];

export const options: Options = {
  scenarios: {
    ...shares({ rate: number('GW_RATE', 20, 0.1), seconds: SECONDS, exec: 'call' }),
    ...at(FAILS_AT, 'breakProvider', BREAK_URL),
    ...at(MENDS_AT, 'mendProvider', MEND_URL),
  },
  thresholds: {
    'gw_errors{phase:before}': ['rate==0'],
    ...forEachClient('gw_errors', [`rate<=${SHARE_IN_WINDOW}`], 'phase:window'),
    ...forEachClient('gw_errors', [`rate<=${SHARE}`], 'phase:after'),
    gw_untold: ['rate==0'],
    dropped_iterations: ['count==0'],
  },
};

export function call(): void {
  const began = secondsIn();
  ask({ door: CHAT, client: thisClient(), tags: () => ({ phase: phaseOf(began, secondsIn()) }) });
}

export function breakProvider(): void {
  post(BREAK_URL);
}

export function mendProvider(): void {
  post(MEND_URL);
}

/** A call that was under way when the provider broke belongs to the window. */
function phaseOf(began: number, ended: number): 'before' | 'window' | 'after' {
  if (ended < FAILS_AT) return 'before';
  return began < FAILS_AT + WINDOW ? 'window' : 'after';
}
