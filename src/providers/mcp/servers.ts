import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig, McpServerOAuth } from '#/config/snapshot.ts';
import {
  McpTokenFault,
  TokenOriginFault,
  type InSession,
  type InTurns,
  type McpServers,
  type ToolAnswer,
} from '#/ports/mcp-servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import { member } from '#/wire/document/scan.ts';
import { readLargeResult } from '#/wire/mcp/leaves.ts';
import type { Transport } from '../http/transport.ts';
import { Exchanges } from './exchanges.ts';
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
    const user = { subject, person: personOf(subject), exchanges };
    const make = (): Peer => new Peer(server, transport, room, client, user);
    return users.of(server.id, `${identity} ${hash('sha256', signedPart(subject), 'base64url')}`, make);
  };
  const sharedPeer = (server: McpServerConfig): Peer => {
    const identity = serverIdentity(server);
    let peer = peers.get(identity);
    if (!peer) peers.set(identity, (peer = new Peer(server, transport, room, client)));
    return peer;
  };
  const peerOf = (server: McpServerConfig, { subject }: InSession): Peer =>
    server.auth.type === 'token_exchange' ? peerFor(server, server.auth, subject) : sharedPeer(server);
  return {
    async call(server, { tool, arguments: args, input = '', headers, meta, subject, ...ask }) {
      const peer = peerOf(server, { subject });
      const named = `"name":${JSON.stringify(tool)},`;
      const { document, version, place } = await peer.ask({
        method: 'tools/call',
        name: tool,
        params: (args === undefined ? named : `${named}"arguments":${args},`) + input,
        meta,
        headers,
        limit: server.maxResultBytes + BESIDE,
        ...ask,
      });
      try {
        return await answerOf(document, version, place, ask.inTurns);
      } catch (thrown) {
        place[Symbol.dispose]();
        throw thrown;
      }
    },
    list: (server, timeoutMs) => listTools(sharedPeer(server), allCapabilities(server), timeoutMs),
    openSession: async (server, { subject, capabilities, timeoutMs, signal }) =>
      peerOf(server, { subject }).openSession(capabilities, timeoutMs, signal),
    async closeSession(server, to) {
      try {
        peerOf(server, to).closeSession(to.session);
      } catch (thrown) {
        // A user whose token is not exchanged cannot end a session there either.
        if (!(thrown instanceof McpTokenFault)) throw thrown;
      }
    },
    notify: async (server, to, message) => peerOf(server, to).notify(to.session, message),
    async request(server, to, { method, params, timeoutMs, signal }) {
      const members = JSON.stringify(params).slice(1, -1);
      const { document, place } = await peerOf(server, to).ask({
        method,
        params: members === '' ? '' : `${members},`,
        meta: {},
        headers: {},
        limit: BESIDE,
        timeoutMs,
        signal,
        session: to.session,
      });
      place[Symbol.dispose]();
      if (isObject(document.body['error'])) throw protocol('the server refuses the request');
    },
    listen: async (server, to, options) => peerOf(server, to).listen(to.session, options),
  };
}

/** Lists are one for all clients: they have what there is for those that can do most. */
function allCapabilities({ clientCapabilities }: McpServerConfig): JsonObject {
  return Object.fromEntries(clientCapabilities.map((name) => [name, {}]));
}

/** Whose token it is, by its `sub`; a token without one is a person of its own. */
function personOf(token: string): string {
  let sub: unknown;
  try {
    const payload = JSON.parse(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url').toString()) as Json;
    if (isObject(payload)) ({ sub } = payload);
  } catch {
    // It was checked when it came: only tests send what is no token.
  }
  return hash('sha256', typeof sub === 'string' ? sub : signedPart(token), 'base64url');
}

/** Several spellings of one signature are the same token: the signed part is spelled in one way only. */
function signedPart(token: string): string {
  const [header, payload] = token.split('.', 2);
  return `${header}.${payload}`;
}

/** The result or the error of a response, as a document of its own. */
async function answerOf(
  { root, text, body }: WireDocument,
  version: string,
  place: Disposable,
  inTurns: InTurns | undefined,
): Promise<ToolAnswer> {
  const kind = isObject(body['result']) ? 'result' : 'error';
  const value = body[kind];
  const node = member(root, kind);
  if (!isObject(value) || !node) throw protocol('the server answered with neither a result nor an error');
  const source = text.slice(node.start, node.end);
  const isInTurns = inTurns !== undefined && isLarge(source);
  const document = isInTurns
    ? await inTurns(readLargeResult(source))
    : locate('mcp', source, value, { lenient: true });
  return { kind, document, version, [Symbol.dispose]: () => place[Symbol.dispose]() };
}
