import type { Span } from './detectors/detector.ts';

/** What is to be done with one stretch of text. */
export interface Action extends Span {
  readonly act: 'tag' | 'mask';
}

/**
 * Sorts stretches of one text in place; overlapping ones become one, named after the longest, of equals the first given,
 * reversible only if all of them are: none leaves in part.
 */
export function mergeActions(actions: Action[]): readonly Action[] {
  if (actions.length > 1) actions.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Action[] = [];
  for (const action of actions) {
    const last = merged.at(-1);
    if (last === undefined || action.start >= last.end) {
      merged.push(action);
      continue;
    }
    const longer = action.end - action.start > last.end - last.start ? action : last;
    merged[merged.length - 1] = {
      start: last.start,
      end: Math.max(last.end, action.end),
      category: longer.category,
      ...(longer.term !== undefined && { term: longer.term }),
      act: last.act === 'mask' || action.act === 'mask' ? 'mask' : 'tag',
    };
  }
  return merged;
}

/** Stretches of one text in order, without those that lie within another one. */
export function outermost(spans: readonly Span[]): readonly Span[] {
  let reach = 0;
  return spans
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ end }) => {
      if (end <= reach) return false;
      reach = end;
      return true;
    });
}

/** Stretches of one text in order; those that overlap are one, named after the longest, of equals the first given. */
export function united(found: readonly Span[], more: readonly Span[]): readonly Span[] {
  return mergeActions([...found, ...more].map((span) => ({ ...span, act: 'tag' }))).map(({ start, end, category }) => ({
    start,
    end,
    category,
  }));
}
