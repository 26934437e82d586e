import type { Span } from './detector.ts';
import type { Examiner } from './examiner.ts';

/** Where a category stands when two finds overlap. */
export interface Rank {
  readonly weak: boolean;
  readonly checked: boolean;
  /** Position in the list of examiners: lower goes first. */
  readonly position: number;
}

/** The ranks of the examiners' categories; the first examiner of a category decides. */
export function ranksOf(examiners: readonly Examiner[]): ReadonlyMap<string, Rank> {
  const ranks = new Map<string, Rank>();
  examiners.forEach(({ category, evidence }, position) => {
    if (ranks.has(category)) return;
    ranks.set(category, { weak: evidence === 'weak', checked: evidence === 'checked', position });
  });
  return ranks;
}

/**
 * Non-overlapping finds, sorted by start. A weak find gives way to any checked one it touches; then the longest wins,
 * on equal lengths the one with check digits, then the category listed first, then the earlier one.
 */
export function resolve(spans: readonly Span[], ranks: ReadonlyMap<string, Rank>): readonly Span[] {
  if (spans.length < 2) return spans;
  const sorted = spans.toSorted((a, b) => a.start - b.start || b.end - a.end);
  if (!sorted.some((span, index) => index > 0 && span.start < (sorted[index - 1] as Span).end)) return sorted;
  const strong = withoutBeatenWeak(sorted, ranks);
  const order = strong.map((_, index) => index).sort((a, b) => precede(strong[a] as Span, strong[b] as Span, ranks));
  const beaten = new Uint8Array(strong.length);
  for (const winner of order) {
    if (beaten[winner] !== 1) beatNeighbours(strong, winner, beaten);
  }
  return strong.filter((_, index) => beaten[index] !== 1);
}

function precede(a: Span, b: Span, ranks: ReadonlyMap<string, Rank>): number {
  const left = ranks.get(a.category) as Rank;
  const right = ranks.get(b.category) as Rank;
  return (
    b.end - b.start - (a.end - a.start) ||
    Number(right.checked) - Number(left.checked) ||
    left.position - right.position ||
    a.start - b.start
  );
}

/** Marks all that overlap the winner. Nothing left is longer than it, so its own length bounds how far back to look. */
function beatNeighbours(spans: readonly Span[], winner: number, beaten: Uint8Array): void {
  const { start, end } = spans[winner] as Span;
  for (let index = winner + 1; index < spans.length && (spans[index] as Span).start < end; index += 1) {
    beaten[index] = 1;
  }
  for (let index = winner - 1; index >= 0; index -= 1) {
    const span = spans[index] as Span;
    if (span.start <= start - (end - start)) break;
    if (span.end > start) beaten[index] = 1;
  }
}

function withoutBeatenWeak(sorted: readonly Span[], ranks: ReadonlyMap<string, Rank>): readonly Span[] {
  const checked = sorted.filter(({ category }) => ranks.get(category)?.checked);
  if (checked.length === 0) return sorted;
  // A running maximum of the ends: whether any checked find starting before a place reaches beyond it.
  let reach = 0;
  const reaches = checked.map(({ end }) => (reach = Math.max(reach, end)));
  let next = 0;
  return sorted.filter((span) => {
    while (next < checked.length && (checked[next] as Span).start <= span.start) next += 1;
    if (!ranks.get(span.category)?.weak) return true;
    const before = next > 0 && (reaches[next - 1] as number) > span.start;
    const after = next < checked.length && (checked[next] as Span).start < span.end;
    return !before && !after;
  });
}
