import type { ListedTool, ToolListing } from '#/ports/mcp-servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { BadParamHeader, paramHeaders } from '#/wire/mcp/headers.ts';
import type { Peer } from './peer.ts';
import { protocol } from './read-answer.ts';

const MOST_PAGES = 50;
/** Of all pages. */
const MOST_BYTES = 1024 * 1024;

/** All pages of a server's list for clients that can do this. Entries that define no tool are left out. Rejects as `Peer.ask` does. */
export async function listTools(peer: Peer, capabilities: JsonObject, timeoutMs: number): Promise<ToolListing> {
  const signal = AbortSignal.timeout(timeoutMs);
  const until = performance.now() + timeoutMs;
  const tools: ListedTool[] = [];
  const cursors = new Set<string>();
  let leftOut = 0;
  let left = MOST_BYTES;
  let ttlMs: number | undefined;
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? '' : `"cursor":${JSON.stringify(cursor)},`;
    const rest = Math.max(1, until - performance.now());
    const asked = { params, meta: {}, headers: {}, capabilities };
    const ask = { method: 'tools/list', ...asked, limit: left, timeoutMs: rest, signal };
    const { document, place, version } = await peer.ask(ask);
    left -= place.bytes;
    place[Symbol.dispose]();
    const { result } = document.body;
    if (!isObject(result) || !Array.isArray(result['tools'])) throw protocol('the server has no list of tools');
    ttlMs = ttlOf(result['ttlMs'], ttlMs);
    for (const definition of result['tools'] as readonly Json[]) {
      const tool = read(definition);
      if (tool) tools.push(tool);
      else leftOut += 1;
    }
    const next = result['nextCursor'];
    if (typeof next !== 'string' || next === '') {
      return { tools, leftOut, bytes: MOST_BYTES - left, ttlMs, version };
    }
    if (cursors.has(next) || cursors.size + 1 >= MOST_PAGES) throw protocol('the list of tools does not end');
    cursors.add(next);
    cursor = next;
  }
}

/** The shortest time that any page may be kept. */
function ttlOf(told: Json | undefined, before: number | undefined): number | undefined {
  if (typeof told !== 'number' || !(told >= 0)) return before;
  return before === undefined ? told : Math.min(before, told);
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
