import type { Unit, Units, Quantity } from '#/call/units.ts';
import type { NanoEuro } from '#/values/money.ts';
import { BESIDE_TOKENS, inputTokens, NO_USAGE, type Usage } from '#/wire/answer/usage.ts';

/** One kind of token of a `Usage`. */
export type Bucket = Exclude<keyof Usage, 'serviceTier' | (typeof BESIDE_TOKENS)[number]>;

/** Rates of a whole call, by the size of its input. */
export interface PriceTier {
  /** Holds for calls with more input tokens than this, of whatever bucket. The first tier holds for any size. */
  readonly above: number;
  /** Nano-euro per million tokens, over the price's denominator. */
  readonly rates: Readonly<Record<Bucket, bigint>>;
}

/** What one model costs at one moment, exact. Made by `createPrice`. */
export interface Price {
  /** Where it comes from, as the audit row tells it. */
  readonly source: string;
  /** In ascending order of `above`; empty when tokens are not billed. */
  readonly tiers: readonly PriceTier[];
  /**
   * The same for calls in other service tiers than the ordinary one, as `serviceTierOf` names them. A tier that is not
   * here is billed like the ordinary one: no source says what it costs.
   */
  readonly services?: ReadonlyMap<string, readonly PriceTier[]>;
  /** The price was set for whatever service tier a call is made in. */
  readonly anyService?: true;
  /** Nano-euro per million units, over the denominator. */
  readonly units: { readonly [U in Unit]?: bigint };
  readonly denominator: bigint;
  /** The least that is billed of a recording, however short. */
  readonly minimumSeconds?: number;
}

/** Bounds of what a call can use. */
export interface Bounds extends Units {
  /** All input tokens, cached or not. */
  readonly inputTokens?: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens?: number;
  /** Nothing but text is sent: no sound and no picture. */
  readonly textOnly?: boolean;
  /** The service tier that is asked for, `standard` for the ordinary one. Absent: whichever the vendor chooses. */
  readonly serviceTier?: string;
  /** The vendor's faster speed is asked for. */
  readonly fast?: boolean;
  /** It may be served anywhere, as is asked for: nothing is added for a place. */
  readonly anywhere?: boolean;
}

/** Buckets of input that is text, then all of input, then of output. */
const TEXT_BUCKETS = ['input', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const satisfies readonly Bucket[];
export const INPUT_BUCKETS = [
  ...TEXT_BUCKETS,
  'inputAudio',
  'inputImage',
  'cacheReadAudio',
] as const satisfies readonly Bucket[];
export const OUTPUT_BUCKETS = [
  'output',
  'reasoning',
  'outputAudio',
  'outputImage',
] as const satisfies readonly Bucket[];
export const BUCKETS: readonly Bucket[] = [...INPUT_BUCKETS, ...OUTPUT_BUCKETS];
/** The service tier that list prices are for. */
export const STANDARD = 'standard';
export const UNITS = ['pages', 'images', 'calls', 'seconds', ...BESIDE_TOKENS] as const satisfies readonly Unit[];

const MILLION = 1_000_000n;
const NOTHING: Units = {};

/**
 * What a call costs: every bucket and unit at its rate, summed exactly and rounded up once. The same function prices
 * the hold (through `ceiling`) and the settlement. Throws a RangeError on a count that is not a whole, non-negative
 * number: such a usage has no cost, and least of all none. // spec 8
 */
export function cost(price: Price, usage: Usage, units: Units = NOTHING): NanoEuro {
  let sum = 0n;
  const isPlain = usage.serviceTier === undefined && price.tiers.length < 2;
  const tier = isPlain ? price.tiers[0] : tierOf(price, usage);
  if (tier) {
    for (const bucket of BUCKETS) {
      const count = usage[bucket] ?? 0;
      if (count !== 0) sum += charge(tier.rates[bucket], count);
    }
  }
  for (const unit of UNITS) {
    const rate = price.units[unit];
    if (rate !== undefined) sum += charge(rate, billedUnits(price, units, unit));
  }
  // Rounded up: money is never rounded in the caller's favour.
  const divisor = price.denominator * MILLION;
  return (sum + divisor - 1n) / divisor;
}

/**
 * The most a call within these bounds can cost: in every service tier it may be made in and every size it can reach, all
 * input at the dearest input rate and all output at the dearest output rate. No usage within the bounds costs more, and
 * one costs as much.
 */
export function ceiling(price: Price, bounds: Bounds): NanoEuro {
  const { inputTokens: inputs = 0, outputTokens = 0, textOnly = false } = bounds;
  let highest = 0n;
  // An answer that names no tier is billed as an ordinary one, so that one counts whatever is asked for.
  for (const service of [undefined, ...(price.services?.keys() ?? [])]) {
    if (service !== undefined && !mayBeServedIn(service, bounds)) continue;
    const inService = service === undefined ? NO_USAGE : { ...NO_USAGE, serviceTier: service };
    const tiers = service === undefined ? price.tiers : tiersIn(price, service);
    if (tiers.length === 0) {
      const amount = cost(price, inService, bounds);
      if (amount > highest) highest = amount;
    }
    for (const [index, { above, rates }] of tiers.entries()) {
      if (index > 0 && inputs <= above) break;
      // Within this tier, input ends where the next one begins.
      const input = Math.min(inputs, tiers[index + 1]?.above ?? inputs);
      const worst: Usage = {
        ...inService,
        [dearest(rates, textOnly ? TEXT_BUCKETS : INPUT_BUCKETS)]: input,
        [dearest(rates, OUTPUT_BUCKETS)]: outputTokens,
      };
      const amount = cost(price, worst, bounds);
      if (amount > highest) highest = amount;
    }
  }
  return highest;
}

/** Whether an answer may name this tier: a vendor chooses the tier and the place, never the speed. */
function mayBeServedIn(service: string, { serviceTier, fast = false, anywhere = false }: Bounds): boolean {
  const [, tier = '', isFast, isThere] = MODES.exec(service) ?? [];
  // One vendor sells its speed as a tier, and calls it another in its answer.
  if (serviceTier === 'fast' && (service === 'fast' || service === 'priority')) return true;
  if ((isFast !== undefined && !fast) || (isThere !== undefined && anywhere)) return false;
  return tier === '' || serviceTier === undefined || tier === serviceTier;
}

/** A service tier, and the modes of `tierInModes`. */
const MODES = /^(.*?)(?:(?:^|_)(fast))?(?:(?:^|_)(us))?$/;

/** Rates of a service tier by size of input; those of the ordinary one where the price does not know it. */
export function tiersIn({ tiers, services }: Price, service: string | undefined): readonly PriceTier[] {
  if (service === undefined || !services) return tiers;
  // A tier without a price is billed at the list price plus the surcharges of its modes.
  return services.get(service) ?? services.get(service.replace(MODES, modesAlone)) ?? tiers;
}

function modesAlone(_service: string, _tier: string, ...modes: readonly unknown[]): string {
  return modes.slice(0, 2).filter(Boolean).join('_');
}

/** The tier a usage is billed in; undefined when the price does not bill tokens. */
export function tierOf(price: Price, usage: Usage): PriceTier | undefined {
  const tiers = usage.serviceTier === undefined ? price.tiers : tiersIn(price, usage.serviceTier);
  let tier = tiers[0];
  if (tiers.length < 2) return tier;
  const input = inputTokens(usage);
  for (let index = 1; index < tiers.length && input > tiers[index]!.above; index += 1) tier = tiers[index];
  return tier;
}

/** Service tiers that no vendor bills above its list prices. */
const CHEAPER: ReadonlySet<string> = new Set([STANDARD, 'flex', 'batch', 'offpeak']);

/** Whether calls that ask for a service tier, or for speed, can be priced: what may be dearer than the list must be known. */
export function coversService(price: Price, { serviceTier: service, fast = false }: Bounds): boolean {
  if (fast && !price.anyService && price.tiers.length > 0 && price.services?.has('fast') !== true) return false;
  if (service === undefined || CHEAPER.has(service) || price.anyService || price.tiers.length === 0) return true;
  return price.services?.has(service) === true;
}

/** How much of a unit is billed: a call is one call, and a recording lasts no less than the price's minimum. */
export function billedUnits(price: Price, units: Units, unit: Unit): number {
  const count = units[unit] ?? (unit === 'calls' ? 1 : 0);
  return unit === 'seconds' && count > 0 ? Math.max(count, price.minimumSeconds ?? 0) : count;
}

/** True when the price says what this quantity costs. A price per call alone covers whatever the call does. */
export function covers(price: Price, quantity: Quantity): boolean {
  const { tiers, units } = price;
  if (quantity === 'tokens' && tiers.length > 0) return true;
  if (quantity !== 'tokens' && units[quantity] !== undefined) return true;
  return tiers.length === 0 && units.calls !== undefined;
}

function charge(rate: bigint, count: number): bigint {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`not a count: ${count}`);
  return rate * BigInt(count);
}

function dearest<B extends Bucket>(rates: PriceTier['rates'], buckets: readonly [B, ...B[]]): B {
  let best = buckets[0];
  for (const bucket of buckets) if (rates[bucket] > rates[best]) best = bucket;
  return best;
}
