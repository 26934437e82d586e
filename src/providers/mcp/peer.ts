import type { McpServerConfig } from '#/config/snapshot.ts';
import { McpServerFault, McpTokenFault } from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import {
  LEGACY,
  META_CAPABILITIES,
  META_CLIENT,
  META_VERSION,
  MODERN,
  speaksModern,
  type Era,
} from '#/wire/mcp/eras.ts';
import { RPC } from '#/wire/mcp/message.ts';
import type { Transport } from '../http/transport.ts';
import type { ForUser } from './exchanges.ts';
import { MessageSender } from './message-sender.ts';
import { protocol, readAnswer, type ServerMessage } from './read-answer.ts';
import type { ResultPlace, ResultRoom } from './result-room.ts';
import { unlessLate } from './unless-late.ts';

/** How a server is spoken to. */
interface Link {
  readonly era: Era;
  /** The revision. */
  readonly version: string;
  /** Of a legacy server that has sessions. */
  readonly session: string | undefined;
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** What the server said of itself when it was opened: the result of `initialize` or `server/discover`. */
  readonly said: JsonObject;
}

/** One request to a server. */
export interface PeerRequest {
  readonly method: string;
  /** What the method's `Mcp-Name` header says. */
  readonly name?: string;
  /** JSON source of members of `params` other than `_meta`, each followed by a comma. */
  readonly params: string;
  readonly meta: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onNotice?: ((notice: WireDocument) => void) | undefined;
}

/** The whole response, and the revision that the server speaks. */
export interface PeerAnswer {
  readonly document: WireDocument;
  readonly version: string;
  readonly place: ResultPlace;
}

/** What a server says of itself. */
interface PeerAbout {
  /** Kinds of requests that it serves. */
  readonly capabilities: ReadonlySet<string>;
  readonly instructions: string | undefined;
  /** How long that may be kept, in milliseconds; undefined: it does not say. */
  readonly ttlMs: number | undefined;
  readonly version: string;
}

/** How long a server is taken to speak what it spoke. */
const LINK_MS = 3_600_000;
/** How long a server may take to say how it is to be spoken to. */
const OPEN_MS = 30_000;
/** Messages to one server that are on their way in the background; what else it asks is left without an answer. */
const MOST_POSTS = 16;
/** Most that it may say then. */
const MOST_OPENING = 1024 * 1024;
/** What a modern server said of itself is asked for again after this long: nothing else has to be opened for that. */
const SAID_MS = 5000;
const SESSION = /^[\x21-\x7e]{1,1024}$/;

/** One server as this process speaks to it: in which era, and with a legacy one in a session that all clients share. */
export class Peer {
  readonly #server: McpServerConfig;
  readonly #sender: MessageSender;
  readonly #room: ResultRoom;
  readonly #client: JsonObject;
  #opening: Promise<Link> | undefined;
  #link: Link | undefined;
  /** What a modern server said since it was opened. */
  #said: { readonly said: JsonObject; readonly at: number } | undefined;
  #count = 0;
  #posts = 0;

  /** `client`: what the gateway calls itself. `user`: the user that the server is asked for. */
  constructor(server: McpServerConfig, transport: Transport, room: ResultRoom, client: JsonObject, user?: ForUser) {
    this.#server = server;
    this.#sender = new MessageSender(server, transport, user);
    this.#room = room;
    this.#client = client;
  }

  /**
   * Asks the server. A session that it has forgotten is opened again and the request sent again, once, where the server
   * says so by 404: it did not run it. Rejects with `UpstreamFault`, `McpServerFault` or `NoRoomForResults`.
   */
  async ask(request: PeerRequest): Promise<PeerAnswer> {
    const until = performance.now() + request.timeoutMs;
    const link = await this.#opened(request.signal, until);
    try {
      return await this.#askOn(link, request, until);
    } catch (thrown) {
      if (!(thrown instanceof McpServerFault)) throw thrown;
      // Whatever it is: it does not speak what it spoke, or not with this session.
      if (thrown.status === 400 || thrown.status === 404) this.#forget(link);
      // Asking for a list twice does nothing twice.
      const isList = request.method.endsWith('/list');
      const isAgain = thrown.status === 404 || (thrown.status === 400 && isList);
      if (!isAgain || link.session === undefined) throw thrown;
      return this.#askOn(await this.#opened(request.signal, until), request, until);
    }
  }

  /** What the server says of itself. Rejects as `ask` does. */
  async about(timeoutMs: number): Promise<PeerAbout> {
    const signal = AbortSignal.timeout(timeoutMs);
    const link = await this.#opened(signal, performance.now() + timeoutMs);
    const { capabilities, instructions, ttlMs } = link.era === 'modern' ? await this.#saidAgain(link, timeoutMs) : link.said;
    const served = isObject(capabilities) ? Object.keys(capabilities).filter((one) => isObject(capabilities[one])) : [];
    return {
      capabilities: new Set(served),
      instructions: typeof instructions === 'string' ? instructions : undefined,
      ttlMs: typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : undefined,
      version: link.version,
    };
  }

  async #saidAgain({ openedAt, said }: Link, timeoutMs: number): Promise<JsonObject> {
    const last = this.#said && this.#said.at > openedAt ? this.#said : { said, at: openedAt };
    if (performance.now() - last.at < SAID_MS) return last.said;
    const ask = { method: 'server/discover', params: '', meta: {}, headers: {}, limit: MOST_OPENING, timeoutMs };
    const { document, place } = await this.ask({ ...ask, signal: AbortSignal.timeout(timeoutMs) });
    place[Symbol.dispose]();
    const { result } = document.body;
    if (!isObject(result)) return last.said;
    this.#said = { said: result, at: performance.now() };
    return result;
  }

  /** How the server is spoken to, before the request is sent: a fault says that it was not. */
  async #opened(signal: AbortSignal, until: number): Promise<Link> {
    try {
      const opening = this.#open();
      return opening instanceof Promise ? await unlessLate(opening, signal, until) : opening;
    } catch (thrown) {
      if (thrown instanceof UpstreamFault && thrown.kind === 'timeout' && this.#sender.awaitsToken)
        throw new McpTokenFault('timeout', 'the token endpoint did not answer in time');
      if (thrown instanceof UpstreamFault || thrown instanceof McpServerFault) thrown.sent = false;
      throw thrown;
    }
  }

  async #askOn(link: Link, request: PeerRequest, until: number): Promise<PeerAnswer> {
    const id = `gw-${++this.#count}`;
    const body = this.#body(link, id, request);
    const place = this.#room.enter(this.#server.id);
    try {
      const timeoutMs = Math.max(1, until - performance.now());
      const { method, name, headers, signal } = request;
      const incoming = await this.#sender.send({ link, method, name, headers, body, timeoutMs, signal });
      // The status alone says that the session is refused.
      if (incoming.status === 404 && link.session !== undefined) {
        incoming.close();
        throw new McpServerFault(404, 'the server does not know the session');
      }
      const { limit, onNotice } = request;
      const document = await readAnswer(incoming, {
        id,
        limit,
        place,
        onMessage: (message) => this.#hear(link, message, onNotice),
      });
      if (incoming.status === 400 && link.session !== undefined && isLostSession(document.body)) {
        throw new McpServerFault(400, 'the server does not know the session');
      }
      return { document, version: link.version, place };
    } catch (thrown) {
      place[Symbol.dispose]();
      const isLate = thrown instanceof UpstreamFault && thrown.sent && ['timeout', 'aborted'].includes(thrown.kind);
      if (isLate && link.era === 'legacy') this.#cancel(link, id);
      throw thrown;
    }
  }

  #body(link: Link, id: string, { method, params, meta }: PeerRequest): string {
    const all = link.era === 'modern' ? { ...meta, ...this.#envelope() } : meta;
    const inside = Object.keys(all).length > 0 ? `${params}"_meta":${JSON.stringify(all)}` : params.slice(0, -1);
    return `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":{${inside}}}`;
  }

  /** What every modern request says of who sends it. */
  #envelope(): JsonObject {
    return { [META_VERSION]: MODERN, [META_CAPABILITIES]: {}, [META_CLIENT]: this.#client };
  }

  /** A server without our capabilities may only ask whether we are there. Anything else is refused, so that it goes on. */
  #hear(link: Link, { document, method, id }: ServerMessage, onNotice: PeerRequest['onNotice']): void {
    if (id === undefined) return onNotice?.(document);
    if (link.era === 'modern') return;
    const answer =
      method === 'ping'
        ? { result: {} }
        : { error: { code: RPC.methodNotFound, message: 'This client does not have the capability.' } };
    this.#post(link, JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  }

  /** Tells a legacy server that the client no longer waits for a request. */
  #cancel(link: Link, requestId: string): void {
    this.#post(link, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }));
  }

  /** Sends a message in the background: servers do not answer it. Each takes a connection, so that few are on their way. */
  #post(link: Link, body: string): void {
    if (this.#posts >= MOST_POSTS) return;
    this.#posts += 1;
    const done = (): void => void (this.#posts -= 1);
    this.#sender.send({ ...ALONE, link, body }).then((incoming) => {
      incoming.close();
      done();
    }, done);
  }

  #forget(link: Link): void {
    if (this.#link === link) this.#link = undefined;
  }

  /** How the server is spoken to now. One request finds out for all that wait. */
  #open(): Promise<Link> | Link {
    const link = this.#link;
    if (link && performance.now() - link.openedAt < LINK_MS) return link;
    this.#opening ??= this.#detect().then(
      (found) => {
        this.#opening = undefined;
        return (this.#link = found);
      },
      (thrown: unknown) => {
        this.#opening = undefined;
        throw thrown;
      },
    );
    return this.#opening;
  }

  /** Modern where it says so; whatever else it says to that question, a handshake is tried. */
  async #detect(): Promise<Link> {
    const modern = { era: 'modern', version: MODERN, session: undefined } as const;
    const discovered = await this.#exchange(modern, 'server/discover', { _meta: this.#envelope() });
    const { result, error } = discovered.body;
    const data = isObject(error) && isObject(error['data']) ? error['data'] : undefined;
    if ((isObject(result) && speaksModern(result['supportedVersions'])) || speaksModern(data?.['supported']))
      return { ...modern, openedAt: performance.now(), said: isObject(result) ? result : {} };
    return this.#shakeHands();
  }

  async #shakeHands(): Promise<Link> {
    const asked = { protocolVersion: LEGACY[0], capabilities: {}, clientInfo: this.#client };
    const opened = await this.#exchange(undefined, 'initialize', asked);
    const { result } = opened.body;
    const version = isObject(result) ? result['protocolVersion'] : undefined;
    if (opened.status >= 400)
      throw new McpServerFault(opened.status, `the server answered with status ${opened.status}`);
    if (!isObject(result) || typeof version !== 'string' || !LEGACY.includes(version as never)) {
      throw protocol('the server speaks no revision of the protocol that the gateway knows');
    }
    const session = opened.session !== undefined && SESSION.test(opened.session) ? opened.session : undefined;
    const link: Link = { era: 'legacy', version, session, openedAt: performance.now(), said: result };
    const ready = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const incoming = await this.#sender.send({ ...ALONE, link, body: ready });
    incoming.close();
    return link;
  }

  /** Asks what the server answers before it is known how it speaks. An answer that is no message has an empty body. */
  async #exchange(
    link: Pick<Link, 'era' | 'version' | 'session'> | undefined,
    method: string,
    params: JsonObject,
  ): Promise<{ readonly body: JsonObject; readonly status: number; readonly session: string | undefined }> {
    const id = `gw-${++this.#count}`;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const incoming = await this.#sender.send({ ...ALONE, link, method, body });
    const { status } = incoming;
    const session = incoming.header('mcp-session-id');
    using place = this.#room.enter(this.#server.id);
    if (status >= 400) {
      const text = await incoming.text(MOST_OPENING);
      return { body: objectIn(text), status, session };
    }
    const { body: answered } = await readAnswer(incoming, { id, limit: MOST_OPENING, place, onMessage: () => {} });
    return { body: answered, status, session };
  }
}

/**
 * Servers of the older library refuse an unknown session so, where the protocol asks for 404. Others say the same of a call
 * that they have run: the session is opened again, but the call is not sent again.
 */
function isLostSession({ error }: JsonObject): boolean {
  return isObject(error) && error['code'] === -32000;
}

/** Messages that no client waits for end with their time. */
const ALONE = { method: '', headers: {}, timeoutMs: OPEN_MS, signal: new AbortController().signal };

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
