import type { UsageLine } from '#ports/usage.ts';
import { firstRow, isEnd } from './copy-format.ts';

/** Numbers of a part, in the order of `usage.sql`; the cost comes after them. */
const MEASURES = 12;
const HIGH = 2 ** 32;

/** What was summed of a workload and a model. */
interface Group {
  readonly workload: string | undefined;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** The numbers of each period, one period after the other. */
  readonly numbers: Float64Array;
  readonly costs: bigint[];
}

/**
 * Adds up the parts of an answer to `usage.sql` in COPY's binary format. Lines come by workload, day, provider and model;
 * `days`: of the periods, in order; empty where days are not told apart, and there is one.
 */
export function addParts(bytes: Buffer, days: readonly string[]): readonly UsageLine[] {
  const periods = Math.max(1, days.length);
  const groups = new Map<string, Group>();
  for (let at = firstRow(bytes); !isEnd(bytes, at);) at = addPart(bytes, at + 2, groups, periods);
  const sorted = [...groups.values()].sort(
    (a, b) => compare(a.workload, b.workload) || compare(a.provider, b.provider) || compare(a.model, b.model),
  );
  const lines: UsageLine[] = [];
  for (let from = 0, until = 0; from < sorted.length; from = until) {
    const { workload } = sorted[from]!;
    while (sorted[until]?.workload === workload && until < sorted.length) until += 1;
    const ofWorkload = sorted.slice(from, until);
    for (let period = 0; period < periods; period++)
      for (const group of ofWorkload)
        if (group.numbers[period * MEASURES] !== 0) lines.push(lineOf(group, period, days[period]));
  }
  return lines;
}

/** Adds a part of which the first value's length stands at `begin`; returns where the next part begins. */
function addPart(bytes: Buffer, begin: number, groups: Map<string, Group>, periods: number): number {
  let at = begin;
  for (let column = 0; column < 3; column++) at += 4 + Math.max(0, bytes.readInt32BE(at));
  // The three values with their lengths: the same bytes are the same group.
  const key = bytes.toString('latin1', begin, at);
  let group = groups.get(key);
  if (!group) groups.set(key, (group = groupAt(bytes, begin, periods)));
  const [adds, takes] = [bytes.readInt32BE(at + 4), bytes.readInt32BE(at + 12)];
  const measures = at + 16;
  const costAt = measures + MEASURES * 12;
  const end = costAt + 4 + bytes.readInt32BE(costAt);
  const cost = BigInt(bytes.toString('latin1', costAt + 4, end));
  if (adds > 0) change(group, adds - 1, bytes, measures, 1);
  if (adds > 0) group.costs[adds - 1]! += cost;
  if (takes > 0) change(group, takes - 1, bytes, measures, -1);
  if (takes > 0) group.costs[takes - 1]! -= cost;
  return end;
}

function groupAt(bytes: Buffer, begin: number, periods: number): Group {
  let at = begin;
  const next = (): string | undefined => {
    const length = bytes.readInt32BE(at);
    const from = at + 4;
    at = from + Math.max(0, length);
    return length < 0 ? undefined : bytes.toString('utf8', from, at);
  };
  const names = { workload: next(), provider: next(), model: next() };
  return { ...names, numbers: new Float64Array(periods * MEASURES), costs: Array.from({ length: periods }, () => 0n) };
}

function change({ numbers }: Group, period: number, bytes: Buffer, measures: number, sign: 1 | -1): void {
  const first = period * MEASURES;
  for (let index = 0, at = measures + 4; index < MEASURES; index++, at += 12)
    numbers[first + index]! += sign * (bytes.readInt32BE(at) * HIGH + bytes.readUInt32BE(at + 4));
}

function lineOf({ numbers, costs, ...names }: Group, period: number, day: string | undefined): UsageLine {
  const of = (measure: number): number => numbers[period * MEASURES + measure]!;
  const { workload, provider, model } = names;
  return {
    ...(workload !== undefined && { workload }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(day !== undefined && { day }),
    calls: of(0),
    refused: of(1),
    failed: of(2),
    hungUp: of(3),
    abandoned: of(4),
    cacheHits: of(5),
    tokens: {
      input: of(6),
      cacheRead: of(7),
      cacheWrite5m: of(8),
      cacheWrite1h: of(9),
      output: of(10),
      reasoning: of(11),
    },
    cost: costs[period]!,
  };
}

function compare(a: string | undefined, b: string | undefined): number {
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
}
