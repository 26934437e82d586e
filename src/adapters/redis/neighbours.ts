import { randomUUID } from 'node:crypto';
import type { Neighbours } from '#/ports/neighbours.ts';
import { kindOf, openClient, type ConnectionOptions } from './connection.ts';

const CHANNEL = 'gw:neighbours';
/** Between the name of the sender and what it says. */
const BREAK = '\n';

/** Sends by channels of Redis (7.0 or newer), standalone or Cluster, over two connections of its own. */
export function openRedisNeighbours(options: ConnectionOptions): Neighbours {
  const name = randomUUID();
  const { redis: publisher } = openClient(options, []);
  const { redis: subscriber } = openClient(options, []);
  let take: ((message: string) => void) | undefined;
  subscriber.on('ready', () => void subscriber.subscribe(CHANNEL, `${CHANNEL}:${name}`).catch(() => undefined));
  subscriber.on('message', (_channel: string, text: string) => {
    const at = text.indexOf(BREAK);
    if (text.slice(0, at) !== name) take?.(text.slice(at + 1));
  });
  return {
    name,
    async send(message, to) {
      try {
        await publisher.publish(to === undefined ? CHANNEL : `${CHANNEL}:${to}`, name + BREAK + message);
      } catch (error) {
        // The client's errors carry the message.
        throw new Error(`other gateways cannot be reached: ${kindOf(error)}`);
      }
    },
    hear: (heard) => void (take = heard),
    close() {
      for (const one of [publisher, subscriber]) one.disconnect();
    },
  };
}
