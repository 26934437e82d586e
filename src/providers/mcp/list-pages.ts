import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { RPC } from '#/wire/mcp/message.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import type { Peer } from './peer.ts';
import { protocol } from './read-answer.ts';

const MOST_PAGES = 50;
/** Of all pages. */
const MOST_BYTES = 1024 * 1024;

/** A list that a server gives in pages. */
export interface PagedList {
  /** What it is called where a server gives none: `tools`. */
  readonly what: string;
  readonly method: string;
  /** The member of the result that has the items. */
  readonly member: string;
  /** Most items that are looked at: the rest is left. Absent: a list that does not end is a fault. */
  readonly most?: number;
  /** What a modern server is said that clients can do; absent: nothing. */
  readonly capabilities?: JsonObject;
}

/** All pages of a list. */
export interface ReadPages {
  readonly items: readonly Json[];
  /** Size of the list as it came. */
  readonly bytes: number;
  /** The shortest time that any page may be kept, in milliseconds; undefined: the server does not say. */
  readonly ttlMs: number | undefined;
  /** The revision that the server speaks. */
  readonly version: string;
  /** There is more that was left. */
  readonly isCut: boolean;
}

/** Reads all pages of a list. Rejects as `Peer.ask` does, and for a list that does not end. */
export async function listPages(peer: Peer, list: PagedList, timeoutMs: number): Promise<ReadPages> {
  const { what, method, member, most, capabilities } = list;
  const signal = AbortSignal.timeout(timeoutMs);
  const until = performance.now() + timeoutMs;
  const items: Json[] = [];
  const cursors = new Set<string>();
  let left = MOST_BYTES;
  let ttlMs: number | undefined;
  let version = '';
  const read = (isCut: boolean): ReadPages => ({ items, bytes: MOST_BYTES - left, ttlMs, version, isCut });
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? '' : `"cursor":${JSON.stringify(cursor)},`;
    const rest = Math.max(1, until - performance.now());
    const asked = { method, params, meta: {}, headers: {}, capabilities };
    const ask = { ...asked, limit: left, timeoutMs: rest, signal };
    const answer = await peer.ask(ask).catch((thrown: unknown) => {
      const isMore = most !== undefined && cursor !== undefined && isTooLarge(thrown);
      if (!isMore) throw thrown;
    });
    if (!answer) return read(true);
    left -= answer.place.bytes;
    answer.place[Symbol.dispose]();
    version = answer.version;
    const { result, error } = answer.document.body;
    if (most !== undefined && isObject(error) && error['code'] === RPC.methodNotFound) return read(false);
    if (!isObject(result) || !Array.isArray(result[member])) throw protocol(`the server has no list of ${what}`);
    ttlMs = ttlOf(result['ttlMs'], ttlMs);
    for (const item of result[member] as readonly Json[]) {
      if (items.length === most) return read(true);
      items.push(item);
    }
    const next = result['nextCursor'];
    if (typeof next !== 'string' || next === '') return read(false);
    const isEndless = cursors.has(next) || cursors.size + 1 >= MOST_PAGES;
    if (isEndless && most !== undefined) return read(true);
    if (isEndless) throw protocol(`the list of ${what} does not end`);
    cursors.add(next);
    cursor = next;
  }
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof UpstreamFault && thrown.kind === 'too_large';
}

/** The shortest time that any page may be kept. */
function ttlOf(told: Json | undefined, before: number | undefined): number | undefined {
  if (typeof told !== 'number' || !(told >= 0)) return before;
  return before === undefined ? told : Math.min(before, told);
}
