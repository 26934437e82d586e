import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * What a network does to those who talk through it:
 *
 * - `open`: nothing.
 * - `cut`: connections are reset, new ones too.
 * - `stalled`: connections stand, new ones are accepted, and nothing arrives; what was sent arrives when it ends.
 * - `mute`: what is asked arrives, what is answered does not; when it ends connections are reset, and the answers lost.
 * - `slow`: everything arrives later.
 */
export type LinkState = 'open' | 'cut' | 'stalled' | 'mute' | 'slow';

/** A TCP relay on loopback between one gateway and one store. */
export interface Link {
  readonly port: number;
  set(state: LinkState): void;
  /** Resets every connection once. */
  reset(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** What waits for the link to be open again, in order. */
  waiting: (() => void)[];
}

const SLOW_MS = 120;

export async function openLink(toPort: number): Promise<Link> {
  let state: LinkState = 'open';
  const pairs = new Set<Pair>();

  const drop = (pair: Pair): void => {
    pairs.delete(pair);
    pair.waiting = [];
    pair.near.resetAndDestroy();
    pair.far.resetAndDestroy();
  };
  const relay = (pair: Pair, from: Socket, to: Socket): void => {
    const pass = (deliver: () => void): void => {
      const held = state === 'stalled' || (state === 'mute' && from === pair.far);
      if (held || pair.waiting.length > 0) pair.waiting.push(deliver);
      else if (state === 'slow') setTimeout(deliver, SLOW_MS);
      else deliver();
    };
    from.on('data', (chunk) => pass(() => void to.write(chunk)));
    from.on('end', () => pass(() => to.end()));
    from.on('error', () => {});
    from.on('close', (broken) => broken && pass(() => drop(pair)));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    near.on('error', () => {});
    if (state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    near.setNoDelay(true);
    const far = connect({ host: '127.0.0.1', port: toPort, allowHalfOpen: true, noDelay: true });
    const pair: Pair = { near, far, waiting: [] };
    pairs.add(pair);
    far.once('error', () => drop(pair));
    relay(pair, near, far);
    relay(pair, far, near);
    far.once('close', () => near.destroyed && pairs.delete(pair));
    near.once('close', () => far.destroyed && pairs.delete(pair));
  });
  const reset = (): void => {
    for (const pair of pairs) drop(pair);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    reset,
    set(next) {
      if (next === 'cut' || state === 'mute') reset();
      state = next;
      if (state !== 'open' && state !== 'slow') return;
      for (const pair of pairs) for (const deliver of pair.waiting.splice(0)) deliver();
    },
    async close() {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
