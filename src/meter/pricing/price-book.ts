import { LRUCache } from 'lru-cache';
import { rateAt, readExchangeRates, type ExchangeRates } from '#/values/exchange-rates.ts';
import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { OrganizationConfig, PriceConfig, ProviderConfig } from '#/config/snapshot.ts';
import { fraction } from './fraction.ts';
import {
  exchangeRate,
  genaiModels,
  genaiProviderId,
  LONGEST_MODEL_ID,
  matchGenaiModel,
  minimumSecondsOf,
  readGenaiPrice,
  type DatedSheet,
  type ExchangeRate,
} from './genai-prices.ts';
import { olderModels } from './model-lines.ts';
import { ownModels, ownPrice } from './own-prices.ts';
import { periodAt, sheetOf } from './price-list.ts';
import { overridePrice, rowsInForce } from './price-override.ts';
import { createPrice } from './price-sheet.ts';
import { listedAt, type PriceSnapshot } from './price-snapshot.ts';
import { covers, type Price } from './price.ts';
import type { Quantity } from '#/call/units.ts';
import { surchargesOf, unitsBeside } from './surcharges.ts';

/** What the price book needs to know of a provider. */
export type PricedProvider = Pick<ProviderConfig, 'slug'> &
  Partial<Pick<ProviderConfig, 'vendor' | 'protocol' | 'url' | 'region'>>;

export interface PriceBook {
  /**
   * The price of a provider's model at a moment (milliseconds since the epoch), for calls that are billed by one of
   * `quantities`. Undefined when none is known: the call must be refused, for an unknown price is never free. // spec 8
   * `estimates`: a model that has none has that of the nearest older model of its line.
   */
  find(
    organization: Pick<OrganizationConfig, 'prices'>,
    provider: PricedProvider,
    model: string,
    at: number,
    quantities?: readonly Quantity[],
    estimates?: boolean,
  ): Price | undefined;
  /** Models of a provider that have a price from the lists, by their ids; some may no longer be available. */
  models(provider: PricedProvider): readonly string[];
}

/** A price and when it holds: `from` is inclusive, `until` exclusive. */
interface DatedPrice {
  readonly price: Price | undefined;
  readonly from: number;
  readonly until: number;
}

const TOKENS: readonly Quantity[] = ['tokens'];
const MOST_CACHED = 4096;

/** Sources of prices besides the organization's own. */
export interface PriceBookOptions {
  /** Euro per dollar: `0.92`, or with rates to come `0.92,2026-12-01=0.91`. */
  readonly usdToEur: string;
  /** The snapshot in force; without one the bundled data of genai-prices is. */
  readonly snapshot?: () => PriceSnapshot | undefined;
}

/**
 * A price book: an organization's PriceBook rows first (`<provider>/<model>`, then `<provider>/*`), then the gateway's
 * own list, then the snapshot or the bundled data, in euro at the rate in force at the call's start. A row in force
 * replaces all later sources. Throws a RangeError for invalid rates.
 */
export function createPriceBook({ usdToEur, snapshot = () => undefined }: PriceBookOptions): PriceBook {
  const rates = readExchangeRates(usdToEur);
  if (!rates) throw new RangeError('exchange rates must be positive decimals, sorted by date');
  const builtIn = createBuiltIn(rates, snapshot);
  return {
    models: (provider) => listedModels(listId(provider)).filter((model) => isCallable(provider, model)),
    find(organization, provider, model, at, quantities = TOKENS, estimates = false) {
      const { prices } = organization;
      const id = `${provider.protocol ?? ''} ${provider.slug}/${model}`;
      const known = OWN_PRICES.get(prices)?.get(id);
      const isKnown = known && at >= known.from && at < known.until;
      const own = isKnown ? known.price : prices.size > 0 ? ownPriceOf(prices, id, provider, model, at) : undefined;
      const price =
        own ??
        (provider.slug === LOCAL_PROVIDER.slug
          ? localPrice(model)
          : isToolServer(provider)
            ? TOOL_PRICE
            : (builtIn(provider, model, at) ??
              freePrice(provider, model) ??
              (estimates ? estimate(provider, model, (older) => builtIn(provider, older, at)) : undefined)));
      if (price) for (const quantity of quantities) if (covers(price, quantity)) return price;
      return undefined;
    },
  };
}

/** A list of rows belongs to one pattern of a snapshot and never changes: its prices live as long as it does. */
const OVERRIDES = new WeakMap<readonly PriceConfig[], Map<boolean, DatedPrice>>();

/** What an organization's own rows set for its models, by the protocol and name of each: a map of rows never changes. */
const OWN_PRICES = new WeakMap<OrganizationConfig['prices'], LRUCache<string, DatedPrice>>();

/** The price that an organization's own rows set, the model's before those of all models of the provider. */
function ownPriceOf(
  prices: OrganizationConfig['prices'],
  id: string,
  provider: PricedProvider,
  model: string,
  at: number,
): Price | undefined {
  const found = overridingPrice(prices, provider, model, at);
  if (model.length > LONGEST_MODEL_ID) return found.price;
  let models = OWN_PRICES.get(prices);
  if (!models) OWN_PRICES.set(prices, (models = new LRUCache({ max: MOST_CACHED })));
  models.set(id, found);
  return found.price;
}

function overridingPrice(
  prices: OrganizationConfig['prices'],
  provider: PricedProvider,
  model: string,
  at: number,
): DatedPrice {
  const family = isAnthropicFamily(provider, model);
  let from = -Infinity;
  let until = Infinity;
  for (const pattern of patternsOf(provider, model)) {
    const rows = prices.get(pattern);
    if (!rows) continue;
    const known = OVERRIDES.get(rows)?.get(family);
    const dated = known && holds(known, at) ? known : priceOfRows(rows, pattern, family, at);
    from = Math.max(from, dated.from);
    until = Math.min(until, dated.until);
    if (dated.price) return { price: dated.price, from, until };
  }
  return { price: undefined, from, until };
}

/** Rows that may set a price, the narrowest first. */
function patternsOf(provider: PricedProvider, model: string): readonly string[] {
  const own = [`${provider.slug}/${model}`, `${provider.slug}/*`];
  return isToolServer(provider) ? [...own, 'mcp/*'] : own;
}

/** Tools of MCP servers are named `mcp/<server>/<tool>`; no provider has that slug. */
function isToolServer({ slug }: PricedProvider): boolean {
  return slug.startsWith('mcp/');
}

function priceOfRows(rows: readonly PriceConfig[], pattern: string, family: boolean, at: number): DatedPrice {
  const inForce = rowsInForce(rows, at);
  const price = inForce && overridePrice(inForce, pattern, family);
  const starts = rows.map(({ effectiveFrom }) => effectiveFrom);
  const from = Math.max(-Infinity, ...starts.filter((start) => start <= at));
  const until = Math.min(Infinity, ...starts.filter((start) => start > at));
  const dated = { price, from, until };
  const byFamily = OVERRIDES.get(rows) ?? new Map<boolean, DatedPrice>();
  OVERRIDES.set(rows, byFamily.set(family, dated));
  return dated;
}

/** Prices from the snapshot in force, or else from the bundled data. */
function createBuiltIn(rates: ExchangeRates, snapshot: () => PriceSnapshot | undefined) {
  const ids = new WeakMap<PricedProvider, { readonly id: string | undefined }>();
  const cached = new LRUCache<string, DatedPrice>({ max: MOST_CACHED });
  let cachedFor = snapshot();

  function idOf(provider: PricedProvider): string | undefined {
    let known = ids.get(provider);
    if (!known) ids.set(provider, (known = { id: listId(provider) }));
    return known.id;
  }

  return (provider: PricedProvider, model: string, at: number): Price | undefined => {
    const id = idOf(provider);
    if (id === undefined || model.length > LONGEST_MODEL_ID) return undefined;
    const inForce = snapshot();
    if (inForce !== cachedFor) {
      cached.clear();
      cachedFor = inForce;
    }
    const family = isAnthropicFamily(provider, model);
    const surcharges = surchargesOf(provider, model);
    const key = `${family ? 'a' : 'o'} ${id}/${model} ${surcharges.key}`;
    const known = cached.get(key);
    if (known && holds(known, at)) return known.price;
    const rate = rateAt(rates, at);
    const listed = inForce
      ? readSnapshotPrice(inForce, id, model, at, exchangeRate(rate))
      : readGenaiPrice(id, model, at, exchangeRate(rate));
    const own = readOwnPrice(id, model, at, exchangeRate(rate), inForce === undefined);
    const found = listed.sheet && !own?.corrects ? listed : (own ?? listed);
    const price =
      found.sheet &&
      createPrice(surcharges.apply(unitsBeside(found.sheet, provider, exchangeRate(rate).nanoEuro)), family);
    cached.set(key, {
      price,
      from: Math.max(found.from, rate.from),
      until: Math.min(found.until, rate.until),
    });
    return price;
  };
}

/** What lists call the vendor of a provider. A server of one's own is in no list: only its owner knows what it costs. */
function listId({ slug, vendor }: PricedProvider): string | undefined {
  return vendor === 'custom' ? undefined : genaiProviderId(vendor ?? slug);
}

/**
 * Whether a name of the data is one that the vendor's API takes: some stand for several models, or for those of a host.
 * Deployments have names of their own.
 */
function isCallable({ vendor }: PricedProvider, model: string): boolean {
  if (vendor === 'azure') return false;
  if (vendor === 'gemini' && !model.startsWith('gem')) return false;
  return vendor === 'bedrock' ? !model.startsWith('regional.') : !/:|-$/.test(model);
}

function listedModels(id: string | undefined): readonly string[] {
  return id === undefined ? [] : [...new Set([...genaiModels(id), ...ownModels(id)])];
}

/** The price of the nearest older model of the same line that has one. */
function estimate(
  provider: PricedProvider,
  model: string,
  priceOf: (older: string) => Price | undefined,
): Price | undefined {
  if (model.length > LONGEST_MODEL_ID) return undefined;
  for (const older of olderModels(model, listedModels(listId(provider)))) {
    const price = priceOf(older);
    if (price) return { ...price, source: `estimated: ${price.source}` };
  }
  return undefined;
}

/** Reads what a model costs from a snapshot: under its own name, or under that of the model it is another name for. */
function readSnapshotPrice(
  snapshot: PriceSnapshot,
  id: string,
  model: string,
  at: number,
  rate: ExchangeRate,
): DatedSheet {
  const short = id === 'google' ? model.slice(model.lastIndexOf('/') + 1) : model;
  const alias = matchGenaiModel(id, short);
  const names = [`${id}/${short}`, ...(alias ? [`${id}/${alias.id}`] : [])];
  const listed = listedAt(snapshot, names, at);
  if (!listed) return { sheet: undefined, from: -Infinity, until: Infinity };
  const { name, period, from, until } = listed;
  const date = new Date(snapshot.builtAt).toISOString().slice(0, 10);
  const sheet = period && sheetOf(period.usd, rate.nanoEuro, `prices ${date} ${snapshot.id} ${name} ${rate.text}`);
  const minimumSeconds = minimumSecondsOf(id, name);
  return { sheet: sheet && { ...sheet, ...(minimumSeconds !== undefined && { minimumSeconds }) }, from, until };
}

/** What lists do not have yet, or, where they are the bundled ones, have otherwise than the vendor. */
function readOwnPrice(
  id: string,
  model: string,
  at: number,
  rate: ExchangeRate,
  isBundled: boolean,
): (DatedSheet & { readonly corrects: boolean }) | undefined {
  const own = ownPrice(id, model);
  if (!own) return undefined;
  const corrects = own.corrects && isBundled;
  const { period, from, until } = periodAt(own.periods, at);
  const sheet = period && sheetOf(period.usd, rate.nanoEuro, `${own.from} ${own.name} ${rate.text}`);
  return { sheet, from, until, corrects };
}

/** Models of this family bill an hour of prompt cache at twice the input rate, wherever they are hosted. */
function isAnthropicFamily(provider: PricedProvider, model: string): boolean {
  return provider.protocol === 'messages' || CLAUDE.test(model);
}

const CLAUDE = /claude/i;

/** 0.01 EUR per million input tokens, output free. // spec 4.4.9 */
const TYPED_PRICE: Price = createPrice(
  {
    source: 'gatewarden typed decisions',
    tiers: [{ above: 0, perMillion: { input: fraction('10000000'), output: fraction('0') } }],
  },
  false,
);

/** 0.001 EUR a page of a document, or a picture: to be read, or to be anonymized. */
const DOCUMENT_PRICE: Price = createPrice(
  { source: 'gatewarden documents', tiers: [], units: { pages: fraction('1000000'), images: fraction('1000000') } },
  false,
);

/** A call of a tool, where no PriceBook has a price for it. */
const TOOL_PRICE: Price = createPrice(
  { source: 'gatewarden tools', tiers: [], units: { calls: fraction('0') } },
  false,
);

/** Services that a vendor offers for free, by its own statement. */
const FREE: Price = createPrice(
  { source: 'free of charge', tiers: [{ above: 0, perMillion: { input: fraction('0') } }] },
  false,
);

function freePrice({ vendor }: PricedProvider, model: string): Price | undefined {
  return vendor === 'openai' && /^(?:omni|text)-moderation-/.test(model) ? FREE : undefined;
}

function localPrice(model: string): Price | undefined {
  if (model === 'ocr' || model === 'anonymize') return DOCUMENT_PRICE;
  return model === 'typed' || model === 'typed/router' ? TYPED_PRICE : undefined;
}

function holds({ from, until }: DatedPrice, at: number): boolean {
  return at >= from && at < until;
}
