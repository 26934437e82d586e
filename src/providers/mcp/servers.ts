import type { McpServerConfig } from '#/config/snapshot.ts';
import { McpTokenFault, type McpServers, type ToolAnswer } from '#/ports/mcp-servers.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { Transport } from '../http/transport.ts';
import { listTools } from './list-tools.ts';
import { Peers } from './peers.ts';
import { protocol } from './read-answer.ts';

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
  const peers = new Peers(transport, client, tokenOrigins);
  return {
    async call(server, { tool, arguments: args, input = '', headers, meta, subject, ...ask }) {
      const peer = peers.of(server, { subject });
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
    list: (server, timeoutMs) => listTools(peers.shared(server), allCapabilities(server), timeoutMs),
    openSession: async (server, { subject, capabilities, timeoutMs, signal }) =>
      peers.of(server, { subject }).openSession(capabilities, timeoutMs, signal),
    async closeSession(server, to) {
      try {
        peers.of(server, to).closeSession(to.session);
      } catch (thrown) {
        // A user whose token is not exchanged cannot end a session there either.
        if (!(thrown instanceof McpTokenFault)) throw thrown;
      }
    },
    notify: async (server, to, message) => peers.of(server, to).notify(to.session, message),
    async request(server, to, { method, params, timeoutMs, signal }) {
      const members = JSON.stringify(params).slice(1, -1);
      const { document, place } = await peers.of(server, to).ask({
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
    listen: async (server, to, options) => peers.of(server, to).listen(to.session, options),
  };
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
