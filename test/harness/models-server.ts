import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A question to a local model, as it came over the wire. */
export interface Asked {
  readonly kind: string;
  readonly body: Record<string, unknown>;
}

/** What is answered; a status other than 200 with a fault, or undefined for no answer at all. */
export interface Reply {
  readonly status?: number;
  readonly body: object;
  readonly retryAfter?: string;
}

/** Speaks what the inference process speaks of local models, and says what a test tells it to. */
export interface ModelsServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
  /** How each model answers; one that is not there is unavailable. */
  readonly models: Map<string, (body: Record<string, unknown>) => Reply | undefined | Promise<Reply | undefined>>;
  /** Those without an answer that are installed nevertheless. */
  readonly damaged: Set<string>;
}

export const REVISION = 'ab'.repeat(32);

/** Starts it on a free port. Documents are none of its business. */
export async function startModelsServer(): Promise<ModelsServer> {
  const asked: Asked[] = [];
  const models: ModelsServer['models'] = new Map();
  const damaged = new Set<string>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    const send = (status: number, body: object, retryAfter?: string): void => {
      const headers = {
        'content-type': 'application/json',
        ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
      };
      response.writeHead(status, headers).end(JSON.stringify(body));
    };
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const kind = (request.url ?? '').replace('/v1/', '');
      if (request.url === '/readyz') return send(503, {});
      if (kind === 'models') {
        const told = ['names', 'router', 'typed'].map((one) => ({
          kind: one,
          installed: models.has(one) || damaged.has(one),
          fault: models.has(one) ? null : 'absent',
        }));
        return send(200, { models: told });
      }
      const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Record<string, unknown>;
      asked.push({ kind, body });
      const answer = models.get(kind);
      if (!answer) return send(503, { fault: { kind: 'unavailable', message: 'absent' } }, '2');
      void Promise.resolve(answer(body)).then((reply) => {
        if (reply) send(reply.status ?? 200, reply.body, reply.retryAfter);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    models,
    damaged,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A model of names that knows these, wherever they stand. */
export function namesOf(known: Readonly<Record<string, string>>): (body: Record<string, unknown>) => Reply {
  return ({ texts }) => {
    const spans = (texts as readonly string[]).map((text) =>
      Object.entries(known).flatMap(([name, category]) =>
        Array.from(text.matchAll(new RegExp(name, 'g')), ({ index }) => [index, index + name.length, category, 0.99]),
      ),
    );
    return { body: { spans, revision: REVISION } };
  };
}

/** What a model says that is busy. */
export const BUSY: Reply = { status: 503, body: { fault: { kind: 'busy', message: 'full' } }, retryAfter: '2' };
