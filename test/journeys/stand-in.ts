import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock, type ChatCompletionRequest, type FixtureResponse } from '@copilotkit/aimock';
import { mediaType, readFrames, writeFrame } from '../matrix/stand-in/framing.ts';

/** A request as a provider got it. */
export interface SeenRequest {
  /** Which kind of provider was asked: the first part of the path. */
  readonly kind: string;
  readonly method: string;
  /** Path and query below `/<kind>`. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The body as it came; text where it is text. */
  readonly body: Buffer;
}

/** An answer that the stand-in gives by itself. */
export interface SetAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body: unknown;
}

/** All providers at one address, each below its kind: models that talk, with every request kept. */
export interface ProviderStandIn {
  /** `http://127.0.0.1:<port>`; a kind's base address is below `/<kind>`. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

export interface StandInOptions {
  /** What a model answers, whatever family it is asked in. */
  readonly says: (request: ChatCompletionRequest) => FixtureResponse;
  /** Answers that do not come from a model; undefined: the model is asked. */
  readonly answer?: (request: SeenRequest) => SetAnswer | undefined;
}

/** Starts it on a free port. Every family is spoken as its vendor does, streams included. */
export async function startProviderStandIn({ says, answer }: StandInOptions): Promise<ProviderStandIn> {
  const seen: SeenRequest[] = [];
  const model = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 9, logLevel: 'silent', journalMaxEntries: 1 });
  model.on({ predicate: () => true }, says);
  await model.start();
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    void readBody(incoming).then((body) => {
      const [, kind = '', path = ''] = /^\/([^/]+)(.*)$/.exec(incoming.url ?? '') ?? [];
      const request = { kind, method: incoming.method ?? '', path, headers: incoming.headers, body };
      seen.push(request);
      const set = answer?.(request);
      if (set) send(response, set);
      else forward(request, model.port, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await model.stop();
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function send(response: ServerResponse, { status = 200, type = 'application/json', body }: SetAnswer): void {
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(bytes) });
  response.end(bytes);
}

/** Passes the request to the talking model at the address where it knows the family. */
function forward(seen: SeenRequest, port: number, response: ServerResponse): void {
  const { path, body, chunked } = modelAddress(seen);
  const headers = { ...seen.headers, 'content-length': String(body.length) };
  delete headers['transfer-encoding'];
  const onward = ask({ host: '127.0.0.1', port, method: seen.method, path, headers }, (answer) => {
    if (chunked === true) {
      void readBody(answer).then((stream) => {
        const frames = readFrames(stream, 'sse').map((frame) => writeFrame(frame, 'chunks'));
        send(response, { type: mediaType('chunks'), body: Buffer.concat(frames) });
      });
      return;
    }
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}

interface ModelAddress {
  readonly path: string;
  readonly body: Buffer;
  /** The stream is wanted as event-stream frames around the family's own events. */
  readonly chunked?: boolean;
}

/** Vendors put the same families at different paths. */
function modelAddress({ path, body }: SeenRequest): ModelAddress {
  const vertex = /\/publishers\/anthropic\/models\/([^:]+):(stream)?[rR]awPredict/.exec(path);
  const bedrock = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/.exec(path);
  const [, model, streams] = vertex ?? bedrock ?? [];
  if (model !== undefined) {
    const stream = streams !== undefined;
    const whole: unknown = { ...(JSON.parse(body.toString('utf8')) as object), model, stream };
    return { path: '/v1/messages', body: Buffer.from(JSON.stringify(whole)), chunked: stream && bedrock !== null };
  }
  if (/^\/(model|v1|v1beta)\//.test(path)) return { path, body };
  return { path: path.replace(/^(?:\/openai|\/inference)?(?:\/v1|\/deployments\/[^/]+)?\//, '/v1/'), body };
}
