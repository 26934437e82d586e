import type { Match } from '../match.ts';
import type { DetectorRule } from './detector.ts';

/** Where a category stands when two finds overlap. */
export interface Rank {
  readonly weak: boolean;
  readonly checked: boolean;
  /** Position in the list of detectors: lower goes first. */
  readonly position: number;
}

/** The ranks of the detectors' categories; the first detector of a category decides. */
export function ranksOf(detectors: readonly DetectorRule[]): ReadonlyMap<string, Rank> {
  const ranks = new Map<string, Rank>();
  detectors.forEach(({ category, evidence }, position) => {
    if (ranks.has(category)) return;
    ranks.set(category, { weak: evidence === 'weak', checked: evidence === 'checked', position });
  });
  return ranks;
}

/**
 * Non-overlapping finds, sorted by start. A weak find gives way to any checked one it touches; then the longest wins,
 * on equal lengths the one with check digits, then the category listed first, then the earlier one.
 */
export function resolveOverlaps(matches: readonly Match[], ranks: ReadonlyMap<string, Rank>): readonly Match[] {
  if (matches.length < 2) return matches;
  const sorted = matches.toSorted((a, b) => a.start - b.start || b.end - a.end);
  if (!sorted.some((match, index) => index > 0 && match.start < (sorted[index - 1] as Match).end)) return sorted;
  const strong = withoutBeatenWeak(sorted, ranks);
  const order = strong.map((_, index) => index).sort((a, b) => precede(strong[a] as Match, strong[b] as Match, ranks));
  const beaten = new Uint8Array(strong.length);
  for (const winner of order) {
    if (beaten[winner] !== 1) beatNeighbours(strong, winner, beaten);
  }
  return strong.filter((_, index) => beaten[index] !== 1);
}

function precede(a: Match, b: Match, ranks: ReadonlyMap<string, Rank>): number {
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
function beatNeighbours(matches: readonly Match[], winner: number, beaten: Uint8Array): void {
  const { start, end } = matches[winner] as Match;
  for (let index = winner + 1; index < matches.length && (matches[index] as Match).start < end; index += 1) {
    beaten[index] = 1;
  }
  for (let index = winner - 1; index >= 0; index -= 1) {
    const match = matches[index] as Match;
    if (match.start <= start - (end - start)) break;
    if (match.end > start) beaten[index] = 1;
  }
}

function withoutBeatenWeak(sorted: readonly Match[], ranks: ReadonlyMap<string, Rank>): readonly Match[] {
  const checked = sorted.filter(({ category }) => ranks.get(category)?.checked);
  if (checked.length === 0) return sorted;
  // A running maximum of the ends: whether any checked find starting before a place reaches beyond it.
  let reach = 0;
  const reaches = checked.map(({ end }) => (reach = Math.max(reach, end)));
  let next = 0;
  return sorted.filter((match) => {
    while (next < checked.length && (checked[next] as Match).start <= match.start) next += 1;
    if (!ranks.get(match.category)?.weak) return true;
    const before = next > 0 && (reaches[next - 1] as number) > match.start;
    const after = next < checked.length && (checked[next] as Match).start < match.end;
    return !before && !after;
  });
}
