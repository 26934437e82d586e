import type { UsageLine } from '#/ports/usage.ts';
import { firstRow, isEnd } from './copy-format.ts';

/** Numbers of a part, in the order of `usage.sql`; the cost comes after them. */
const MEASURES = 12;
const HIGH = 2 ** 32;

type Names = Pick<UsageLine, 'workload' | 'provider' | 'model'>;

/** Sums of a workload and a model. */
interface Group {
  readonly names: Names;
  /** The numbers of each period, one period after the other. */
  readonly numbers: Float64Array;
  readonly costs: bigint[];
}

/** Adds up the parts of an answer to `usage.sql` as they come; the whole answer takes no memory. */
export class UsageParts {
  readonly #days: readonly string[];
  readonly #groups = new Map<string, Group>();
  #first = true;

  /** `days`: of the periods, in order; empty where days are not told apart, and there is one period. */
  constructor(days: readonly string[]) {
    this.#days = days;
  }

  /** A piece of the answer in COPY's binary format, as `copyOut` hands it over. */
  add(piece: Buffer): void {
    const at = this.#first ? firstRow(piece) : 0;
    this.#first = false;
    if (!isEnd(piece, at)) this.#addPart(piece, at + 2);
  }

  /** The sums, by workload, day, provider and model. */
  lines(): readonly UsageLine[] {
    const periods = Math.max(1, this.#days.length);
    const sorted = [...this.#groups.values()].sort(
      ({ names: a }, { names: b }) =>
        compare(a.workload, b.workload) || compare(a.provider, b.provider) || compare(a.model, b.model),
    );
    const lines: UsageLine[] = [];
    for (let from = 0, until = 0; from < sorted.length; from = until) {
      const { workload } = sorted[from]!.names;
      while (sorted[until]?.names.workload === workload && until < sorted.length) until += 1;
      for (let period = 0; period < periods; period++)
        for (let index = from; index < until; index++) {
          const group = sorted[index]!;
          if (group.numbers[period * MEASURES] !== 0) lines.push(lineOf(group, period, this.#days[period]));
        }
    }
    return lines;
  }

  /** Adds a part of which the first value's length stands at `begin`. */
  #addPart(bytes: Buffer, begin: number): void {
    let at = begin;
    for (let column = 0; column < 3; column++) at += 4 + Math.max(0, bytes.readInt32BE(at));
    // The three values with their lengths: the same bytes are the same group.
    const key = bytes.toString('latin1', begin, at);
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = groupAt(bytes, begin, Math.max(1, this.#days.length))));
    const [adds, takes] = [bytes.readInt32BE(at + 4), bytes.readInt32BE(at + 12)];
    const measures = at + 16;
    const costAt = measures + MEASURES * 12;
    const cost = BigInt(bytes.toString('latin1', costAt + 4, costAt + 4 + bytes.readInt32BE(costAt)));
    if (adds > 0) change(group, adds - 1, bytes, measures, 1);
    if (adds > 0) group.costs[adds - 1]! += cost;
    if (takes > 0) change(group, takes - 1, bytes, measures, -1);
    if (takes > 0) group.costs[takes - 1]! -= cost;
  }
}

function groupAt(bytes: Buffer, begin: number, periods: number): Group {
  let at = begin;
  const next = (): string | undefined => {
    const length = bytes.readInt32BE(at);
    const from = at + 4;
    at = from + Math.max(0, length);
    return length < 0 ? undefined : bytes.toString('utf8', from, at);
  };
  const [workload, provider, model] = [next(), next(), next()];
  const names = {
    ...(workload !== undefined && { workload }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
  };
  return { names, numbers: new Float64Array(periods * MEASURES), costs: Array.from({ length: periods }, () => 0n) };
}

function change({ numbers }: Group, period: number, bytes: Buffer, measures: number, sign: 1 | -1): void {
  const first = period * MEASURES;
  for (let index = 0, at = measures + 4; index < MEASURES; index++, at += 12)
    numbers[first + index]! += sign * (bytes.readInt32BE(at) * HIGH + bytes.readUInt32BE(at + 4));
}

function lineOf({ names, numbers, costs }: Group, period: number, day: string | undefined): UsageLine {
  const of = period * MEASURES;
  // A spread that comes first is copied as a whole.
  const name = day === undefined ? names : { ...names, day };
  return {
    ...name,
    calls: numbers[of]!,
    refused: numbers[of + 1]!,
    failed: numbers[of + 2]!,
    hungUp: numbers[of + 3]!,
    abandoned: numbers[of + 4]!,
    cacheHits: numbers[of + 5]!,
    tokens: {
      input: numbers[of + 6]!,
      cacheRead: numbers[of + 7]!,
      cacheWrite5m: numbers[of + 8]!,
      cacheWrite1h: numbers[of + 9]!,
      output: numbers[of + 10]!,
      reasoning: numbers[of + 11]!,
    },
    cost: costs[period]!,
  };
}

function compare(a: string | undefined, b: string | undefined): number {
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
}
