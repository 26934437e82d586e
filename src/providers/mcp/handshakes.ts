import type { McpServerConfig } from '#/config/snapshot.ts';
import { McpServerFault, NoRoomForResults } from '#/ports/mcp-servers.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import {
  LEGACY,
  META_CAPABILITIES,
  META_CLIENT,
  META_VERSION,
  MODERN,
  speaksModern,
  type Era,
} from '#/wire/mcp/eras.ts';
import type { MessageSender } from './message-sender.ts';
import { MOST_EXPLAINED, protocol, readAnswer, readText } from './read-answer.ts';
import type { ResultPlace, ResultRoom } from './result-room.ts';

/** How a server is spoken to. */
export interface Link {
  readonly era: Era;
  /** The revision. */
  readonly version: string;
  /** Of a legacy server that has sessions. */
  readonly session: string | undefined;
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** What the server said of itself: the result of `initialize` or `server/discover`. */
  readonly said: JsonObject;
}

/** How long a server may take to say how it is to be spoken to. */
const OPEN_MS = 30_000;
/** Most that it may say then. */
export const MOST_OPENING = 1024 * 1024;
const SESSION = /^[\x21-\x7e]{1,1024}$/;
/** Messages that no client waits for end with their time. */
export const ALONE = { method: '', headers: {}, timeoutMs: OPEN_MS, signal: new AbortController().signal };

/** What every modern request says of who sends it. `capabilities`: what its client can do. */
export function envelope(client: JsonObject, capabilities: JsonObject = {}): JsonObject {
  return { [META_VERSION]: MODERN, [META_CAPABILITIES]: capabilities, [META_CLIENT]: client };
}

/**
 * What the shared session of a server says that clients can do. Where each client has a session of its own it is for lists
 * alone, which are to have what tools there are for clients that can do most.
 */
function sharedCapabilities({ sessions, clientCapabilities }: McpServerConfig): JsonObject {
  return sessions === 'per_client' ? Object.fromEntries(clientCapabilities.map((name) => [name, {}])) : {};
}

/** Finds out how one server is to be spoken to, and opens sessions with it. */
export class Handshakes {
  readonly #server: McpServerConfig;
  readonly #sender: MessageSender;
  readonly #room: ResultRoom;
  readonly #client: JsonObject;
  #count = 0;

  /** `client`: what the gateway calls itself. */
  constructor(server: McpServerConfig, sender: MessageSender, room: ResultRoom, client: JsonObject) {
    this.#server = server;
    this.#sender = sender;
    this.#room = room;
    this.#client = client;
  }

  /** Modern where it says so; whatever else it says to that question, a handshake is tried. */
  async detect(): Promise<Link> {
    const modern = { era: 'modern', version: MODERN, session: undefined } as const;
    const discovered = await this.#exchange(modern, 'server/discover', { _meta: envelope(this.#client) });
    const { result, error } = discovered.body;
    const data = isObject(error) && isObject(error['data']) ? error['data'] : undefined;
    if ((isObject(result) && speaksModern(result['supportedVersions'])) || speaksModern(data?.['supported']))
      return { ...modern, openedAt: performance.now(), said: isObject(result) ? result : {} };
    return this.shakeHands(sharedCapabilities(this.#server));
  }

  /** Opens a session. `capabilities`: those that the client is said to have. */
  async shakeHands(capabilities: JsonObject): Promise<Link> {
    const asked = { protocolVersion: LEGACY[0], capabilities, clientInfo: this.#client };
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
    const id = `gw-open-${++this.#count}`;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const incoming = await this.#sender.send({ ...ALONE, link, method, body });
    const { status } = incoming;
    const session = incoming.header('mcp-session-id');
    using place = this.#room.enter(this.#server.id);
    if (status >= 400) return { body: objectIn(await explanation(incoming, place)), status, session };
    const { body: answered } = await readAnswer(incoming, { id, limit: MOST_OPENING, place, onMessage: () => {} });
    return { body: answered, status, session };
  }
}

/** What a server says of a refusal, as far as there is room for it; else nothing. */
async function explanation(incoming: Incoming, place: ResultPlace): Promise<string> {
  try {
    return await readText(incoming, MOST_EXPLAINED, place);
  } catch (thrown) {
    incoming.close();
    if (thrown instanceof NoRoomForResults || (thrown instanceof UpstreamFault && thrown.kind === 'too_large'))
      return '';
    throw thrown;
  }
}

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
