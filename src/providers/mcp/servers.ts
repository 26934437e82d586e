import type { McpServerConfig } from '#/config/snapshot.ts';
import {
  McpTokenFault,
  type InSession,
  type ToSession,
  type McpServers,
  type ToolAnswer,
} from '#/ports/mcp-servers.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { Transport } from '../http/transport.ts';
import { ApiPeer } from './api-peer.ts';
import { listTools } from './list-tools.ts';
import { Peer } from './peer.ts';
import { protocol } from './read-answer.ts';
import { ResultRoom } from './result-room.ts';
import { ServerPeers } from './server-peers.ts';

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
  const room = new ResultRoom(ROOM_BYTES);
  const peers = new ServerPeers((server, user) => new Peer(server, transport, room, client, user), tokenOrigins);
  const apis = new ServerPeers((server, user) => new ApiPeer(server, transport, room, client, user), tokenOrigins);
  const peerOf = (server: McpServerConfig, { subject }: InSession): Peer => peers.of(server, subject);
  return {
    async call(server, { tool, arguments: args, input = '', headers, meta, subject, ...ask }) {
      if (server.api) return apis.of(server, subject).call({ tool, arguments: args, ...ask });
      const peer = peers.of(server, subject);
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
        return answerOf(document, version, place);
      } catch (thrown) {
        place[Symbol.dispose]();
        throw thrown;
      }
    },
    async list(server, timeoutMs) {
      if (server.api) return apis.shared(server).list();
      return listTools(peers.shared(server), allCapabilities(server), timeoutMs);
    },
    async openSession(server, { subject, capabilities, timeoutMs, signal }) {
      return server.api ? undefined : peerOf(server, { subject }).openSession(capabilities, timeoutMs, signal);
    },
    async closeSession(server, to) {
      try {
        peerOf(server, to).closeSession(to.session);
      } catch (thrown) {
        // A user whose token is not exchanged cannot end a session there either.
        if (!(thrown instanceof McpTokenFault)) throw thrown;
      }
    },
    notify: async (server, to, message) => peerOf(server, to).notify(to.session, message),
    request: async (server, to, ask) => requestOf(peerOf(server, to), to, ask),
    listen: async (server, to, options) => peerOf(server, to).listen(to.session, options),
  };
}

async function requestOf(
  peer: Peer,
  { session }: ToSession,
  { method, params, timeoutMs, signal }: Parameters<McpServers['request']>[2],
): Promise<void> {
  const members = JSON.stringify(params).slice(1, -1);
  const asked = { method, params: members === '' ? '' : `${members},`, meta: {}, headers: {} };
  const { document, place } = await peer.ask({ ...asked, limit: BESIDE, timeoutMs, signal, session });
  place[Symbol.dispose]();
  if (isObject(document.body['error'])) throw protocol('the server refuses the request');
}

/** Lists are one for all clients: they have what there is for those that can do most. */
function allCapabilities({ clientCapabilities }: McpServerConfig): JsonObject {
  return Object.fromEntries(clientCapabilities.map((name) => [name, {}]));
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
