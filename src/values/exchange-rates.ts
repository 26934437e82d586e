/** A rate and when it begins to hold. */
export interface DatedRate {
  /** Milliseconds since the epoch; -Infinity for the first. */
  readonly from: number;
  /** Euro per dollar, decimal, as it was written. */
  readonly rate: string;
}

/** In ascending order of `from`; the first holds from ever. */
export type ExchangeRates = readonly [DatedRate, ...DatedRate[]];

const RATE = /^\d{1,9}(?:\.\d{1,18})?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOST_RATES = 1000;

/**
 * Reads rates as they are configured: `0.92`, or with those to come `0.92,2026-12-01=0.91,2027-01-01=0.9`. A date begins
 * at midnight UTC. Undefined when it is not such a list, when a rate is zero, or when dates are not in order.
 */
export function readExchangeRates(text: string): ExchangeRates | undefined {
  const [first = '', ...others] = text.split(',', MOST_RATES + 1);
  if (!isRate(first) || others.length >= MOST_RATES) return undefined;
  const rates: [DatedRate, ...DatedRate[]] = [{ from: -Infinity, rate: first }];
  for (const other of others) {
    const [date = '', rate = '', ...more] = other.split('=');
    const from = DATE.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
    if (more.length > 0 || !isRate(rate) || !(from > rates.at(-1)!.from)) return undefined;
    // Dates that no month has are read as those of the next.
    if (new Date(from).toISOString().slice(0, 10) !== date) return undefined;
    rates.push({ from, rate });
  }
  return rates;
}

/** The rate in force at a moment, and until when. */
export function rateAt(rates: ExchangeRates, at: number): DatedRate & { readonly until: number } {
  let index = rates.length - 1;
  while (index > 0 && rates[index]!.from > at) index -= 1;
  return { ...rates[index]!, until: rates[index + 1]?.from ?? Infinity };
}

function isRate(text: string): boolean {
  return RATE.test(text) && !/^[0.]*$/.test(text);
}
