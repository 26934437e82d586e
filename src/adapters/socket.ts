import { connect } from 'node:net';

/** `sun_path` less its terminator, on the platform where it is shortest. */
const MAX_SOCKET_PATH = 103;

/** Throws RangeError when a socket's path would be too long for the system. */
export function assertSocketPath(path: string): void {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return;
  throw new RangeError(`the path ${path} is too long for a socket: use a data directory with a shorter path`);
}

/** Whether a process listens on the socket. The kernel answers this, also across containers that share a volume. */
export function answers(socketPath: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(socketPath);
    const finish = (answer: boolean): void => {
      socket.destroy();
      done(answer);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
