import type { StrandCut } from '#/ports/checkpoints.ts';
import type { ShownCut } from '../checkpoints/checkpoint.ts';

const LINK = /^[0-9a-f]{64}$/;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** Ascending numbers as ranges: first and last of each run without gaps. */
export function rangesOf(numbers: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** Whether a cut says that this row was dropped and its hash kept. */
export function isWithheld(cut: StrandCut | undefined, sequence: number): boolean {
  return cut?.withheld.some(([from, to]) => sequence >= from && sequence <= to) ?? false;
}

/** What no retention would have signed; undefined when there is nothing. */
export function cutFault({ before, strands }: ShownCut): string | undefined {
  if (!MONTH.test(before)) return `its cut is before "${before}", which is not a month`;
  for (const cut of strands) {
    if (typeof cut === 'string') continue;
    const wrong = !(cut.sequence >= 0) || !LINK.test(cut.link) || !ascending(cut);
    if (wrong) return `its cut of strand ${cut.strand} is invalid`;
  }
  return undefined;
}

function ascending({ sequence, withheld }: StrandCut): boolean {
  let before = sequence;
  for (const [from, to] of withheld) {
    if (!(from > before) || !(to >= from)) return false;
    before = to;
  }
  return true;
}

/** The month (UTC) that `months` whole months before that of `now` is the first to be kept: `2026-08`. */
export function firstKeptMonth(now: number, months: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months)).toISOString().slice(0, 7);
}
