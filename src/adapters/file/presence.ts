import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { answers, assertSocketPath } from '../socket.ts';

/** A process shows in a folder that it lives, by a socket it listens on: the kernel's word, over containers that share it. */
export interface Presence {
  /** Names this process in the folder: twelve hexadecimal digits. */
  readonly id: string;
  /** Whether the process of that name lives. */
  alive(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A socket this young may be about to be listened on. */
const YOUNG_MS = 60_000;

/** Rejects when the folder's path is too long for sockets, or takes none. */
export async function showPresence(folder: string): Promise<Presence> {
  const id = randomBytes(6).toString('hex');
  const socket = join(folder, `${id}.sock`);
  assertSocketPath(socket);
  const server = createServer((client) => client.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  chmodSync(socket, 0o600);
  server.on('error', () => {}).unref();
  return {
    id,
    async alive(other) {
      const path = join(folder, `${other}.sock`);
      if (other === id || (await answers(path))) return true;
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) return false;
      if (Date.now() - found.mtimeMs < YOUNG_MS && (await answersSoon(path))) return true;
      await rm(path, { force: true });
      return false;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A process makes its socket and listens on it within one turn of its loop. */
async function answersSoon(path: string): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return answers(path);
}
