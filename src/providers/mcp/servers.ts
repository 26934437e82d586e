import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig, McpServerOAuth } from '#/config/snapshot.ts';
import { McpTokenFault, TokenOriginFault, type McpServers, type ToolAnswer } from '#/ports/mcp-servers.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { Transport } from '../http/transport.ts';
import { ApiPeer } from './api-peer.ts';
import { Exchanges, type ForUser } from './exchanges.ts';
import { listTools } from './list-tools.ts';
import { Peer } from './peer.ts';
import { protocol } from './read-answer.ts';
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
/** Bytes that an answer may have besides its result: messages before it, and the JSON around it. */
const BESIDE = 64 * 1024;

/**
 * Asks MCP servers over HTTP. `client`: what the gateway calls itself. `tokenOrigins`: of the token endpoints that tokens of
 * users may be sent to; the author of an MCPServer names its endpoint.
 */
export function createMcpServers(
  transport: Transport,
  client: JsonObject,
  tokenOrigins: readonly string[] = [],
): McpServers {
  const peers = new LRUCache<string, Peer | ApiPeer>({ max: MOST_PEERS });
  const room = new ResultRoom(ROOM_BYTES);
  const users = new UserRoom<Peer | ApiPeer>(Math.floor(USERS_BYTES / USER_BYTES), USER_MS);
  const exchangesOf = new LRUCache<string, Exchanges>({ max: MOST_PEERS });
  const made = (server: McpServerConfig, user?: ForUser): Peer | ApiPeer =>
    new (server.api ? ApiPeer : Peer)(server, transport, room, client, user);
  /** Users share nothing of such a server: neither tokens nor sessions. */
  const peerFor = (
    server: McpServerConfig,
    { tokenUrl }: McpServerOAuth,
    subject: string | undefined,
  ): Peer | ApiPeer => {
    if (subject === undefined) throw new McpTokenFault('not_exchanged', 'there is no access token');
    if (!tokenOrigins.includes(new URL(tokenUrl).origin)) throw new TokenOriginFault();
    const identity = serverIdentity(server);
    let exchanges = exchangesOf.get(identity);
    if (!exchanges) exchangesOf.set(identity, (exchanges = new Exchanges()));
    const user = { subject, exchanges };
    const name = `${identity} ${hash('sha256', signedPart(subject), 'base64url')}`;
    return users.of(server.id, name, () => made(server, user));
  };
  const peerOf = (server: McpServerConfig): Peer | ApiPeer => {
    const identity = serverIdentity(server);
    let peer = peers.get(identity);
    if (!peer) peers.set(identity, (peer = made(server)));
    return peer;
  };
  return {
    async call(server, { tool, arguments: args, headers, meta, subject, ...ask }) {
      const peer = server.auth.type === 'token_exchange' ? peerFor(server, server.auth, subject) : peerOf(server);
      if (peer instanceof ApiPeer) return peer.call({ tool, arguments: args, ...ask });
      const named = `"name":${JSON.stringify(tool)},`;
      const { document, version, place } = await peer.ask({
        method: 'tools/call',
        name: tool,
        params: args === undefined ? named : `${named}"arguments":${args},`,
        meta,
        headers,
        limit: server.maxResultBytes + BESIDE,
        ...ask,
      });
      try {
        return answerOf(document, version, place);
      } catch (thrown) {
        place[Symbol.dispose]();
        throw thrown;
      }
    },
    async list(server, timeoutMs) {
      const peer = peerOf(server);
      return peer instanceof ApiPeer ? peer.list() : listTools(peer, timeoutMs);
    },
  };
}

/** Several spellings of one signature are the same token: the signed part is spelled in one way only. */
function signedPart(token: string): string {
  const [header, payload] = token.split('.', 2);
  return `${header}.${payload}`;
}

/** The result or the error of a response, as a document of its own. */
function answerOf({ root, text, body }: WireDocument, version: string, place: Disposable): ToolAnswer {
  const kind = isObject(body['result']) ? 'result' : 'error';
  const value = body[kind];
  const node = member(root, kind);
  if (!isObject(value) || !node) throw protocol('the server answered with neither a result nor an error');
  const document = locate('mcp', text.slice(node.start, node.end), value, { lenient: true });
  return { kind, document, version, [Symbol.dispose]: () => place[Symbol.dispose]() };
}
