import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { chat } from './answers.ts';
import { readExchange, type Answer, type UpstreamRequest } from './exchange.ts';

/** A provider's stand-in: a real HTTP server on loopback that answers as told. */
export interface Upstream {
  /** Base address as a provider's `url`: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /** Every request so far, in the order in which their bodies were complete. */
  readonly requests: readonly UpstreamRequest[];
  /** How requests are answered from now on: all alike, or one after the other, the last of the list from there on. */
  respond(answer: Answer | readonly [Answer, ...Answer[]]): void;
  /** The request with this index in `requests`, as soon as it is there. Rejects when the stand-in closes first. */
  request(index: number): Promise<UpstreamRequest>;
  /** Open connections. */
  connections(): number;
  /** Cuts every connection and refuses new ones. */
  down(): Promise<void>;
  /** Listens again on the same port, after `down`. */
  up(): Promise<void>;
  /** Cuts every connection and stops listening. Rejects with what an answer threw, if one did. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a stand-in on a free port. Until told otherwise it answers every chat completion with `Hello.` */
export async function startUpstream(first: Answer = chat({ content: 'Hello.' })): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const faults: unknown[] = [];
  const sockets = new Set<Socket>();
  const cutSockets = new WeakSet<Socket>();
  const arrivals = new Map<number, PromiseWithResolvers<UpstreamRequest>>();
  let script: Answer[] = [first];

  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (incoming, response) => {
    void receive(incoming, response).catch((error: unknown) => {
      faults.push(error);
      incoming.socket.destroy();
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });

  const arrival = (index: number): PromiseWithResolvers<UpstreamRequest> => {
    const known = arrivals.get(index) ?? Promise.withResolvers<UpstreamRequest>();
    known.promise.catch(() => {});
    arrivals.set(index, known);
    return known;
  };
  const receive = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = await readExchange(incoming, response, cutSockets);
    if (!exchange) return;
    requests.push(exchange.request);
    arrival(requests.length - 1).resolve(exchange.request);
    const answer = script.length > 1 ? script.shift() : script[0];
    await answer?.(exchange);
  };

  const listen = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  const down = async (): Promise<void> => {
    const closed = [new Promise<unknown>((resolve) => server.close(resolve))];
    for (const socket of sockets) {
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      cutSockets.add(socket);
      socket.destroy();
    }
    await Promise.all(closed);
  };
  const close = async (): Promise<void> => {
    await down();
    for (const { reject } of arrivals.values()) reject(new Error('the stand-in was closed before the request came'));
    if (faults.length > 0) throw new AggregateError(faults.splice(0), 'an answer of the stand-in failed');
  };

  const port = await listen(0);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    respond: (answer) => {
      script = typeof answer === 'function' ? [answer] : [...answer];
    },
    request: (index) => arrival(index).promise,
    connections: () => sockets.size,
    down,
    up: async () => void (await listen(port)),
    close,
    [Symbol.asyncDispose]: close,
  };
}
