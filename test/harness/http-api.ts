import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the API received it. */
export interface ApiReceived {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** An HTTP API that a test steers, and that remembers its requests. */
export interface HttpApi extends AsyncDisposable {
  readonly url: string;
  readonly received: ApiReceived[];
  /** Answers a request; it may be replaced while the API runs. */
  answer: (received: ApiReceived, response: ServerResponse) => void;
}

/** Starts an API that answers each request with its method, path and body, as JSON. */
export async function startHttpApi(base = '/v1'): Promise<HttpApi> {
  const received: ApiReceived[] = [];
  const api: Pick<HttpApi, 'answer'> = {
    answer: ({ method, path, text }, response) => sendJson(response, 200, { method, path, text }),
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, path: url, headers, text: Buffer.concat(parts).toString() };
      received.push(one);
      api.answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(api, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
