import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';

/** One figure of both sides, in pairs, one after the other. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly bare: readonly number[];
  readonly governed: readonly number[];
  /** `difference` where the added amount matters as well as the ratio. */
  readonly compare: 'ratio' | 'difference';
  /** Whether `budgets.json` bounds its ratio. */
  readonly budgeted: boolean;
}

/** A measure in pairs. Its ratio has a budget unless it says `free`. */
export function measure(
  name: string,
  unit: string,
  bare: readonly number[],
  governed: readonly number[],
  compare: Measure['compare'] = 'ratio',
  free?: 'free',
): Measure {
  return { name, unit, bare, governed, compare, budgeted: free === undefined };
}

/** Governed to bare, of each pair. Pairs of one moment are alike on a machine whose speed drifts; medians of all are not. */
export function ratiosOf({ bare, governed }: Pick<Measure, 'bare' | 'governed'>): readonly number[] {
  return governed.map((value, index) => value / bare[index]!);
}

/** Prints a table and writes it to bench-results/<file>.json, with how it was measured and what else kept the machine busy. */
export function report(measures: readonly Measure[], how: object, file = 'latest'): void {
  const rows = measures.map((one) => {
    const [b, g] = [median(one.bare), median(one.governed)];
    return {
      name: one.name,
      unit: one.unit,
      bare: round(b),
      governed: round(g),
      ratio: round(median(ratiosOf(one))),
      ...(one.compare === 'difference' && { added: round(g - b) }),
    };
  });
  console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
  const load = loadavg().map(round);
  mkdirSync('bench-results', { recursive: true });
  writeFileSync(`bench-results/${file}.json`, `${JSON.stringify({ ...how, load, measures: rows }, null, 2)}\n`);
  console.log(`Load average ${load.join(', ')}. Written to bench-results/${file}.json`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

/** To three digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}
