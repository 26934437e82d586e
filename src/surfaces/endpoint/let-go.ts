import type { IncomingMessage } from 'node:http';

/** A client may go on sending so long, and so much, after it was answered. */
const LONGEST_MS = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;
const LOOK_MS = 100;

/**
 * Takes in and forgets the rest of a body that is not wanted: who is answered while sending would lose the answer if the
 * connection were cut at once. Cuts it where the rest does not end soon.
 */
export function letGo(request: IncomingMessage): void {
  if (isOver(request)) return;
  request.unpipe();
  request.resume();
  const start = request.socket.bytesRead;
  const until = performance.now() + LONGEST_MS;
  const timer = setInterval(() => {
    if (!isOver(request)) {
      if (performance.now() < until && request.socket.bytesRead - start < MOST_BYTES) return;
      request.destroy();
    }
    clearInterval(timer);
  }, LOOK_MS);
  timer.unref();
}

function isOver({ complete, readableEnded, destroyed }: IncomingMessage): boolean {
  return complete || readableEnded || destroyed;
}
