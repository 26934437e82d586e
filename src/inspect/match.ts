/** A range of a text: UTF-16 offsets, end exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A range of a text that is personal or secret. */
export interface Match extends TextRange {
  /** Upper-case category as used in tags: `EMAIL`, `IBAN`. */
  readonly category: string;
  /** The term that is written here in one of its spellings or forms, where a term was found. */
  readonly term?: string;
}

/** What to do with one match. */
export interface Action extends Match {
  readonly act: 'tag' | 'mask';
}

/**
 * Sorts the actions on one text in place and merges those that overlap, so that no match leaves in part. A merged one takes
 * the category of the longest, of equals the first given, and is reversible only if all of them are.
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

/** The matches of one text in order, without those that lie within another one. */
export function outermost(matches: readonly Match[]): readonly Match[] {
  let reach = 0;
  return matches
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ end }) => {
      if (end <= reach) return false;
      reach = end;
      return true;
    });
}

/** The matches of one text in order; those that overlap become one, with the category of the longest, of equals the first given. */
export function united(found: readonly Match[], more: readonly Match[]): readonly Match[] {
  return mergeActions([...found, ...more].map((match) => ({ ...match, act: 'tag' }))).map(
    ({ start, end, category }) => ({
      start,
      end,
      category,
    }),
  );
}

/** The matches and `more` of them without what lies within another; on equal ranges the first given stays. */
export function together(matches: readonly Match[], more: readonly Match[]): readonly Match[] {
  return more.length > 0 ? outermost([...matches, ...more]) : matches;
}
