import type { Server } from 'node:http';
import { Server as Listener } from 'node:net';

/**
 * Takes no more connections, and leaves those alone that are there: the `close` of HTTP servers would end the idle ones,
 * on one of which a client may just be sending its next call. A call that comes on one is served, and told to connect
 * elsewhere.
 */
export function stopListening(server: Server): void {
  Listener.prototype.close.call(server);
}
