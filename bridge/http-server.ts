import { hash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Log } from '#/telemetry/log.ts';
import { NotAJsonObject, readDocument, type WireDocument } from '#/wire/document/document.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { errorMessage, errorSource, RPC, RpcFault } from '#/wire/mcp/message.ts';
import { Answer, type BridgeDeps } from './answer.ts';

export interface HttpOptions extends BridgeDeps {
  readonly token: string;
  readonly log: Log;
}

/** Largest request, as of the gateway. */
const MOST_REQUEST = 4 * 1024 * 1024;
/** How long a request may take to arrive. */
const REQUEST_MS = 60_000;
const MOST_CONNECTIONS = 512;

/** What a request is refused with before it is read as a message. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The server over HTTP: `/mcp` for clients that have the token, `/livez` and `/readyz` for probes. */
export function createBridgeServer(options: HttpOptions): Server {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: 20_000, maxHeaderSize: 32 * 1024 });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('request', (request, response) => {
    response.on('error', () => undefined);
    serve(request, response, options).catch((thrown: unknown) => fail(thrown, response, options.log));
  });
  return server;
}

async function serve(request: IncomingMessage, response: ServerResponse, options: HttpOptions): Promise<void> {
  const [path] = (request.url ?? '').split('?', 1);
  if (path === '/livez') return void response.end('ok\n');
  if (path === '/readyz') {
    const isReady = options.opened() !== undefined && !options.isDraining();
    return void response.writeHead(isReady ? 200 : 503).end(isReady ? 'ok\n' : 'not ready\n');
  }
  if (path !== '/mcp') throw new Refused(404, 'There is nothing at this path: the server is at /mcp.');
  refuseStrangers(request, options.token);
  const answer = new Answer(request, response, options);
  if (request.method === 'DELETE') return answer.endSession();
  if (request.method !== 'POST')
    throw new Refused(405, 'Only POST and DELETE are supported at this path.', { allow: 'POST, DELETE' });
  if (!/^application\/json(?=[\t ;]|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refused(415, 'The content type must be application/json.');
  const text = await textOf(request);
  await answer.to(parsed(text));
}

/** A web page of this machine may reach us, and anything else that runs on it: the token tells our client from them. */
function refuseStrangers({ headers }: IncomingMessage, token: string): void {
  if (headers.origin !== undefined) throw new Refused(403, 'Web pages may not call.');
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  const digest = (text: string): Buffer => Buffer.from(hash('sha256', text, 'hex'));
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new Refused(401, 'The token is missing or wrong.', { 'www-authenticate': 'Bearer' });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > MOST_REQUEST)
      throw new Refused(413, `A request has at most ${MOST_REQUEST} bytes.`, { connection: 'close' });
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): WireDocument {
  try {
    return readDocument('mcp', text);
  } catch (thrown) {
    if (thrown instanceof NotAJsonObject) throw new RpcFault(RPC.parse, 400, 'The body must be one JSON object.');
    if (thrown instanceof AmbiguousJson || thrown instanceof TooManyValues)
      throw new RpcFault(RPC.invalidRequest, 400, 'The body has a member twice, is too deep or has too many values.');
    throw thrown;
  }
}

function fail(thrown: unknown, response: ServerResponse, log: Log): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const known = thrown instanceof Refused || thrown instanceof RpcFault;
  if (!known) log.error({ event: 'bridge.failed', err: thrown });
  const status = known ? thrown.status : 500;
  const fault = thrown instanceof RpcFault ? thrown : undefined;
  const message = known ? thrown.message : 'The bridge failed.';
  const code = fault?.code ?? (known ? RPC.invalidRequest : RPC.internal);
  const headers = thrown instanceof Refused ? thrown.headers : {};
  const text = errorMessage(undefined, errorSource({ code, message, data: fault?.data }));
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
