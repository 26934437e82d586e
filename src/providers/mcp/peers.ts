import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig, McpServerOAuth } from '#/config/snapshot.ts';
import { McpTokenFault, TokenOriginFault, type InSession } from '#/ports/mcp-servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import type { Transport } from '../http/transport.ts';
import { Exchanges } from './exchanges.ts';
import { Peer } from './peer.ts';
import { ResultRoom } from './result-room.ts';
import { UserRoom } from './user-room.ts';

/** Servers that are known at once; the longest unused are forgotten, sessions and all. */
const MOST_PEERS = 1024;
/** Memory for users of servers that are asked for each user, and the most that one takes: two tokens and a session. */
const USERS_BYTES = 64 * 1024 * 1024;
const USER_BYTES = 20 * 1024;
/** A user who does nothing for so long is forgotten. */
const USER_MS = 3_600_000;
/** Memory for the answers of all servers. */
const ROOM_BYTES = 256 * 1024 * 1024;

/** All servers that this process speaks to. */
export class Peers {
  readonly #transport: Transport;
  readonly #client: JsonObject;
  readonly #tokenOrigins: readonly string[];
  readonly #shared = new LRUCache<string, Peer>({ max: MOST_PEERS });
  readonly #room = new ResultRoom(ROOM_BYTES);
  readonly #users = new UserRoom<Peer>(Math.floor(USERS_BYTES / USER_BYTES), USER_MS);
  readonly #exchanges = new LRUCache<string, Exchanges>({ max: MOST_PEERS });

  /** As of `createMcpServers`. */
  constructor(transport: Transport, client: JsonObject, tokenOrigins: readonly string[]) {
    this.#transport = transport;
    this.#client = client;
    this.#tokenOrigins = tokenOrigins;
  }

  /** A server as it is asked for one caller. Throws `McpTokenFault`. */
  of(server: McpServerConfig, { subject }: Pick<InSession, 'subject'>): Peer {
    return server.auth.type === 'token_exchange' ? this.#forUser(server, server.auth, subject) : this.shared(server);
  }

  /** A server as it is asked for the gateway itself. */
  shared(server: McpServerConfig): Peer {
    const identity = serverIdentity(server);
    let peer = this.#shared.get(identity);
    if (!peer) this.#shared.set(identity, (peer = new Peer(server, this.#transport, this.#room, this.#client)));
    return peer;
  }

  /** Users share nothing of such a server: neither tokens nor sessions. */
  #forUser(server: McpServerConfig, { tokenUrl }: McpServerOAuth, subject: string | undefined): Peer {
    if (subject === undefined) throw new McpTokenFault('not_exchanged', 'there is no access token');
    if (!this.#tokenOrigins.includes(new URL(tokenUrl).origin)) throw new TokenOriginFault();
    const identity = serverIdentity(server);
    let exchanges = this.#exchanges.get(identity);
    if (!exchanges) this.#exchanges.set(identity, (exchanges = new Exchanges()));
    const user = { subject, person: personOf(subject), exchanges };
    const make = (): Peer => new Peer(server, this.#transport, this.#room, this.#client, user);
    return this.#users.of(server.id, `${identity} ${hash('sha256', signedPart(subject), 'base64url')}`, make);
  }
}

/** Whose token it is, by its `sub`; a token without one is a person of its own. */
function personOf(token: string): string {
  let sub: unknown;
  try {
    const payload = JSON.parse(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url').toString()) as Json;
    if (isObject(payload)) ({ sub } = payload);
  } catch {
    // Tokens are checked when they come: only tests send others.
  }
  return hash('sha256', typeof sub === 'string' ? sub : signedPart(token), 'base64url');
}

/** Several spellings of one signature are the same token: the signed part is spelled in one way only. */
function signedPart(token: string): string {
  const [header, payload] = token.split('.', 2);
  return `${header}.${payload}`;
}
