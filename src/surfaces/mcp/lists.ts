import type { ListedOffer, OfferedName } from '#/pipeline/tools/built-in/offer-built-in.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { META_SERVER, negotiated, SUPPORTED, type Era } from '#/wire/mcp/eras.ts';
import { RPC, RpcFault } from '#/wire/mcp/message.ts';

/** Tools on one page. */
const PAGE = 500;
/** How long a client may keep a list of tools or a description of the gateway. */
const TTL_MS = 30_000;

/** What the gateway says of itself to a legacy client. `tells`: servers of its session may tell it of changes and log. */
export function initialized(params: JsonObject | undefined, implementation: JsonObject, tells: boolean): string {
  return JSON.stringify({
    protocolVersion: negotiated(params?.['protocolVersion']),
    capabilities: tells ? { logging: {}, tools: { listChanged: true } } : { tools: {} },
    serverInfo: implementation,
  });
}

/** The same to a modern one. */
export function discovered(implementation: JsonObject): string {
  return JSON.stringify({
    resultType: 'complete',
    supportedVersions: SUPPORTED,
    capabilities: { tools: { listChanged: true } },
    ttlMs: TTL_MS,
    cacheScope: 'private',
    _meta: { [META_SERVER]: implementation },
  });
}

/** First pages as they were written before, by offer: the same list is asked for again and again. */
const WRITTEN = new WeakMap<ListedOffer, Map<string, string>>();

/** One page of a list of tools. `federated`: those of all servers, by names that say which. Throws `RpcFault` for a cursor. */
export function toolPage(offer: ListedOffer, federated: boolean, cursor: Json | undefined, era: Era): string {
  if (cursor !== undefined) return written(offer, federated, cursor, era);
  let pages = WRITTEN.get(offer);
  if (!pages) WRITTEN.set(offer, (pages = new Map<string, string>()));
  const kind = `${federated} ${era}`;
  let page = pages.get(kind);
  if (page === undefined) pages.set(kind, (page = written(offer, federated, cursor, era)));
  return page;
}

function written({ tools, unavailable }: ListedOffer, federated: boolean, cursor: Json | undefined, era: Era): string {
  const nameOf = ({ federated: name, listed }: OfferedName): string => (federated ? name : listed.name);
  const from = cursor === undefined ? 0 : after(tools.map(nameOf), cursor);
  const page = tools.slice(from, from + PAGE);
  const last = page.at(-1);
  const result = {
    ...(era === 'modern' && { resultType: 'complete', ttlMs: TTL_MS, cacheScope: 'private' }),
    tools: page.map((tool) => (federated ? renamed(tool) : pinned(tool))),
    ...(last && from + PAGE < tools.length && { nextCursor: Buffer.from(nameOf(last)).toString('base64url') }),
    ...(unavailable.length > 0 && { _meta: { 'gatewarden.dev/unavailable': unavailable } }),
  };
  return JSON.stringify(result);
}

/** A cursor is the name of the last tool of a page: it says nothing that its client does not know. */
function after(names: readonly string[], cursor: Json): number {
  const name = typeof cursor === 'string' && cursor.length <= 256 ? Buffer.from(cursor, 'base64url').toString() : '';
  const at = names.indexOf(name);
  if (at >= 0) return at + 1;
  throw new RpcFault(RPC.invalidParams, 200, 'params.cursor does not belong to this list: begin again without it.');
}

function renamed({ federated, listed, server }: OfferedName): JsonObject {
  const tool = { server: server.name, name: listed.name };
  return { ...pinned({ listed }), name: federated, _meta: { 'gatewarden.dev/tool': tool } };
}

/** As the server defines it, without `_meta`: no pin covers that, so that a server could say anything in it. */
function pinned({ listed }: Pick<OfferedName, 'listed'>): JsonObject {
  const { _meta, ...definition } = listed.definition;
  return definition;
}
