/** Hits and misses of one kind. */
export interface Tally {
  found: number;
  missed: number;
  wrong: number;
}

/** What a tally comes to: precision, recall and their harmonic mean, each from 0 to 1. */
export interface Score {
  readonly labelled: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** The tally under a name, a new one when there is none. */
export function tallyOf(tallies: Map<string, Tally>, name: string): Tally {
  let tally = tallies.get(name);
  if (tally === undefined) tallies.set(name, (tally = { found: 0, missed: 0, wrong: 0 }));
  return tally;
}

/** Scores a tally; a kind that nobody labelled and nobody found is perfect. */
export function scoreOf({ found, missed, wrong }: Tally): Score {
  const precision = found + wrong === 0 ? 1 : found / (found + wrong);
  const recall = found + missed === 0 ? 1 : found / (found + missed);
  const f1 = found === 0 && missed + wrong > 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { labelled: found + missed, precision: rounded(precision), recall: rounded(recall), f1: rounded(f1) };
}

/** To four digits behind the point. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** The value below which a share of the others lies; of an empty list NaN. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
