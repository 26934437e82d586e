const MOST_LETTERS = 64;

/**
 * The name that a misspelt one was probably meant to be: the closest of `known`, if no more than a third of its letters are
 * wrong. Capitals do not count. Undefined where nothing is close.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  return nearestFew(name, known, 1)[0];
}

/** As `nearest`, the closest first. `most`: so many at most. */
export function nearestFew(name: string, known: Iterable<string>, most: number): readonly string[] {
  if (name.length > MOST_LETTERS) return [];
  const written = name.toLowerCase();
  const close: { readonly name: string; readonly distance: number }[] = [];
  for (const candidate of known) {
    const wrong = Math.max(1, Math.floor(Math.min(candidate.length, written.length) / 3));
    if (Math.abs(candidate.length - written.length) > wrong) continue;
    const distance = editDistance(written, candidate.toLowerCase());
    if (distance <= wrong) close.push({ name: candidate, distance });
  }
  return close
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map((one) => one.name);
}

/** How many letters must be added, dropped, changed or swapped with their neighbour to make one word of the other. */
function editDistance(a: string, b: string): number {
  let [before, last] = [
    Array.from({ length: b.length + 1 }, () => 0),
    Array.from({ length: b.length + 1 }, (_, j) => j),
  ];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + changed);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
