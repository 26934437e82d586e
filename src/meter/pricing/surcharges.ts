import { fraction, times, type Fraction } from './fraction.ts';
import type { PriceSheet, SheetTier } from './price-sheet.ts';

/** Known facts about where a call is processed. */
export interface Place {
  /** Of the provider: what it stands for where nothing says its vendor. */
  readonly slug: string;
  readonly vendor?: string | undefined;
  readonly url?: string | undefined;
  readonly region?: string | undefined;
}

/** What a vendor adds to its list prices for tokens, of whatever kind. */
interface Surcharge {
  /** Where it was read, and when. */
  readonly source: string;
  readonly date: string;
  readonly vendor: string;
  readonly models: RegExp;
  readonly factor: Fraction;
}

/** For being asked at an address that keeps a call in a place. */
interface PlaceSurcharge extends Surcharge {
  isThere(place: Place): boolean;
}

/** For being served in a way that the answer names: how it is called among service tiers. */
interface ModeSurcharge extends Surcharge {
  readonly mode: 'fast' | 'us';
}

const TENTH: Fraction = { numerator: 11n, denominator: 10n };
const QUARTER: Fraction = { numerator: 5n, denominator: 4n };
const TWICE: Fraction = { numerator: 2n, denominator: 1n };

const hostIs =
  (pattern: RegExp) =>
  ({ url }: Place): boolean =>
    url !== undefined && pattern.test(new URL(url).hostname);

/** Bedrock is not here: its lists have regional and global models apart. */
const OF_PLACES: readonly PlaceSurcharge[] = [
  {
    source: 'platform.claude.com/docs/en/about-claude/pricing, third-party platforms',
    date: '2026-11-24',
    vendor: 'vertex',
    models: /claude-(?:(?:opus|sonnet|haiku)-(?:4-[5-9]|[5-9])|fable|mythos)/,
    factor: TENTH,
    isThere: ({ region }) => region !== undefined && region !== 'global',
  },
  {
    // Models released since 2026-03-05.
    source: 'developers.openai.com/api/docs/pricing, regional processing',
    date: '2026-11-24',
    vendor: 'openai',
    models: /^gpt-(?:5\.[4-9]|[6-9])/,
    factor: TENTH,
    isThere: hostIs(/^[a-z]{2}\.api\.openai\.com$/),
  },
  {
    source: 'docs.together.ai/docs/serverless/geo-specific-inference',
    date: '2026-11-24',
    vendor: 'together',
    models: /./,
    factor: QUARTER,
    isThere: hostIs(/^[a-z]{2}-api\.together\.(?:ai|xyz)$/),
  },
];

const OF_MODES: readonly ModeSurcharge[] = [
  {
    source: 'platform.claude.com/docs/en/about-claude/pricing, data residency',
    date: '2026-11-24',
    vendor: 'anthropic',
    models: /claude-(?:(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])|fable|mythos)/,
    factor: TENTH,
    mode: 'us',
  },
  {
    source: 'platform.claude.com/docs/en/about-claude/pricing, fast mode',
    date: '2026-11-24',
    vendor: 'anthropic',
    models: /claude-opus-(?:4-8|5|5-5)(?:-\d{8})?$/,
    factor: TWICE,
    mode: 'fast',
  },
];

/** Surcharges on the prices of one model at one place. */
export interface Surcharges {
  /** Tells apart what differs. */
  readonly key: string;
  apply(sheet: PriceSheet): PriceSheet;
}

function vendorOf({ vendor, slug }: Place): string {
  return vendor ?? slug;
}

const NONE: Surcharges = { key: '', apply: (sheet) => sheet };

/**
 * A session of 1 GB; larger machines cost as many. Billed by the minute since 2026-06-02, which no answer tells: the
 * whole session of twenty minutes is.
 */
const CONTAINER = {
  source: 'developers.openai.com/api/docs/pricing, containers',
  vendor: 'openai',
  units: { containers: fraction('0.03') },
};

/** Units that a vendor bills besides the tokens of any model, in dollars, if a list lacks them. */
export function unitsBeside(sheet: PriceSheet, place: Place, dollar: Fraction): PriceSheet {
  if (vendorOf(place) !== CONTAINER.vendor || sheet.tiers.length === 0 || sheet.units?.containers) return sheet;
  return { ...sheet, units: { ...sheet.units, containers: times(CONTAINER.units.containers, dollar) } };
}

/** The surcharges of a model asked for there. Sheets must have list prices. */
export function surchargesOf(place: Place, model: string): Surcharges {
  const isOf = (one: Surcharge): boolean => one.vendor === vendorOf(place) && one.models.test(model);
  const places = OF_PLACES.filter((one) => isOf(one) && one.isThere(place));
  const modes = OF_MODES.filter(isOf);
  if (places.length === 0 && modes.length === 0) return NONE;
  const named = places.map(({ source, date }) => `; with ${date} ${source}`).join('');
  return {
    key: [...places, ...modes].map(({ source }) => source).join(),
    apply(sheet) {
      const factor = places.reduce((product, one) => times(product, one.factor), ONE);
      const tiers = raised(sheet.tiers, factor);
      const services = new Map([...(sheet.services ?? [])].map(([name, own]) => [name, raised(own, factor)] as const));
      return { ...sheet, source: sheet.source + named, ...inModes(tiers, services, modes) };
    },
  };
}

const ONE: Fraction = { numerator: 1n, denominator: 1n };

/** Every tier in every mode: `us`, `batch_us`, `fast_us`. Modes stack, in the order in which answers are named by them. */
function inModes(
  tiers: readonly SheetTier[],
  services: ReadonlyMap<string, readonly SheetTier[]>,
  modes: readonly ModeSurcharge[],
): Pick<PriceSheet, 'tiers' | 'services'> {
  const all = new Map(services);
  for (const mode of ['fast', 'us'] as const) {
    const surcharge = modes.find((one) => one.mode === mode);
    if (!surcharge) continue;
    for (const [name, own] of [['', tiers] as const, ...all]) {
      all.set(name === '' ? mode : `${name}_${mode}`, raised(own, surcharge.factor));
    }
  }
  return all.size > 0 ? { tiers, services: all } : { tiers };
}

function raised(tiers: readonly SheetTier[], factor: Fraction): readonly SheetTier[] {
  if (factor.numerator === factor.denominator) return tiers;
  return tiers.map(({ above, perMillion }) => {
    const rates = Object.entries(perMillion).map(([bucket, amount]) => [bucket, times(amount, factor)]);
    return { above, perMillion: Object.fromEntries(rates) as SheetTier['perMillion'] };
  });
}
