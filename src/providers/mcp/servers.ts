import { LRUCache } from 'lru-cache';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { McpServers, ToolAnswer } from '#/ports/mcp-servers.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { Transport } from '../http/transport.ts';
import { listTools } from './list-tools.ts';
import { Peer } from './peer.ts';
import { protocol } from './read-answer.ts';
import { ResultRoom } from './result-room.ts';

/** Servers that are known at once; the longest unused are forgotten, sessions and all. */
const MOST_PEERS = 1024;
/** Memory for the answers of all servers. */
const ROOM_BYTES = 256 * 1024 * 1024;
/** Bytes that an answer may have besides its result: messages before it, and the JSON around it. */
const BESIDE = 64 * 1024;

/** Asks MCP servers over HTTP. `client`: what the gateway calls itself. */
export function createMcpServers(transport: Transport, client: JsonObject): McpServers {
  const peers = new LRUCache<string, Peer>({ max: MOST_PEERS });
  const room = new ResultRoom(ROOM_BYTES);
  const peerOf = (server: McpServerConfig): Peer => {
    const identity = serverIdentity(server);
    let peer = peers.get(identity);
    if (!peer) peers.set(identity, (peer = new Peer(server, transport, room, client)));
    return peer;
  };
  return {
    async call(server, { tool, arguments: args, headers, meta, ...ask }) {
      const named = `"name":${JSON.stringify(tool)},`;
      const { document, version, place } = await peerOf(server).ask({
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
    list: (server, timeoutMs) => listTools(peerOf(server), timeoutMs),
  };
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
