import type { ListedOffer, OfferedName } from '#/pipeline/tools/built-in/offer-built-in.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { META_SERVER, negotiated, SUPPORTED, type Era } from '#/wire/mcp/eras.ts';
import { RPC, RpcFault } from '#/wire/mcp/message.ts';
import type { Features } from './features.ts';

/** Entries of a list on one page. */
export const PAGE = 500;
/** How long a client may keep a list of tools or a description of the gateway. */
const TTL_MS = 30_000;

/** What the gateway says of itself to a legacy client. `tells`: servers of its session may tell it of changes and log. */
export function initialized(
  params: JsonObject | undefined,
  implementation: JsonObject,
  { capabilities, instructions }: Features,
  tells: boolean,
): string {
  const changing = { ...capabilities };
  for (const name of tells ? CHANGING : []) if (changing[name]) changing[name] = { listChanged: true };
  return JSON.stringify({
    protocolVersion: negotiated(params?.['protocolVersion']),
    capabilities: { ...(tells && { logging: {} }), ...changing },
    serverInfo: implementation,
    ...(instructions !== undefined && { instructions }),
  });
}

/** Lists whose changes a server tells its session. */
const CHANGING = ['tools', 'prompts', 'resources'] as const;

/** The same to a modern one, which may listen to changes of the tools. */
export function discovered(implementation: JsonObject, { capabilities, instructions }: Features): string {
  return JSON.stringify({
    resultType: 'complete',
    supportedVersions: SUPPORTED,
    capabilities: { ...capabilities, ...(capabilities['tools'] && { tools: { listChanged: true } }) },
    ...(instructions !== undefined && { instructions }),
    ttlMs: TTL_MS,
    cacheScope: 'private',
    _meta: { [META_SERVER]: implementation },
  });
}

/** First pages as they were written before, by offer: the same list is asked for again and again. */
const WRITTEN = new WeakMap<ListedOffer, Map<string, string>>();

/** A page of a list, and the names of servers that do not answer. */
export interface Page {
  /** JSON source of the result. */
  readonly text: string;
  readonly unavailable: readonly string[];
}

/** Which page is asked for. `federated`: of all servers, by names that say which. */
interface PageQuestion {
  readonly federated: boolean;
  readonly cursor: Json | undefined;
  readonly era: Era;
}

/** One page of a list of tools. Throws `RpcFault` for a cursor. */
export function toolPage(offer: ListedOffer, federated: boolean, cursor: Json | undefined, era: Era): string {
  if (cursor !== undefined) return definedPage('tools', offer, { federated, cursor, era }).text;
  let pages = WRITTEN.get(offer);
  if (!pages) WRITTEN.set(offer, (pages = new Map<string, string>()));
  const kind = `${federated} ${era}`;
  let page = pages.get(kind);
  if (page === undefined) pages.set(kind, (page = definedPage('tools', offer, { federated, cursor, era }).text));
  return page;
}

/** One page of a list whose entries have names and definitions. Throws `RpcFault` for a cursor. */
export function definedPage(
  member: 'tools' | 'prompts',
  { tools, unavailable }: ListedOffer,
  { federated, cursor, era }: PageQuestion,
): Page {
  const nameOf = ({ federated: name, listed }: OfferedName): string => (federated ? name : listed.name);
  const from = cursor === undefined ? 0 : pageAfter(tools.map(nameOf), pagePlace(cursor));
  const page = tools.slice(from, from + PAGE);
  const last = page.at(-1);
  const result = {
    ...pageBegin(era, last && from + PAGE < tools.length ? { after: nameOf(last), skip: 0 } : undefined),
    [member]: page.map((tool) => (federated ? renamed(tool, NAMED_IN_META[member]) : pinned(tool))),
    ...(unavailable.length > 0 && { _meta: { 'gatewarden.dev/unavailable': unavailable } }),
  };
  return { text: JSON.stringify(result), unavailable };
}

const NAMED_IN_META = { tools: 'gatewarden.dev/tool', prompts: 'gatewarden.dev/prompt' } as const;

/** Where the next page begins: so many entries after one that the client has seen; empty: after none. */
interface PagePlace {
  readonly after: string;
  readonly skip: number;
}

/** What a page says besides its entries. `next`: where there are more. */
export function pageBegin(era: Era, next: PagePlace | undefined): JsonObject {
  return {
    ...(era === 'modern' && { resultType: 'complete', ttlMs: TTL_MS, cacheScope: 'private' }),
    ...(next && { nextCursor: Buffer.from(`${next.skip} ${next.after}`).toString('base64url') }),
  };
}

/** Longest cursor: an address of a resource with its prefix. */
const MOST_CURSOR = 24_576;

/**
 * The place that a cursor stands for. It has the name of an entry that its client was shown, never of one that was left
 * out: it says nothing that the client does not know.
 */
export function pagePlace(cursor: Json | undefined): PagePlace {
  if (cursor === undefined) return { after: '', skip: 0 };
  const isShort = typeof cursor === 'string' && cursor.length <= MOST_CURSOR;
  const found = /^(\d{1,6}) (.*)$/s.exec(isShort ? Buffer.from(cursor, 'base64url').toString() : '');
  if (!found) throw foreignCursor();
  return { after: found[2]!, skip: Number(found[1]) };
}

/** The index of the first entry of a page. Throws `RpcFault` for a cursor of another list. */
export function pageAfter(names: readonly string[], { after, skip }: PagePlace): number {
  const at = after === '' ? -1 : names.indexOf(after);
  if (at < 0 && after !== '') throw foreignCursor();
  return at + 1 + skip;
}

function foreignCursor(): RpcFault {
  return new RpcFault(RPC.invalidParams, 200, 'params.cursor does not belong to this list: begin again without it.');
}

function renamed({ federated, listed, server }: OfferedName, meta: string): JsonObject {
  const own = { server: server.name, name: listed.name };
  return { ...pinned({ listed }), name: federated, _meta: { [meta]: own } };
}

/** As the server defines it, without `_meta`: no pin covers that, so that a server could say anything in it. */
function pinned({ listed }: Pick<OfferedName, 'listed'>): JsonObject {
  const { _meta, ...definition } = listed.definition;
  return definition;
}
