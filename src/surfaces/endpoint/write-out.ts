import type { ServerResponse } from 'node:http';

/** A client that reads nothing for this long is gone. */
const SLOW_CLIENT_MS = 60_000;

/** Writes to a client; false when it is gone. Waits while it is slower than what it is sent. */
export function writeOut(
  raw: ServerResponse,
  piece: string | Uint8Array,
  signal: AbortSignal,
): boolean | Promise<boolean> {
  if (raw.destroyed) return false;
  return raw.write(piece) || drained(raw, signal).then(() => !raw.destroyed);
}

/** Waits until a slow client has read the written bytes; a client that reads nothing for too long is cut off. */
function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      raw.off('drain', done);
      raw.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(() => raw.destroy(), SLOW_CLIENT_MS);
    raw.once('drain', done);
    raw.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
