import { createServer, type Server } from 'node:http';

export interface AdminDeps {
  /** Why the process is not ready to serve, or undefined when it is. */
  readonly notReady: () => string | undefined;
  /** Why the process should be restarted; absent: it never should. */
  readonly notAlive?: () => string | undefined;
  readonly metrics: () => string;
}

/** The listener for operators: `/livez`, `/readyz`, `/metrics`. Not for clients; plain text. */
export function createAdminServer(deps: AdminDeps): Server {
  return createServer((request, response) => {
    const send = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
    };
    const probe = (reason: string | undefined): void =>
      reason === undefined ? send(200, 'ok\n') : send(503, `${reason}\n`);
    switch (request.url) {
      case '/livez':
        return probe(deps.notAlive?.());
      case '/readyz':
        return probe(deps.notReady());
      case '/metrics':
        return send(200, deps.metrics());
      default:
        return send(404, 'Not Found\n');
    }
  });
}
