import { mkdirSync, writeFileSync } from 'node:fs';

/** One figure of both sides. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly bare: number;
  readonly governed: number;
  /** `difference` where what is added matters too, beside the ratio. */
  readonly compare: 'ratio' | 'difference';
}

/** The medians of what was measured of both sides. */
export function measure(name: string, unit: string, b: number[], g: number[], compare: Measure['compare']): Measure {
  return { name, unit, bare: median(b), governed: median(g), compare };
}

/** Prints a table and writes it to bench-results/latest.json, with how it was measured. */
export function report(measures: readonly Measure[], how: object): void {
  const rows = measures.map(({ name, unit, bare: b, governed: g, compare }) => ({
    name,
    unit,
    bare: round(b),
    governed: round(g),
    ratio: round(g / b),
    ...(compare === 'difference' && { added: round(g - b) }),
  }));
  console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
  mkdirSync('bench-results', { recursive: true });
  writeFileSync('bench-results/latest.json', `${JSON.stringify({ ...how, measures: rows }, null, 2)}\n`);
  console.log('Written to bench-results/latest.json');
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
