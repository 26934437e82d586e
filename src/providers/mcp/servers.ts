import type { McpServerConfig } from '#/config/snapshot.ts';
import { McpTokenFault, type InSession, type McpServers, type ToolAnswer } from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { Transport } from '../http/transport.ts';
import { ApiPeer } from './api-peer.ts';
import { listPrompts, listResources, listTemplates, readAbout } from './list-reads.ts';
import { listTools } from './list-tools.ts';
import { Peer, type PeerRequest } from './peer.ts';
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
  const answered = async (peer: Peer, request: PeerRequest): Promise<ToolAnswer> => {
    const { document, version, place } = await peer.ask(request);
    try {
      return answerOf(document, version, place, request.limit - BESIDE);
    } catch (thrown) {
      place[Symbol.dispose]();
      throw thrown;
    }
  };
  return {
    async call(server, { tool, arguments: args, input = '', subject, ...ask }) {
      if (server.api) return apis.of(server, subject).call({ tool, arguments: args, ...ask });
      const named = `"name":${JSON.stringify(tool)},`;
      const params = (args === undefined ? named : `${named}"arguments":${args},`) + input;
      const limit = server.maxResultBytes + BESIDE;
      return answered(peerOf(server, { subject }), { method: 'tools/call', name: tool, params, limit, ...ask });
    },
    async read(server, { params, subject, ...ask }) {
      const members = `${params.slice(1, -1)},`;
      const limit = server.maxResultBytes + BESIDE;
      return answered(peerOf(server, { subject }), { ...ask, params: members, headers: {}, limit });
    },
    prompts: (server, timeoutMs) => listPrompts(peers.shared(server), timeoutMs),
    resources: (server, timeoutMs) => listResources(peers.shared(server), timeoutMs),
    templates: (server, timeoutMs) => listTemplates(peers.shared(server), timeoutMs),
    about: (server, timeoutMs) => readAbout(peers.shared(server), timeoutMs),
    async list(server, timeoutMs) {
      if (server.api) return apis.shared(server).list();
      return listTools(peers.shared(server), allCapabilities(server), timeoutMs);
    },
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

/** The result or the error of a response, of at most so many bytes, as a document of its own. */
function answerOf({ root, text, body }: WireDocument, version: string, place: Disposable, most: number): ToolAnswer {
  const kind = isObject(body['result']) ? 'result' : 'error';
  const value = body[kind];
  const node = member(root, kind);
  if (!isObject(value) || !node) throw protocol('the server answered with neither a result nor an error');
  const source = text.slice(node.start, node.end);
  if (Buffer.byteLength(source) > most) throw new UpstreamFault('too_large', `the result is larger than ${most} bytes`);
  const document = locate('mcp', source, value, { lenient: true });
  return { kind, document, version, [Symbol.dispose]: () => place[Symbol.dispose]() };
}
