import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Asked } from './models-server.ts';

/** Stands between a gateway and its engine, and passes everything on as it is. */
export interface EngineTap extends AsyncDisposable {
  readonly url: string;
  /** What local models were asked, in the order in which it came. */
  readonly asked: Asked[];
  /** Passes on the next `count` questions to this model at the same time, and none of them before. */
  gather(kind: string, count: number): void;
}

const KINDS = new Set(['names', 'router', 'typed']);

/** Listens on a free port, in front of the engine at this address. */
export async function tapEngine(engineUrl: string): Promise<EngineTap> {
  const asked: Asked[] = [];
  let gathered = { kind: '', missing: 0, all: Promise.withResolvers<void>() };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    const pass = async (): Promise<void> => {
      const body = Buffer.concat(pieces);
      const kind = (request.url ?? '').replace('/v1/', '');
      if (KINDS.has(kind)) {
        asked.push({ kind, body: JSON.parse(body.toString('utf8')) as Record<string, unknown> });
        const { missing, all } = gathered;
        if (gathered.kind === kind && missing > 0) {
          gathered.missing -= 1;
          if (missing === 1) all.resolve();
          await all.promise;
        }
      }
      const { method = 'GET', headers } = request;
      const answer = await fetch(`${engineUrl}${request.url}`, {
        method,
        headers: passedOn(headers),
        ...(body.length > 0 && { body }),
      });
      const retryAfter = answer.headers.get('retry-after');
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'application/json',
        ...(retryAfter !== null && { 'retry-after': retryAfter }),
      });
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => void pass().catch(() => response.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    gather(kind, count) {
      gathered = { kind, missing: count, all: Promise.withResolvers() };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function passedOn({ 'content-type': type }: IncomingHttpHeaders): Record<string, string> {
  return type === undefined ? {} : { 'content-type': type };
}
