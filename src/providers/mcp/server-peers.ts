import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig, McpServerOAuth } from '#/config/snapshot.ts';
import { McpTokenFault, TokenOriginFault } from '#/ports/mcp-servers.ts';
import { isObject, type Json } from '#/wire/document/json.ts';
import { digestOfToken } from '#/wire/mcp/access-tokens.ts';
import { Exchanges, type ForUser } from './exchanges.ts';
import { UserRoom } from './user-room.ts';

/** Servers that are known at once; the longest unused are forgotten, sessions and all. */
const MOST_PEERS = 1024;
/** Memory for users of servers that are asked for each user, and the most that one takes: two tokens and a session. */
const USERS_BYTES = 64 * 1024 * 1024;
const USER_BYTES = 20 * 1024;
/** A user who does nothing for so long is forgotten. */
const USER_MS = 3_600_000;

/** What this process keeps of each server: one peer, or one for each user where the server is asked for users. */
export class ServerPeers<P extends object> {
  readonly #make: (server: McpServerConfig, user?: ForUser) => P;
  readonly #tokenOrigins: readonly string[];
  readonly #shared = new LRUCache<string, P>({ max: MOST_PEERS });
  readonly #users = new UserRoom<P>(Math.floor(USERS_BYTES / USER_BYTES), USER_MS);
  readonly #exchanges = new LRUCache<string, Exchanges>({ max: MOST_PEERS });

  /** `tokenOrigins`: of the token endpoints that tokens of users may be sent to. */
  constructor(make: (server: McpServerConfig, user?: ForUser) => P, tokenOrigins: readonly string[]) {
    this.#make = make;
    this.#tokenOrigins = tokenOrigins;
  }

  /** For a call. `subject`: the access token that it came with. Throws `McpTokenFault` where there is no token for the user. */
  of(server: McpServerConfig, subject: string | undefined): P {
    return server.auth.type === 'token_exchange' ? this.#ofUser(server, server.auth, subject) : this.shared(server);
  }

  /** For the gateway itself. */
  shared(server: McpServerConfig): P {
    const identity = serverIdentity(server);
    let peer = this.#shared.get(identity);
    if (!peer) this.#shared.set(identity, (peer = this.#make(server)));
    return peer;
  }

  /** Users share nothing of such a server: neither tokens nor sessions. */
  #ofUser(server: McpServerConfig, { tokenUrl }: McpServerOAuth, subject: string | undefined): P {
    if (subject === undefined) throw new McpTokenFault('not_exchanged', 'there is no access token');
    if (!this.#tokenOrigins.includes(new URL(tokenUrl).origin)) throw new TokenOriginFault();
    const identity = serverIdentity(server);
    let exchanges = this.#exchanges.get(identity);
    if (!exchanges) this.#exchanges.set(identity, (exchanges = new Exchanges()));
    const user = { subject, person: personOf(subject), exchanges };
    const name = `${identity} ${digestOfToken(subject)}`;
    return this.#users.of(server.id, name, () => this.#make(server, user));
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
  return typeof sub === 'string' ? hash('sha256', sub, 'base64url') : digestOfToken(token);
}
