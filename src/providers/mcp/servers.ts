import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig, McpServerOAuth } from '#/config/snapshot.ts';
import { McpTokenFault, TokenOriginFault, type McpServers, type ToolAnswer } from '#/ports/mcp-servers.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { Transport } from '../http/transport.ts';
import { Exchanges } from './exchanges.ts';
import { listPrompts, listResources, listTemplates, readAbout } from './list-reads.ts';
import { listTools } from './list-tools.ts';
import { Peer, type PeerRequest } from './peer.ts';
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
  const peers = new LRUCache<string, Peer>({ max: MOST_PEERS });
  const room = new ResultRoom(ROOM_BYTES);
  const users = new UserRoom<Peer>(Math.floor(USERS_BYTES / USER_BYTES), USER_MS);
  const exchangesOf = new LRUCache<string, Exchanges>({ max: MOST_PEERS });
  /** Users share nothing of such a server: neither tokens nor sessions. */
  const peerFor = (server: McpServerConfig, { tokenUrl }: McpServerOAuth, subject: string | undefined): Peer => {
    if (subject === undefined) throw new McpTokenFault('not_exchanged', 'there is no access token');
    if (!tokenOrigins.includes(new URL(tokenUrl).origin)) throw new TokenOriginFault();
    const identity = serverIdentity(server);
    let exchanges = exchangesOf.get(identity);
    if (!exchanges) exchangesOf.set(identity, (exchanges = new Exchanges()));
    const user = { subject, exchanges };
    const make = (): Peer => new Peer(server, transport, room, client, user);
    return users.of(server.id, `${identity} ${hash('sha256', signedPart(subject), 'base64url')}`, make);
  };
  const peerOf = (server: McpServerConfig): Peer => {
    const identity = serverIdentity(server);
    let peer = peers.get(identity);
    if (!peer) peers.set(identity, (peer = new Peer(server, transport, room, client)));
    return peer;
  };
  const answered = async (
    server: McpServerConfig,
    subject: string | undefined,
    request: Omit<PeerRequest, 'limit'>,
  ): Promise<ToolAnswer> => {
    const peer = server.auth.type === 'token_exchange' ? peerFor(server, server.auth, subject) : peerOf(server);
    const limit = server.maxResultBytes + BESIDE;
    const { document, version, place } = await peer.ask({ ...request, limit });
    try {
      return answerOf(document, version, place);
    } catch (thrown) {
      place[Symbol.dispose]();
      throw thrown;
    }
  };
  return {
    async call(server, { tool, arguments: args, subject, ...ask }) {
      const named = `"name":${JSON.stringify(tool)},`;
      const params = args === undefined ? named : `${named}"arguments":${args},`;
      return answered(server, subject, { method: 'tools/call', name: tool, params, ...ask });
    },
    async read(server, { params, subject, ...ask }) {
      return answered(server, subject, { ...ask, params: `${params.slice(1, -1)},`, headers: {} });
    },
    list: (server, timeoutMs) => listTools(peerOf(server), timeoutMs),
    prompts: (server, timeoutMs) => listPrompts(peerOf(server), timeoutMs),
    resources: (server, timeoutMs) => listResources(peerOf(server), timeoutMs),
    templates: (server, timeoutMs) => listTemplates(peerOf(server), timeoutMs),
    about: (server, timeoutMs) => readAbout(peerOf(server), timeoutMs),
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
