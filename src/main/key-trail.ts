import type { Stranger } from '#/surfaces/stranger.ts';
import type { Log } from '#/telemetry/log.ts';
import { Sampled } from '#/telemetry/sampled.ts';

/** So many lines a minute: who tries many keys does not fill the log. */
const LINES = 20;
const WINDOW_MS = 60_000;

/** Logs requests that were refused for their key; `untold`: how many there were of which no line tells. */
export function createKeyTrail(log: Log): (stranger: Stranger) => void {
  const sampled = new Sampled(LINES, WINDOW_MS);
  return ({ callId, address, key }) => {
    const untold = sampled.take();
    if (untold !== undefined) log.warn({ event: 'key.refused', call_id: callId, address, key, untold });
  };
}
