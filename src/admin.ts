import { createServer, type Server } from 'node:http';

export interface AdminDeps {
  /** Why the process is not ready to serve, or undefined when it is. */
  readonly notReady: () => string | undefined;
  readonly metrics: () => string;
}

/** The listener for whoever runs the gateway: `/livez`, `/readyz`, `/metrics`. Not for clients; plain text. */
export function createAdminServer(deps: AdminDeps): Server {
  return createServer((request, response) => {
    const send = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
    };
    switch (request.url) {
      case '/livez':
        return send(200, 'ok\n');
      case '/readyz': {
        const reason = deps.notReady();
        return reason === undefined ? send(200, 'ok\n') : send(503, `${reason}\n`);
      }
      case '/metrics':
        return send(200, deps.metrics());
      default:
        return send(404, 'Not Found\n');
    }
  });
}
