import type { CacheMark, ModelRequest } from './canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';

/** A `cache_control` member as the hub's mark, to be spread into the marked part; empty if it is not valid. */
export function readCacheMark(control: Json | undefined): { cache?: CacheMark } {
  if (!isObject(control)) return {};
  return { cache: typeof control['ttl'] === 'string' ? { ttl: control['ttl'] } : {} };
}

/** A mark as a `cache_control` member, to be spread into what it marks; nothing without one. */
export function writeCacheMark(mark: CacheMark | undefined): JsonObject {
  if (mark === undefined) return {};
  return { cache_control: { type: 'ephemeral', ...(mark.ttl === undefined ? {} : { ttl: mark.ttl }) } };
}

/** Whether anything of a request is marked: for families that have no place for marks. */
export function isMarked({ system, tools, turns }: ModelRequest): boolean {
  return [...system, ...tools, ...turns.flatMap(({ parts }) => parts)].some((one) => 'cache' in one);
}
