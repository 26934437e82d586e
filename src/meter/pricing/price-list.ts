import { fraction, larger, reduce, times, type Fraction } from './fraction.ts';
import type { PartialRates, PriceSheet, SheetTier } from './price-sheet.ts';
import { INPUT_BUCKETS, OUTPUT_BUCKETS, STANDARD, UNITS, type Bucket } from './price.ts';
import type { Unit } from '#/call/units.ts';

/**
 * What a list says of one model, by quantity: a bucket is dollars per million tokens (`input`), for calls with more
 * input than a size (`input>200000`), in a service tier (`flex:input`, `flex:input>200000`); a unit is dollars per one.
 */
export type Quantities = ReadonlyMap<string, Fraction>;

/** What a list says of one model in a time. Of those that hold at a moment, the last in a list is in force. */
export interface ListedPeriod {
  /** Milliseconds since the epoch; absent: from ever. */
  readonly from?: number;
  /** Each day between these seconds of the day in UTC, the second one exclusive. */
  readonly daily?: readonly [start: number, end: number];
  /** On these days of the week in UTC only, 0 for Sunday. */
  readonly weekdays?: readonly number[];
  readonly usd: Quantities;
}

interface TokenQuantity {
  readonly service: string;
  readonly bucket: Bucket;
  readonly above: number;
}

const BUCKETS: ReadonlySet<string> = new Set([...INPUT_BUCKETS, ...OUTPUT_BUCKETS]);
const UNIT_NAMES: ReadonlySet<string> = new Set(UNITS);
const QUANTITY = /^(?:([a-z][a-z0-9_]{0,31}):)?([A-Za-z0-9]{1,20})(?:>([1-9]\d{0,8}))?$/;

/** The name of a rate of tokens. */
export function quantityOf(bucket: Bucket, above = 0, service: string = STANDARD): string {
  return `${service === STANDARD ? '' : `${service}:`}${bucket}${above === 0 ? '' : `>${above}`}`;
}

/** Whether a list may have a quantity of this name. */
function isQuantity(name: string): boolean {
  return UNIT_NAMES.has(name) || tokenQuantity(name) !== undefined;
}

function tokenQuantity(name: string): TokenQuantity | undefined {
  const [, service = STANDARD, bucket = '', above = '0'] = QUANTITY.exec(name) ?? [];
  return BUCKETS.has(bucket) ? { service, bucket: bucket as Bucket, above: Number(above) } : undefined;
}

/** The period in force at a moment, and how long it lasts; undefined before the first one. */
export function periodAt(
  periods: readonly ListedPeriod[],
  at: number,
): { readonly period: ListedPeriod | undefined; readonly from: number; readonly until: number } {
  let [from, until] = [-Infinity, Infinity];
  let period: ListedPeriod | undefined;
  const second = Math.floor(at / 1000);
  for (const one of periods) {
    const begun = one.from === undefined || one.from <= at;
    if (begun) from = Math.max(from, one.from ?? -Infinity);
    else until = Math.min(until, one.from ?? Infinity);
    // Daily windows are checked again each second.
    if (one.daily || one.weekdays)
      [from, until] = [Math.max(from, second * 1000), Math.min(until, (second + 1) * 1000)];
    if (begun && isToday(one, second) && (!one.daily || isWithin(second % 86_400, one.daily))) period = one;
  }
  return { period, from, until };
}

/** The first day of the epoch was a Thursday. */
function isToday({ weekdays }: ListedPeriod, second: number): boolean {
  return !weekdays || weekdays.includes((Math.floor(second / 86_400) + 4) % 7);
}

function isWithin(second: number, [start, end]: readonly [number, number]): boolean {
  return start <= end ? second >= start && second < end : second >= start || second < end;
}

/** The sheet that quantities in dollars make at a rate of nano-euro to the dollar; undefined when nothing has a price. */
export function sheetOf(usd: Quantities, rate: Fraction, source: string): PriceSheet | undefined {
  const rates: (TokenQuantity & { readonly amount: Fraction })[] = [];
  const units: { [U in Unit]?: Fraction } = {};
  for (const [name, dollars] of usd) {
    const amount = times(dollars, rate);
    const token = tokenQuantity(name);
    if (token) rates.push({ ...token, amount });
    else if (amount.numerator > 0n) units[name as Unit] = amount;
  }
  // Input without a charge is a free offer of the vendor, or missing data: not a price to bill by.
  const isCharged = (usd.get('input')?.numerator ?? 0n) > 0n;
  if (!isCharged && Object.keys(units).length === 0) return undefined;
  if (!isCharged) return { source, tiers: [], units };
  const services = [...new Set(rates.map(({ service }) => service))].filter((service) => service !== STANDARD);
  return {
    source,
    tiers: tiersOf(rates, STANDARD),
    ...(services.length > 0 && {
      services: new Map(services.map((service) => [service, tiersOf(rates, service)] as const)),
    }),
    units,
  };
}

type ListedRate = TokenQuantity & { readonly amount: Fraction };

/** Tiers of a service tier: at each size that it or the ordinary one has rates of its own for. */
function tiersOf(rates: readonly ListedRate[], service: string): readonly SheetTier[] {
  const own = rates.filter((rate) => rate.service === service || rate.service === STANDARD);
  const sizes = [...new Set(own.map(({ above }) => above))].sort((a, b) => a - b);
  const at = (size: number, bucket: string): Fraction | undefined => {
    const named = latest(rates, service, bucket, size);
    const ordinary = service === STANDARD ? undefined : latest(rates, STANDARD, bucket, size);
    if (!named || !ordinary) return named?.amount ?? (bucket === 'input' ? ordinary?.amount : undefined);
    // A size at which only the ordinary rate changes: this one has not been looked at there.
    return ordinary.above > named.above ? larger(named.amount, ordinary.amount) : named.amount;
  };
  return sizes.map((above) => {
    const named = [...BUCKETS].flatMap((bucket) => {
      const amount = at(above, bucket);
      return amount ? [[bucket, amount] as const] : [];
    });
    return { above, perMillion: Object.fromEntries(named) as unknown as PartialRates };
  });
}

function latest(rates: readonly ListedRate[], service: string, bucket: string, size: number): ListedRate | undefined {
  let found: ListedRate | undefined;
  for (const rate of rates) {
    if (rate.service !== service || rate.bucket !== bucket || rate.above > size) continue;
    if (!found || rate.above > found.above) found = rate;
  }
  return found;
}

/** An amount as a decimal, or as a fraction such as `1/90000` if it has none (an hour's price, by the second). */
export function amountText({ numerator, denominator }: Fraction): string {
  let digits = 0;
  for (let scale = 1n; scale % denominator !== 0n; scale *= 10n) if (++digits > MOST_DIGITS) break;
  if (digits > MOST_DIGITS) return `${numerator}/${denominator}`;
  const text = (numerator * (10n ** BigInt(digits) / denominator)).toString().padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

const MOST_DIGITS = 30;
const RATIO = /^(\d{1,60})\/([1-9]\d{0,59})$/;

/** The other way round. Throws a RangeError on a text that is no amount. */
function amountOf(text: string): Fraction {
  const [, numerator, denominator] = RATIO.exec(text) ?? [];
  return numerator === undefined ? fraction(text) : reduce(BigInt(numerator), BigInt(denominator!));
}

/** Amounts by name as text, in the order of names; for files. */
export function toTexts(usd: Quantities): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...usd].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, amountText(amount)]),
  );
}

/** The other way round. Throws a RangeError on a name or an amount that no list has. */
export function fromTexts(texts: Readonly<Record<string, unknown>>): Quantities {
  return new Map(
    Object.entries(texts).map(([name, amount]) => {
      if (!isQuantity(name)) throw new RangeError(`not a quantity: ${name}`);
      if (typeof amount !== 'string') throw new RangeError(`${name} must be an amount in quotes`);
      return [name, amountOf(amount)] as const;
    }),
  );
}
