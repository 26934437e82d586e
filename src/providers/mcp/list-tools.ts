import type { ListedTool, ToolListing } from '#/ports/mcp-servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { BadParamHeader, paramHeaders } from '#/wire/mcp/headers.ts';
import { listPages } from './list-pages.ts';
import type { Peer } from './peer.ts';

const TOOLS = { what: 'tools', method: 'tools/list', member: 'tools' };

/** All pages of a server's list for clients that can do this. Entries that define no tool are left out. Rejects as `Peer.ask` does. */
export async function listTools(peer: Peer, capabilities: JsonObject, timeoutMs: number): Promise<ToolListing> {
  const { items, bytes, ttlMs, version } = await listPages(peer, { ...TOOLS, capabilities }, timeoutMs);
  const tools = items.flatMap((definition) => read(definition) ?? []);
  return { tools, leftOut: items.length - tools.length, bytes, ttlMs, version };
}

function read(definition: Json): ListedTool | undefined {
  if (!isObject(definition)) return undefined;
  const { name, inputSchema } = definition;
  if (typeof name !== 'string' || !isObject(inputSchema)) return undefined;
  try {
    return { name, definition, inputSchema, headers: paramHeaders(inputSchema) };
  } catch (thrown) {
    if (thrown instanceof BadParamHeader) return undefined;
    throw thrown;
  }
}
