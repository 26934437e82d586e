import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import type { DatedRate } from '#/values/exchange-rates.ts';
import { VENDOR_IDS, VENDORS } from '#/vendors/list.ts';
import { fraction, times, type Fraction } from './fraction.ts';
import { tiersOf, unitsOf } from './genai-rates.ts';
import type { PriceSheet } from './price-sheet.ts';

/** The version of the bundled data, as sources name it. A test holds it to the installed package. */
export const GENAI_PRICES_VERSION = '0.1.8';

/** A price sheet and when it holds: `from` is inclusive, `until` exclusive, milliseconds since the epoch. */
export interface DatedSheet {
  /** Undefined: the data does not say what the model costs. */
  readonly sheet: PriceSheet | undefined;
  readonly from: number;
  readonly until: number;
}

/** Vendors, and slugs of providers that are no vendor's id -> the data's provider ids, where they differ. */
const PROVIDER_IDS: ReadonlyMap<string, string> = new Map([
  ...VENDOR_IDS.map((id) => [id, VENDORS[id].prices.bundled ?? id] as const),
  ['azure-openai', 'azure'],
  ['foundry', 'azure'],
  ['moonshot', 'moonshotai'],
  ['ovh', 'ovhcloud'],
  ['voyage', 'voyageai'],
]);

/** What a US dollar is in nano-euro, and the rate as sources name it. */
export interface ExchangeRate {
  /** `@0.92`, or `@0.91 of 2026-12-01`. */
  readonly text: string;
  readonly nanoEuro: Fraction;
}

/** A configured rate. Throws a RangeError on anything but a positive decimal: at zero all were free. */
export function exchangeRate({ rate: usdToEur, from }: DatedRate): ExchangeRate {
  const rate = fraction(usdToEur);
  if (rate.numerator === 0n) throw new RangeError('an exchange rate must be positive');
  const since = Number.isFinite(from) ? ` of ${new Date(from).toISOString().slice(0, 10)}` : '';
  return { text: `@${usdToEur}${since}`, nanoEuro: times(rate, { numerator: 1_000_000_000n, denominator: 1n }) };
}

const ALWAYS = { from: -Infinity, until: Infinity };
/** Longer names are no model's: they are not looked up. */
export const LONGEST_MODEL_ID = 200;
/**
 * The data's id for a vendor of ours; the vendor's own where the data does not know it. Names must match in full: the
 * data's own matching takes any name that contains `openai` for that vendor.
 */
export function genaiProviderId(vendor: string): string {
  return PROVIDER_IDS.get(vendor) ?? vendor;
}

/** Whether the data knows a provider by exactly this id. */
function isKnown(providerId: string): boolean {
  return findProvider({ providerId })?.id === providerId;
}

/**
 * Reads what a model costs at a moment from the data, in nano-euro at this rate. The data's own code matches the model
 * and chooses among dated prices; rates are read from what it chose, because its sums are floating point.
 */
export function readGenaiPrice(providerId: string, model: string, at: number, rate: ExchangeRate): DatedSheet {
  if (!isKnown(providerId)) return { sheet: undefined, ...ALWAYS };
  const id = providerId === 'google' ? model.slice(model.lastIndexOf('/') + 1) : model;
  const match = calcPrice({}, id, { providerId, timestamp: new Date(at) });
  if (!match || isOtherVersion(id, match.model)) return { sheet: undefined, ...ALWAYS };
  const period = periodOf(match.model.prices, at);
  const tiers = tiersOf(match.model_price, rate.nanoEuro);
  const units = unitsOf(match.model_price, rate.nanoEuro);
  if (tiers.length === 0 && Object.keys(units).length === 0) return { sheet: undefined, ...period };
  const source = `genai-prices ${GENAI_PRICES_VERSION} ${match.provider.id}/${match.model.id} ${rate.text}`;
  const minimumSeconds = minimumSecondsOf(providerId, match.model.id);
  return { sheet: { source, tiers, units, ...(minimumSeconds !== undefined && { minimumSeconds }) }, ...period };
}

/** Ids of the models that the data has of a provider. */
export function genaiModels(providerId: string): readonly string[] {
  const models = findProvider({ providerId })?.models ?? [];
  return isKnown(providerId) ? models.filter(({ deprecated }) => deprecated !== true).map(({ id }) => id) : [];
}

/** The model of the data that a name stands for. */
export function matchGenaiModel(providerId: string, model: string): ModelInfo | undefined {
  if (model.length > LONGEST_MODEL_ID || !isKnown(providerId)) return undefined;
  const id = providerId === 'google' ? model.slice(model.lastIndexOf('/') + 1) : model;
  const match = calcPrice({}, id, { providerId });
  return match && !isOtherVersion(id, match.model) ? match.model : undefined;
}

/** The least that is billed of a recording, where a vendor has such a least. */
export function minimumSecondsOf(providerId: string, model: string): number | undefined {
  return providerId === 'groq' && /whisper/.test(model) ? 10 : undefined;
}

/** How long the current price stays valid. Daily windows are checked again each second. */
function periodOf(prices: ModelInfo['prices'], at: number): { readonly from: number; readonly until: number } {
  let { from, until } = ALWAYS;
  if (!Array.isArray(prices)) return { from, until };
  for (const { constraint } of prices) {
    if (constraint === undefined) continue;
    if (constraint.type === 'time_of_date') {
      const second = Math.floor(at / 1000) * 1000;
      [from, until] = [Math.max(from, second), Math.min(until, second + 1000)];
    } else {
      const start = Date.parse(constraint.start_date);
      if (start <= at) from = Math.max(from, start);
      else until = Math.min(until, start);
    }
  }
  return { from, until };
}

/**
 * The data matches many models by the beginning of their names, so that a successor (`claude-sonnet-5-5`) is found as
 * its predecessor (`claude-sonnet-5`). A match that continues with a version is no match, unless the data spells it out.
 */
function isOtherVersion(model: string, match: ModelInfo): boolean {
  const name = model.toLowerCase();
  const core = match.id
    .toLowerCase()
    .replace(/^(?:global|regional)\./, '')
    .replace(/-v\d+(?::\d+)?$/, '');
  const start = name.indexOf(core);
  return start >= 0 && VERSION.test(name.slice(start + core.length)) && !spellsOut(match.match, name);
}

/** A number up to 99 without leading zeros that is not the month of a date. */
const VERSION = /^[-.](?!1[0-2]-\d{2})[1-9]\d?(?!\d)/;

function spellsOut(logic: ModelInfo['match'], name: string): boolean {
  if ('or' in logic) return logic.or.some((inner) => spellsOut(inner, name));
  if ('and' in logic) return logic.and.some((inner) => spellsOut(inner, name));
  return 'equals' in logic && logic.equals.toLowerCase() === name;
}
