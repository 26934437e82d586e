import exec from 'k6/execution';
import type { Options } from 'k6/options';
import { ask, CHAT, MESSAGES } from './lib/calls.ts';
import { forEachClient } from './lib/load.ts';
import { KEYS, number, TIMEOUT } from './lib/settings.ts';

/** Many streams at once: `GW_STREAMS` are kept open for `GW_SECONDS`, and each must come to its proper end. */
const STREAMS = number('GW_STREAMS', 50, 1);

export const options: Options = {
  scenarios: {
    streams: {
      executor: 'constant-vus',
      exec: 'stream',
      vus: STREAMS,
      duration: `${number('GW_SECONDS', 60, 1)}s`,
      gracefulStop: `${TIMEOUT}s`,
    },
  },
  thresholds: {
    ...forEachClient('gw_errors', [`rate<=${number('GW_SHARE', 0)}`]),
    gw_untold: ['rate==0'],
    gw_first_byte: [`p(95)<=${number('GW_P95_MS', 5000, 1)}`],
  },
};

export function stream(): void {
  const door = exec.vu.iterationInInstance % 2 === 0 ? CHAT : MESSAGES;
  ask({ door, client: exec.vu.idInTest % KEYS.length, stream: true });
}
