import { times, type Fraction } from './fraction.ts';
import { amountText, periodAt, type ListedPeriod, type Quantities } from './price-list.ts';
import type { Difference } from './price-snapshot.ts';

/** A price list of one publisher. */
export interface PriceSource {
  readonly name: string;
  /** Version of a package, or SHA-256 of a file. */
  readonly revision: string;
  /** `<provider>/<model>` of every model it names. */
  readonly names: readonly string[];
  /** What it says of a model, which may be one that it finds under another name. */
  find(provider: string, model: string): readonly ListedPeriod[] | undefined;
}

/** Prices of several sources as one, and where they differ. */
export interface MergedPrices {
  readonly prices: ReadonlyMap<string, readonly ListedPeriod[]>;
  readonly differences: readonly Difference[];
}

/**
 * Merges sources quantity by quantity: the first that names one is believed, and the next fill what it leaves out. What
 * Differences of more than `tolerance` (a share of the smaller amount) are always listed. A model's times are
 * those of the first source that has any; the others are asked for each of them.
 */
export function mergePrices(sources: readonly PriceSource[], tolerance: Fraction): MergedPrices {
  const prices = new Map<string, readonly ListedPeriod[]>();
  const differences: Difference[] = [];
  for (const name of [...new Set(sources.flatMap(({ names }) => names))].sort()) {
    const slash = name.indexOf('/');
    const told = sources.flatMap((source) => {
      const periods = source.find(name.slice(0, slash), name.slice(slash + 1));
      return periods ? [{ source: source.name, periods }] : [];
    });
    const timed = told.find(({ periods }) => periods.length > 1 || periods[0]?.from !== undefined) ?? told[0];
    if (!timed) continue;
    const merged = timed.periods.map((period) => {
      const said = told.map(({ source, periods }) => ({
        source,
        usd:
          periods === timed.periods ? period.usd : (periodAt(periods, period.from ?? Infinity).period?.usd ?? NOTHING),
      }));
      return { ...period, usd: mergeOne(name, said, tolerance, differences) };
    });
    prices.set(name, merged);
  }
  return { prices, differences: unique(differences) };
}

const NOTHING: Quantities = new Map();

interface Said {
  readonly source: string;
  readonly usd: Quantities;
}

function mergeOne(model: string, said: readonly Said[], tolerance: Fraction, differences: Difference[]): Quantities {
  const merged = new Map<string, Fraction>();
  for (const quantity of new Set(said.flatMap(({ usd }) => [...usd.keys()]))) {
    const values = said.flatMap(({ source, usd }) => {
      const amount = usd.get(quantity);
      return amount ? [{ source, amount }] : [];
    });
    const [taken] = values;
    if (!taken) continue;
    merged.set(quantity, taken.amount);
    if (!values.some(({ amount }) => isApart(taken.amount, amount, tolerance))) continue;
    const told = Object.fromEntries(values.map(({ source, amount }) => [source, amountText(amount)]));
    differences.push({ model, quantity, taken: taken.source, values: told });
  }
  return merged;
}

/** Whether two amounts are apart by more than this share of the smaller one. */
function isApart(a: Fraction, b: Fraction, tolerance: Fraction): boolean {
  const [less, more] = a.numerator * b.denominator < b.numerator * a.denominator ? [a, b] : [b, a];
  const most = times(less, {
    numerator: tolerance.numerator + tolerance.denominator,
    denominator: tolerance.denominator,
  });
  return more.numerator * most.denominator > most.numerator * more.denominator;
}

/** Reports differences that several times of a model share only once. */
function unique(differences: readonly Difference[]): readonly Difference[] {
  return [...new Map(differences.map((difference) => [JSON.stringify(difference), difference])).values()];
}
