import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded by a gateway before its own code (`--import`): writes down each turn of its event loop that took long, in
 * milliseconds of processor time, which does not depend on what else the machine does.
 */

const path = process.env['TURN_RECORD'];
/** Shorter ones are none of which anybody is told. */
const LONG_MS = 20;
/** How often it is looked: what is measured is longer by so much at most. */
const EVERY_MS = 2;

if (isMainThread && path !== undefined) {
  let before = processorMs();
  const timer = setInterval(() => {
    const now = processorMs();
    if (now - before >= LONG_MS) appendFileSync(path, `${JSON.stringify({ at: Date.now(), ms: now - before })}\n`);
    before = processorMs();
  }, EVERY_MS);
  timer.unref();
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
