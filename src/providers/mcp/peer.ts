import type { McpServerConfig } from '#/config/snapshot.ts';
import {
  McpServerFault,
  McpSessionLost,
  McpTokenFault,
  type InTurns,
  type ListenOptions,
  type ServerAsk,
  type ServerSession,
} from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import { RPC } from '#/wire/mcp/message.ts';
import type { Transport } from '../http/transport.ts';
import type { ForUser } from './exchanges.ts';
import { ALONE, envelope, Handshakes, MOST_OPENING, type Link } from './handshakes.ts';
import { MessageSender } from './message-sender.ts';
import { readAnswer, type ServerMessage } from './read-answer.ts';
import type { ResultPlace, ResultRoom } from './result-room.ts';
import { readServerStream } from './server-stream.ts';
import { unlessLate } from './unless-late.ts';

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
  /** As of `ToolAsk`. */
  readonly inTurns?: InTurns | undefined;
  /** As of `InSession`. */
  readonly session?: ServerSession | 'alone' | undefined;
  /** What a modern server is said that the client can do; absent: nothing. */
  readonly capabilities?: JsonObject | undefined;
  /** Takes what a legacy server asks in the session of a client; absent: it is refused. */
  readonly onAsk?: ((ask: ServerAsk) => void) | undefined;
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
/** Messages to one server that are on their way in the background; what else it asks is left without an answer. */
const MOST_POSTS = 16;
/** A modern server is asked again for what it says of itself after this long: nothing else has to be opened for that. */
const SAID_MS = 5000;
/** A stream that a server keeps open may be silent for so long; the transport ends it before. */
const SILENT_MS = 86_400_000;

/**
 * One server as this process speaks to it: in which era, and with a legacy one in a session that all clients share, or in
 * those of single clients.
 */
export class Peer {
  readonly #server: McpServerConfig;
  readonly #sender: MessageSender;
  readonly #room: ResultRoom;
  readonly #client: JsonObject;
  readonly #handshakes: Handshakes;
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
    this.#handshakes = new Handshakes(server, this.#sender, room, client);
  }

  /**
   * Asks the server. A shared session that it has forgotten is opened again and the request sent again, once, where it did
   * not run it. Rejects with `UpstreamFault`, `McpServerFault`, `McpSessionLost` for the session of a client, or
   * `NoRoomForResults`.
   */
  async ask(request: PeerRequest): Promise<PeerAnswer> {
    const until = performance.now() + request.timeoutMs;
    const link = await this.#opened(request.signal, until);
    if (request.session !== undefined && link.era === 'legacy')
      return this.#askInSession(request.session, request, until);
    try {
      return await this.#askOn(link, request, until);
    } catch (thrown) {
      if (!(thrown instanceof McpServerFault)) throw thrown;
      // Whatever it is: it does not speak what it spoke, or not with this session.
      if (thrown.status === 400 || thrown.status === 404) this.#forget(link);
      if (!(await this.#wasNotRun(thrown, link, request, until))) throw thrown;
      // The server has refused the request that it has: that is the fault, not that it could not be asked again.
      const another = await this.#openedAgain(request.signal, until);
      if (!another) throw thrown;
      return this.#askOn(another, request, until);
    }
  }

  /** What the server says of itself. Rejects as `ask` does. */
  async about(timeoutMs: number): Promise<PeerAbout> {
    const signal = AbortSignal.timeout(timeoutMs);
    const link = await this.#opened(signal, performance.now() + timeoutMs);
    const said = link.era === 'modern' ? await this.#saidAgain(link, timeoutMs, signal) : link.said;
    const { capabilities, instructions, ttlMs } = said;
    const served = isObject(capabilities) ? Object.keys(capabilities).filter((one) => isObject(capabilities[one])) : [];
    return {
      capabilities: new Set(served),
      instructions: typeof instructions === 'string' ? instructions : undefined,
      ttlMs: typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : undefined,
      version: link.version,
    };
  }

  async #saidAgain({ openedAt, said }: Link, timeoutMs: number, signal: AbortSignal): Promise<JsonObject> {
    const last = this.#said && this.#said.at > openedAt ? this.#said : { said, at: openedAt };
    if (performance.now() - last.at < SAID_MS) return last.said;
    const asked = { method: 'server/discover', params: '', meta: {}, headers: {} };
    const { document, place } = await this.ask({ ...asked, limit: MOST_OPENING, timeoutMs, signal });
    place[Symbol.dispose]();
    const { result } = document.body;
    if (!isObject(result)) return last.said;
    this.#said = { said: result, at: performance.now() };
    return result;
  }

  async #openedAgain(signal: AbortSignal, until: number): Promise<Link | undefined> {
    try {
      return await this.#opened(signal, until);
    } catch {
      return undefined;
    }
  }

  async #askInSession(session: ServerSession | 'alone', request: PeerRequest, until: number): Promise<PeerAnswer> {
    if (session !== 'alone') {
      const link = linkOf(session);
      try {
        return await this.#askOn(link, request, until);
      } catch (thrown) {
        if (!(thrown instanceof McpServerFault)) throw thrown;
        if (!(await this.#wasNotRun(thrown, link, request, until))) throw thrown;
        throw new McpSessionLost(thrown.status, thrown.message);
      }
    }
    const opening = this.#handshakes.shakeHands({});
    const link = await this.#beforeSending(() => unlessLate(opening, request.signal, until));
    try {
      // Its questions reach no client.
      return await this.#askOn(link, { ...request, onAsk: undefined }, until);
    } finally {
      this.#end(link);
    }
  }

  /** Opens a session for one client; undefined: the server is modern and has none. Rejects as `ask` does. */
  async openSession(
    capabilities: JsonObject,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ServerSession | undefined> {
    const until = performance.now() + timeoutMs;
    const { era } = await this.#opened(signal, until);
    if (era === 'modern') return undefined;
    const opening = this.#handshakes.shakeHands(capabilities);
    // It may come when no caller waits for it.
    opening.then(
      (link) => (signal.aborted || performance.now() > until ? this.#end(link) : undefined),
      () => undefined,
    );
    const { session: id, version } = await this.#beforeSending(() => unlessLate(opening, signal, until));
    return { id, version };
  }

  /** Ends the session of a client, in the background: a server may refuse that. */
  closeSession(session: ServerSession): void {
    this.#end(linkOf(session));
  }

  /** Sends a message that has no answer in the session of a client. Rejects as `ask` does. */
  async notify(session: ServerSession, body: string): Promise<void> {
    await this.#tell(linkOf(session), body);
  }

  /** Listens to what the server says to a client besides its answers, as `McpServers.listen` does. */
  async listen(session: ServerSession, { onNotice, onAsk, signal }: ListenOptions): Promise<boolean> {
    const link = linkOf(session);
    const request = { ...ALONE, link, body: undefined, http: 'GET', timeoutMs: SILENT_MS, signal } as const;
    const incoming = await this.#sender.send(request);
    const isStream = /^text\/event-stream(?=[\t ;]|$)/i.test(incoming.header('content-type') ?? '');
    if (incoming.status === 200 && isStream) {
      await readServerStream(incoming, (message) =>
        message.id === undefined ? onNotice(message.document) : this.#hear(link, message, undefined, onAsk),
      );
      return true;
    }
    incoming.close();
    if (incoming.status === 404) throw new McpSessionLost(404, 'the server does not know the session');
    // Servers need not have such a stream.
    if (incoming.status === 405) return false;
    throw new McpServerFault(incoming.status, `the server answered with status ${incoming.status}`);
  }

  /** How the server is spoken to, before the request is sent: a fault says that it was not. */
  #opened(signal: AbortSignal, until: number): Promise<Link> | Link {
    const opening = this.#open();
    if (!(opening instanceof Promise)) return opening;
    return this.#beforeSending(() => unlessLate(opening, signal, until));
  }

  /** Whatever fails in this, the request itself was not sent. */
  async #beforeSending<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
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
      const { limit, inTurns, onNotice, onAsk } = request;
      const document = await readAnswer(incoming, {
        id,
        limit,
        place,
        inTurns,
        onMessage: (message) => this.#hear(link, message, onNotice, onAsk),
      });
      if (incoming.status === 400 && link.session !== undefined && mayBeLost(document.body)) {
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

  #body(link: Link, id: string, { method, params, meta, capabilities }: PeerRequest): string {
    const all = link.era === 'modern' ? { ...meta, ...envelope(this.#client, capabilities) } : meta;
    const inside = Object.keys(all).length > 0 ? `${params}"_meta":${JSON.stringify(all)}` : params.slice(0, -1);
    return `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":{${inside}}}`;
  }

  /** A server may ask whether we are there. Any question that no client takes is refused, so that it goes on. */
  #hear(
    link: Link,
    { document, method, id }: ServerMessage,
    onNotice: PeerRequest['onNotice'],
    onAsk: PeerRequest['onAsk'],
  ): void {
    if (id === undefined) return onNotice?.(document);
    if (link.era === 'modern') return;
    const about = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
    if (method === 'ping') return this.#post(link, `${about}"result":{}}`);
    if (onAsk) return onAsk({ method, document, answer: (member) => this.#tell(link, `${about}${member}}`) });
    const error = { code: RPC.methodNotFound, message: 'This client does not have the capability.' };
    this.#post(link, `${about}"error":${JSON.stringify(error)}}`);
  }

  /** Sends a message that servers do not answer, and learns whether they took it. */
  async #tell(link: Link, body: string): Promise<void> {
    const incoming = await this.#sender.send({ ...ALONE, link, body });
    incoming.close();
    const { status } = incoming;
    if (status === 404 && link.session !== undefined)
      throw new McpSessionLost(404, 'the server does not know the session');
    if (status >= 400) throw new McpServerFault(status, `the server answered with status ${status}`);
  }

  /** Ends a session, in the background. */
  #end(link: Link): void {
    if (link.session === undefined) return;
    this.#sender.send({ ...ALONE, link, body: undefined, http: 'DELETE' }).then(
      (incoming) => incoming.close(),
      () => undefined,
    );
  }

  /**
   * Whether a server that refused a request surely did not run it. 404 says so. Servers of the older library answer 400 to a
   * session that they do not know, others say the same of a request that they have run: a ping in the session tells.
   */
  async #wasNotRun(
    fault: McpServerFault,
    link: Link,
    { method, signal }: PeerRequest,
    until: number,
  ): Promise<boolean> {
    if (link.session === undefined || (fault.status !== 404 && fault.status !== 400)) return false;
    // Asking for a list twice does nothing twice.
    if (fault.status === 404 || method.endsWith('/list')) return true;
    const timeoutMs = Math.max(1, until - performance.now());
    const ping = { method: 'ping', params: '', meta: {}, headers: {}, limit: MOST_OPENING, timeoutMs, signal };
    try {
      const { place } = await this.#askOn(link, ping, until);
      place[Symbol.dispose]();
      return false;
    } catch (thrown) {
      return thrown instanceof McpServerFault && (thrown.status === 404 || thrown.status === 400);
    }
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
    this.#opening ??= this.#handshakes.detect().then(
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
}

/** A session of a client, as messages are sent in it. */
function linkOf({ id, version }: ServerSession): Link {
  return { era: 'legacy', version, session: id, openedAt: 0, said: {} };
}

/** Servers of the older library refuse an unknown session so, where the protocol asks for 404. */
function mayBeLost({ error }: JsonObject): boolean {
  return isObject(error) && error['code'] === -32000;
}
