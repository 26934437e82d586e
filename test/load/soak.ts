import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { ask, CHAT, MESSAGES } from './lib/calls.ts';
import { forEachClient, shares, thisClient } from './lib/load.ts';
import { number } from './lib/settings.ts';

/**
 * A steady load for hours, of every kind of call. What leaks or piles up shows at the end: the last quarter of the run
 * is held to the same latency by itself.
 */
const SECONDS = number('GW_SECONDS', 3600, 1);
const LATENCY = [`p(99)<=${number('GW_P99_MS', 5000, 1)}`];

export const options: Options = {
  scenarios: shares({ rate: number('GW_RATE', 10, 0.1), seconds: SECONDS, exec: 'call' }),
  thresholds: {
    ...forEachClient('gw_errors', [`rate<=${number('GW_SHARE', 0.001)}`]),
    gw_untold: ['rate==0'],
    gw_first_byte: LATENCY,
    'gw_first_byte{part:late}': LATENCY,
    dropped_iterations: ['count==0'],
  },
};

export function call(): void {
  // Four kinds of call in turn, each on every gateway in turn.
  const turn = exec.vu.iterationInInstance % 4;
  const late = exec.instance.currentTestRunDuration / 1000 > SECONDS * 0.75;
  ask({
    door: turn < 2 ? CHAT : MESSAGES,
    client: thisClient(),
    stream: turn % 2 === 1,
    tags: () => ({ part: late ? 'late' : 'early' }),
  });
}
