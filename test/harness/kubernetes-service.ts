import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An address that stays while pods come and go, as a Service is. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  /** Ports of loopback that new connections go to, in turn. Connections that are there stay where they are. */
  endpoints: readonly number[];
}

/** Passes connections on, byte for byte, both ways; one side that ends ends the other. */
export async function startService(): Promise<Service> {
  let turn = 0;
  const sockets = new Set<Socket>();
  const service = { endpoints: [] as readonly number[] };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const port = service.endpoints[turn++ % service.endpoints.length];
    if (port === undefined) return void client.destroy();
    const pod = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    for (const [one, other] of [
      [client, pod],
      [pod, client],
    ] as const) {
      sockets.add(one);
      one.once('close', () => sockets.delete(one));
      one.once('error', () => other.resetAndDestroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(service, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  });
}
