import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { fatal } from './protocol.ts';
import { Session, type Backend } from './session.ts';
import { Turns } from './turns.ts';

const MAX_SESSIONS = 20;

/**
 * Lets several PostgreSQL clients use one single-user backend. A session has the backend to itself from the first
 * message of a cycle to its end (Sync or Query), and for as long as a transaction is open; others wait their turn.
 * Names of prepared statements are kept apart. Settings (SET), LISTEN and temporary tables are not: sessions share them.
 */
export async function serveSessions(backend: Backend, socketPath: string): Promise<{ close(): Promise<void> }> {
  const turns = new Turns();
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (sockets.size > MAX_SESSIONS) socket.end(fatal('53300', 'too many connections to the embedded database'));
    else new Session(socket, backend, turns, `s${++count}_`);
  });
  await listen(server, socketPath);
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: Server, socketPath: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, () => resolve());
  });
  chmodSync(socketPath, 0o600);
}
