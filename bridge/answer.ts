import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { removeMembers, render, type Edit, type WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { META_SERVER, readEra, SUPPORTED, type Era } from '#/wire/mcp/eras.ts';
import { readResult } from '#/wire/mcp/leaves.ts';
import { errorMessage, errorSource, readMessage, resultMessage, RPC, type RpcMessage } from '#/wire/mcp/message.ts';
import { NoAnswer, type Opened, type StdioAnswer, type StdioServer } from './stdio-server.ts';

/** Sessions of clients of the older era: names, behind which there is one session with the server. */
export type Sessions = LRUCache<string, true>;

export interface BridgeDeps {
  readonly server: Pick<StdioServer, 'ask' | 'inProgress' | 'isReading'>;
  /** Undefined until the server has shaken hands. */
  readonly opened: () => Opened | undefined;
  readonly isDraining: () => boolean;
  readonly sessions: Sessions;
  /** Requests in progress, to be cancelled by a notification of the older era. */
  readonly cancels: Map<string, AbortController>;
  /** Most requests that the server works on. */
  readonly calls: number;
}

type RpcRequest = Extract<RpcMessage, { kind: 'request' }>;

const MOST_SESSIONS = 1024;
/** How long clients of the newer era may keep a list, in milliseconds. */
const LIST_TTL_MS = 5000;
/** Methods that are sent on. Others are about a client's own connection, and all clients share this one. */
const PASSED: ReadonlySet<string> = new Set([
  ...['tools/list', 'tools/call', 'resources/list', 'resources/read', 'resources/templates/list'],
  ...['prompts/list', 'prompts/get', 'completion/complete'],
]);
/** Parts of them that need a connection of the client's own. */
const CAPABILITIES: readonly string[] = ['tools', 'resources', 'prompts', 'completions'];

export function createSessions(): Sessions {
  return new LRUCache({ max: MOST_SESSIONS });
}

/** The answer to one HTTP request. */
export class Answer {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #deps: BridgeDeps;
  #streams = false;

  constructor(request: IncomingMessage, response: ServerResponse, deps: BridgeDeps) {
    this.#request = request;
    this.#response = response;
    this.#deps = deps;
  }

  /** A client of the older era leaves. */
  endSession(): void {
    const isKnown = this.#deps.sessions.delete(this.#header('mcp-session-id') ?? '');
    this.#response.writeHead(isKnown ? 200 : 404).end();
  }

  /** Answers one message. Throws `RpcFault` for one that is no message. */
  async to(document: WireDocument): Promise<void> {
    const message = readMessage(document);
    const { era } = readEra(message, {
      version: this.#header('mcp-protocol-version'),
      method: this.#header('mcp-method'),
      name: this.#header('mcp-name'),
    });
    if (message.kind !== 'request') {
      if (message.kind === 'notification') this.#cancel(message);
      return void this.#response.writeHead(202).end();
    }
    const deps = this.#deps;
    const opened = deps.opened();
    if (!opened || deps.isDraining()) return this.#busy(message, 'The server is not ready.');
    if (era === 'legacy' && message.method !== 'initialize' && !this.#hasSession(message)) return;
    const own = this.#own(message, era, opened);
    if (own !== undefined) return this.#end(200, resultMessage(message.idSource, own));
    if (!PASSED.has(message.method)) return this.#unknown(message, era);
    if (deps.server.inProgress >= deps.calls || !deps.server.isReading)
      return this.#busy(message, 'The server works on too many requests.');
    await this.#pass(document, message, era);
  }

  /** Results that the server is not asked for. */
  #own({ method }: RpcRequest, era: Era, opened: Opened): string | undefined {
    if (method === 'ping' && era === 'legacy') return '{}';
    if (method === 'initialize' && era === 'legacy') {
      const session = randomUUID();
      this.#deps.sessions.set(session, true);
      this.#response.setHeader('mcp-session-id', session);
      return JSON.stringify({ protocolVersion: opened.version, ...told(opened), serverInfo: opened.serverInfo });
    }
    if (method !== 'server/discover' || era !== 'modern') return undefined;
    return JSON.stringify({
      resultType: 'complete',
      supportedVersions: SUPPORTED,
      ...told(opened),
      ttlMs: LIST_TTL_MS,
      cacheScope: 'private',
      _meta: { [META_SERVER]: opened.serverInfo },
    });
  }

  /** After a start of the bridge no session is known: 404 has clients open one again. */
  #hasSession({ idSource }: RpcRequest): boolean {
    const session = this.#header('mcp-session-id');
    if (session !== undefined && this.#deps.sessions.get(session) === true) return true;
    const message = session === undefined ? 'The header Mcp-Session-Id is missing.' : 'The session is not known.';
    const error = errorSource({ code: RPC.invalidRequest, message, data: undefined });
    this.#end(session === undefined ? 400 : 404, errorMessage(idSource, error));
    return false;
  }

  async #pass(document: WireDocument, message: RpcRequest, era: Era): Promise<void> {
    const { server, cancels } = this.#deps;
    const controller = new AbortController();
    const key = `${this.#header('mcp-session-id') ?? ''} ${message.idSource}`;
    if (era === 'legacy') cancels.set(key, controller);
    this.#response.once('close', () => controller.abort());
    const onProgress = this.#takesEvents() ? (params: string): void => this.#tell(params) : undefined;
    try {
      const answer = await server.ask({ document, onProgress, signal: controller.signal });
      const { kind, text } = answer;
      if (kind === 'error') this.#end(200, errorMessage(message.idSource, text));
      else this.#end(200, resultMessage(message.idSource, inEra(answer, message.method, era)));
    } catch (thrown) {
      if (!(thrown instanceof NoAnswer)) throw thrown;
      this.#failed(thrown, message.idSource);
    } finally {
      if (cancels.get(key) === controller) cancels.delete(key);
    }
  }

  #failed({ kind, message }: NoAnswer, idSource: string): void {
    const error = errorSource({ code: RPC.internal, message: `${message}.`, data: undefined });
    if (kind === 'aborted' && !this.#streams && !this.#response.headersSent && !this.#response.destroyed)
      return void this.#response.writeHead(202).end();
    this.#end(kind === 'ended' ? 502 : 200, errorMessage(idSource, error));
  }

  /** Clients of the older era cancel by a message; those of the newer one close their connection. */
  #cancel({ method, params }: Extract<RpcMessage, { kind: 'notification' }>): void {
    if (method !== 'notifications/cancelled') return;
    const id = JSON.stringify(params?.['requestId'] ?? null);
    this.#deps.cancels.get(`${this.#header('mcp-session-id') ?? ''} ${id}`)?.abort();
  }

  #tell(params: string): void {
    if (this.#response.destroyed) return;
    if (!this.#streams)
      this.#response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    this.#streams = true;
    // A client that does not read loses progress, and nothing else.
    if (this.#response.writableNeedDrain) return;
    this.#event(`{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`);
  }

  #event(message: string): void {
    this.#response.write(`event: message\ndata: ${message.replace(/[\r\n]/g, ' ')}\n\n`);
  }

  #busy({ idSource }: RpcRequest, message: string): void {
    this.#response.setHeader('retry-after', '1');
    this.#end(503, errorMessage(idSource, errorSource({ code: RPC.internal, message, data: undefined })));
  }

  #unknown({ idSource }: RpcRequest, era: Era): void {
    const message = 'The method is not known, or needs a connection of its own.';
    const error = errorSource({ code: RPC.methodNotFound, message, data: undefined });
    this.#end(era === 'modern' ? 404 : 200, errorMessage(idSource, error));
  }

  #end(status: number, text: string): void {
    if (this.#response.destroyed) return;
    if (!this.#streams) return void this.#response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    this.#event(text);
    this.#response.end();
  }

  #takesEvents(): boolean {
    return /\btext\/event-stream\b/i.test(this.#request.headers.accept ?? '');
  }

  #header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }
}

function told({ capabilities, instructions }: Opened): JsonObject {
  const kept = CAPABILITIES.filter((name) => capabilities[name] !== undefined).map((name) => [name, {}]);
  return { capabilities: Object.fromEntries(kept) as JsonObject, ...(instructions !== undefined && { instructions }) };
}

/** Results of the newer era say what kind they are, and how long lists may be kept. */
function inEra({ text }: StdioAnswer, method: string, era: Era): string {
  const { root } = readResult(text);
  if (era === 'legacy') return text;
  const isList = method.endsWith('/list') || method === 'resources/read';
  const edits: readonly Edit[] = removeMembers(
    root,
    ({ value }) => value === 'resultType' || (isList && isOfList(value)),
  );
  const rest = render(text, edits);
  const members = isList
    ? `"resultType":"complete","ttlMs":${LIST_TTL_MS},"cacheScope":"private"`
    : '"resultType":"complete"';
  return rest.slice(1).trimStart() === '}' ? `{${members}}` : `{${members},${rest.slice(1)}`;
}

function isOfList(name: string): boolean {
  return name === 'ttlMs' || name === 'cacheScope';
}
