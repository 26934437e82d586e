import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
import type { Options } from 'k6/options';
import { ask, CHAT, MESSAGES } from './lib/calls.ts';
import { at, forEachClient, post, secondsIn, shares, thisClient } from './lib/load.ts';
import { KEYS, number, TIMEOUT } from './lib/settings.ts';

/**
 * Gateways are replaced in mid-run, after `GW_RESTARTS_AT` seconds, by hand (`kubectl rollout restart`) or by the address in
 * `GW_RESTART_URL`, which is sent a POST. No call may fail, and no stream may be cut before its grace of `GW_GRACE` seconds
 * is over. `GW_STREAMS` are kept open beside short calls; a model with long answers makes for a better proof.
 */
const SECONDS = number('GW_SECONDS', 120, 1);
const RESTARTS_AT = number('GW_RESTARTS_AT', 20);
const RESTART_URL = __ENV['GW_RESTART_URL'];
const GRACE = number('GW_GRACE', 300);
const STREAMS = number('GW_STREAMS', 50, 1);

/** Whole streams that began before the restart and ended after it: without one, the run has shown nothing. */
const outlived: Counter = new Counter('gw_outlived');
/** Streams that were ended for the restart, after their grace. */
const ended: Counter = new Counter('gw_ended');

export const options: Options = {
  scenarios: {
    ...shares({ rate: number('GW_RATE', 20, 0.1), seconds: SECONDS, exec: 'call' }),
    streams: {
      executor: 'constant-vus',
      exec: 'stream',
      vus: STREAMS,
      duration: `${SECONDS}s`,
      gracefulStop: `${Math.max(TIMEOUT, GRACE)}s`,
    },
    ...at(RESTARTS_AT, 'restart', RESTART_URL),
  },
  thresholds: {
    ...forEachClient('gw_errors', ['rate==0']),
    gw_untold: ['rate==0'],
    gw_outlived: ['count>0'],
    dropped_iterations: ['count==0'],
  },
};

export function call(): void {
  ask({ door: CHAT, client: thisClient() });
}

export function stream(): void {
  const door = exec.vu.iterationInInstance % 2 === 0 ? CHAT : MESSAGES;
  const began = secondsIn();
  let late = false;
  // The earliest that the last moment of the grace can be, whichever gateway it was.
  const excused = (body: string): boolean =>
    (late = body.includes('server_restarting') && secondsIn() >= RESTARTS_AT + GRACE);
  const whole = ask({ door, client: exec.vu.idInTest % KEYS.length, stream: true, excused });
  if (late) ended.add(1);
  if (whole && began < RESTARTS_AT && secondsIn() > RESTARTS_AT) outlived.add(1);
}

export function restart(): void {
  post(RESTART_URL);
}
