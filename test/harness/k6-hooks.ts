import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Addresses that a run of k6 sends a POST to, so that something happens at its second of the run. */
export interface Hooks extends AsyncDisposable {
  /** The address that runs the hook of this name. */
  address(name: string): string;
}

/** Serves hooks on loopback. One that is not there is answered with 404, which ends the run that asks for it. */
export async function startHooks(hooks: Readonly<Record<string, () => void>>): Promise<Hooks> {
  const server = createServer((request, response) => {
    const hook = request.method === 'POST' ? hooks[(request.url ?? '').slice(1)] : undefined;
    hook?.();
    response.writeHead(hook ? 204 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: (name) => `http://127.0.0.1:${port}/${name}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
