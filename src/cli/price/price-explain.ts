import type { OrganizationConfig } from '#/config/snapshot.ts';
import { formatEuro } from '#/values/money.ts';
import { createPriceBook, type PriceBookOptions, type PricedProvider } from '#/meter/pricing/price-book.ts';
import {
  billedUnits,
  ceiling,
  cost,
  INPUT_BUCKETS,
  OUTPUT_BUCKETS,
  tierOf,
  tiersIn,
  UNITS,
  type Price,
} from '#/meter/pricing/price.ts';
import type { Quantity, Units } from '#/call/units.ts';
import { inputTokens, NO_USAGE, outputTokens, totalTokens, type Usage } from '#/wire/answer/usage.ts';

/** A call to explain the price of. */
export interface PriceQuestion extends PriceBookOptions {
  readonly provider: PricedProvider;
  /** Model id without the provider. */
  readonly model: string;
  /** Tokens by bucket, absent buckets are empty; and the service tier. */
  readonly usage?: Partial<Usage>;
  readonly units?: Units;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Prices of the organization that override the built-in ones. */
  readonly prices?: OrganizationConfig['prices'];
}

/**
 * Writes how a call would be priced, bucket by bucket, with the source of the price. Returns the exit status: 0, 1 when
 * no price is known and the call would be refused, 2 when a count is not a whole, non-negative number.
 */
export function priceExplain(question: PriceQuestion, write: (line: string) => void): number {
  const { provider, model, at, units = {} } = question;
  const usage: Usage = { ...NO_USAGE, ...question.usage };
  const { serviceTier, ...tokens } = usage;
  const bad = Object.entries<number>({ ...tokens, ...units }).find(([, count]) => !isCount(count));
  if (bad) {
    write(`${bad[0]} is not a whole, non-negative number: ${bad[1]}`);
    return 2;
  }
  const price = priceOf(question);
  write(`${provider.slug}/${model} at ${new Date(at).toISOString()}`);
  if (!price) {
    write('no price is known: the call is refused (price_unknown)');
    return 1;
  }
  write(`price from ${price.source}`);
  for (const line of billLines(price, usage, units)) write(line);
  const bounds = {
    ...units,
    inputTokens: inputTokens(usage),
    outputTokens: outputTokens(usage),
    ...(serviceTier !== undefined && { serviceTier }),
  };
  write(`total, rounded up once: ${formatEuro(cost(price, usage, units))} EUR`);
  write(`held for as many tokens: ${formatEuro(ceiling(price, bounds))} EUR`);
  return 0;
}

/** The price of a question; undefined when none is known for what it is billed by. */
export function priceOf({
  provider,
  model,
  usage,
  units = {},
  at,
  prices,
  ...options
}: PriceQuestion): Price | undefined {
  const used = UNITS.filter((unit) => (units[unit] ?? 0) > 0);
  const hasTokens = totalTokens({ ...NO_USAGE, ...usage }) > 0;
  const asked: readonly Quantity[] = used.length > 0 && !hasTokens ? used : ['tokens', ...used];
  return createPriceBook(options).find({ prices: prices ?? new Map() }, provider, model, at, asked);
}

const TOKENS = [...INPUT_BUCKETS, ...OUTPUT_BUCKETS] as const;
/** Shown even when they are zero. */
const ALWAYS: ReadonlySet<string> = new Set(Object.keys(NO_USAGE));
const MILLION = 1_000_000n;

/** A line for each bucket and unit: count × rate = amount. */
export function billLines(price: Price, usage: Usage, units: Units): readonly string[] {
  return [...tokenLines(price, usage), ...unitLines(price, units)];
}

function tokenLines(price: Price, usage: Usage): readonly string[] {
  const tier = tierOf(price, usage);
  if (!tier) return ['tokens are not billed'];
  const { serviceTier } = usage;
  const service =
    serviceTier === undefined
      ? []
      : [
          price.services?.has(serviceTier)
            ? `rates of the service tier ${serviceTier}`
            : `no rates are known for the service tier ${serviceTier}: using those of the ordinary tier`,
        ];
  const size =
    tiersIn(price, serviceTier).length === 1
      ? []
      : [`rates for ${tier.above === 0 ? 'any' : `more than ${tier.above}`} input tokens`];
  const told = TOKENS.filter((bucket) => ALWAYS.has(bucket) || (usage[bucket] ?? 0) > 0);
  const lines = told.map((bucket) => amountLine(price, bucket, usage[bucket] ?? 0, tier.rates[bucket], MILLION));
  return [...service, ...size, ...lines];
}

function unitLines(price: Price, units: Units): readonly string[] {
  return UNITS.flatMap((unit) => {
    const rate = price.units[unit];
    const count = billedUnits(price, units, unit);
    if (rate !== undefined) return [amountLine(price, unit, count, rate, 1n)];
    return count > 0 && unit !== 'calls' ? [`${unit.padEnd(12)}  ${count} not billed by this price`] : [];
  });
}

/** `rate` is per million; it is shown per `per`. */
function amountLine({ denominator }: Price, name: string, count: number, rate: bigint, per: bigint): string {
  const shown = exactEuro(rate * per, denominator * MILLION);
  const amount = exactEuro(rate * BigInt(count), denominator * MILLION);
  return `${name.padEnd(12)}  ${count} x ${shown} EUR${per === MILLION ? ' per million' : ''} = ${amount} EUR`;
}

/** Nano-euro as decimal euro, cut after 18 digits and marked where it goes on. */
function exactEuro(numerator: bigint, denominator: bigint): string {
  const atto = (numerator * 1_000_000_000n) / denominator;
  const more = (numerator * 1_000_000_000n) % denominator === 0n ? '' : '…';
  const digits = atto.toString().padStart(19, '0');
  const fraction = more ? digits.slice(-18) : digits.slice(-18).replace(/(?<!0)0+$/, '');
  return `${digits.slice(0, -18)}${fraction && `.${fraction}`}${more}`;
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0;
}
