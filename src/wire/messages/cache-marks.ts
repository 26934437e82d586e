import type { Lose } from '../hub/canonical.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import type { Traits } from '../hub/traits.ts';
import { withoutMark } from './encode-blocks.ts';

/** Most markers of a request. // wire-formats 2.6 */
const MAX_MARKS = 4;
const HOUR = '1h';

/** A message of the body, its content always blocks. */
export type WrittenMessage = { readonly role: string; readonly content: readonly JsonObject[] };

/** The parts of a request that can be marked, in the order a model reads them. */
export interface Markable {
  readonly tools: readonly JsonObject[];
  readonly system: readonly JsonObject[];
  readonly messages: readonly WrittenMessage[];
}

/**
 * The same with the markers that the model honours: of too many those on tools and instructions and the last ones of
 * the conversation; an hour only where it is known, and never behind five minutes. // wire-formats 2.6
 */
export function fitMarks(written: Markable, { cacheMarks }: Traits, lose: Lose): Markable {
  if (cacheMarks === 'as-written') return written;
  const isMarked = (block: JsonObject): boolean => 'cache_control' in block;
  const leading = [...written.tools, ...written.system].filter(isMarked);
  const following = written.messages.flatMap(({ content }) => content).filter(isMarked);
  if (leading.length + following.length === 0) return written;
  const most = cacheMarks === 'none' ? 0 : MAX_MARKS;
  const kept = lastOf([...following, ...lastOf(leading, most)], most);
  if (kept.length < leading.length + following.length) lose('cache_control');
  const keep = new Set(kept);
  let shortened = cacheMarks !== 'hour';
  const fit = (block: JsonObject): JsonObject => {
    const { cache_control: mark } = block;
    if (mark === undefined) return block;
    if (!keep.has(block)) return withoutMark(block);
    const { ttl, ...plain } = isObject(mark) ? mark : { type: 'ephemeral' };
    const isHour = ttl === HOUR;
    if (isHour && !shortened) return block;
    shortened = true;
    if (isHour) lose('cache_control.ttl');
    return { ...block, cache_control: isHour || ttl === undefined ? plain : { ...plain, ttl } };
  };
  return {
    tools: written.tools.map(fit),
    system: written.system.map(fit),
    messages: written.messages.map((message) => ({ ...message, content: message.content.map(fit) })),
  };
}

function lastOf<T>(list: readonly T[], most: number): readonly T[] {
  return list.slice(Math.max(0, list.length - most));
}
