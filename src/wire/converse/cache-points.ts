import type { CacheMark, Lose, ModelRequest, Part, Tool } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import type { Traits } from '../hub/traits.ts';

/** Most cache points of a request. // wire-formats 2.6 */
const MAX_POINTS = 4;

type Markable = Part | Tool;

/** The cache marks of a request that become cache points: separate blocks after the marked ones. // spec 4.3.2 */
export class CachePoints {
  readonly #kept: ReadonlySet<Markable>;
  readonly #traits: Traits;
  readonly #lose: Lose;

  /** Instructions, tools and the end of the conversation are worth more than its beginning. */
  constructor(request: ModelRequest, traits: Traits, lose: Lose) {
    const parts = request.turns.flatMap((turn) => turn.parts);
    const marked = [...parts, ...request.tools, ...request.system].filter((one) => markOf(one) !== undefined);
    const most = traits.cacheMarks === 'none' ? 0 : MAX_POINTS;
    this.#kept = new Set(marked.slice(Math.max(0, marked.length - most)));
    this.#traits = traits;
    this.#lose = lose;
    if (this.#kept.size < marked.length) lose('cache_control');
  }

  /** The block that follows, if any. */
  after(one: Markable): readonly JsonObject[] {
    const mark = markOf(one);
    if (mark === undefined || !this.#kept.has(one)) return [];
    // Five minutes is what a point means without a word.
    if (mark.ttl === undefined || mark.ttl === '5m') return [{ cachePoint: { type: 'default' } }];
    if (this.#traits.cacheMarks === 'hour' || this.#traits.cacheMarks === 'as-written')
      return [{ cachePoint: { type: 'default', ttl: mark.ttl } }];
    this.#lose('cache_control.ttl');
    return [{ cachePoint: { type: 'default' } }];
  }
}

/** A mark within the result of a tool can only be said of the whole result; one on a blank text is of nothing. */
function markOf(one: Markable): CacheMark | undefined {
  if (!('type' in one)) return one.cache;
  if (one.type === 'text' && one.text.trim() === '') return undefined;
  const own = 'cache' in one ? one.cache : undefined;
  if (own !== undefined || one.type !== 'tool-result') return own;
  return one.parts.map(markOf).findLast((mark) => mark !== undefined);
}
