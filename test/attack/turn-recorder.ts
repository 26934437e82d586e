import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded by a gateway before its own code (`--import`): writes down each turn of its event loop that took long, in
 * milliseconds of processor time, which does not depend on what else the machine does; and for each call of one key how
 * much of it the event loop took while the call lasted, for the call itself and for others.
 */

const { TURN_RECORD: path, TURN_RECORD_KEY: key } = process.env;
/** Shorter ones are none of which anybody is told. */
const LONG_MS = 20;
/** How often it is looked: what is measured is longer by so much at most. */
const EVERY_MS = 2;

if (isMainThread && path !== undefined) {
  let before = processorMs();
  const timer = setInterval(() => {
    const now = processorMs();
    if (now - before >= LONG_MS) write({ kind: 'turn', ms: now - before });
    before = processorMs();
  }, EVERY_MS);
  timer.unref();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.headers.authorization !== `Bearer ${key}`) return;
    const start = processorMs();
    response.once('finish', () => write({ kind: 'call', ms: processorMs() - start }));
  });
}

function write(line: { readonly kind: 'turn' | 'call'; readonly ms: number }): void {
  appendFileSync(path!, `${JSON.stringify({ at: Date.now(), ...line })}\n`);
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
