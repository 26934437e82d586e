import { createHash } from 'node:crypto';
import { VENDOR_IDS, VENDORS } from '#/vendors/list.ts';
import type { PriceNames } from '#/vendors/vendor.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { fraction, times, type Fraction } from './fraction.ts';
import { quantityOf } from './price-list.ts';
import type { PriceSource } from './price-merge.ts';
import type { Bucket } from './price.ts';
import type { Unit } from '#/call/units.ts';

/** What a file says, by `<provider>/<model>`. */
type Listed = ReadonlyMap<string, ReadonlyMap<string, Fraction>>;

/** Lists of others that an operator fetches. */
export const FILE_SOURCES = ['litellm', 'models-dev'] as const;

/** One of `FILE_SOURCES`. */
export type FileSource = (typeof FILE_SOURCES)[number];

/** A file in the form of one of these lists. Throws a SyntaxError when it is not JSON of such a form. */
export function fileSource(name: FileSource, text: string): PriceSource {
  const body: unknown = JSON.parse(text);
  if (!isObject(body)) throw new SyntaxError('it is not a JSON object');
  const listed = name === 'litellm' ? readLitellm(body) : readModelsDev(body);
  if (listed.size === 0) throw new SyntaxError(`it has none of the known models, so it is not a price list of ${name}`);
  return {
    name,
    revision: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    names: [...listed.keys()],
    find(provider, model) {
      const usd = listed.get(`${provider}/${model}`);
      return usd && [{ usd }];
    },
  };
}

/** Vendors by what prices are listed under. */
const OURS: readonly (readonly [ours: string, PriceNames])[] = VENDOR_IDS.map((id) => {
  const { prices } = VENDORS[id];
  return [prices.bundled ?? id, prices];
});

/** Providers of LiteLLM's list with our names for them, and the prefix of their models. Earlier rows win. */
const LITELLM: readonly (readonly [provider: string, ours: string, prefix: string])[] = [
  ...OURS.flatMap(([ours, { litellm }]) => litellm.map(([id, prefix]) => [id, ours, prefix] as const)),
  ['voyage', 'voyageai', 'voyage/'],
  ['moonshot', 'moonshotai', 'moonshot/'],
  ...['cohere', 'novita', 'perplexity'].map((id) => [id, id, `${id}/`] as const),
];

const LITELLM_BUCKETS: Readonly<Record<string, Bucket>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  output_cost_per_reasoning_token: 'reasoning',
  cache_read_input_token_cost: 'cacheRead',
  cache_creation_input_token_cost: 'cacheWrite5m',
  cache_creation_input_token_cost_above_1hr: 'cacheWrite1h',
  // The longer of the two lifetimes of its vendor, which usage is read as too.
  cache_creation_input_token_cost_above_12hr: 'cacheWrite1h',
  input_cost_per_audio_token: 'inputAudio',
  input_cost_per_image_token: 'inputImage',
  cache_read_input_audio_token_cost: 'cacheReadAudio',
  output_cost_per_audio_token: 'outputAudio',
  output_cost_per_image_token: 'outputImage',
};
const LITELLM_KEY = /^(.+?)(?:_above_(\d{1,6})k_tokens)?(?:_(priority|flex|batches))?$/;
const MILLION: Fraction = { numerator: 1_000_000n, denominator: 1n };

/** Flat members in dollars per token: `input_cost_per_token_above_200k_tokens_priority`. */
function readLitellm(body: JsonObject): Listed {
  const listed = new Map<string, ReadonlyMap<string, Fraction>>();
  for (const [provider, ours, prefix] of LITELLM) {
    for (const [key, entry] of Object.entries(body)) {
      if (!isObject(entry) || entry['litellm_provider'] !== provider) continue;
      const model = key.startsWith(prefix) ? key.slice(prefix.length) : key;
      const name = `${ours}/${model}`;
      const usd = litellmPrices(entry);
      if (usd.size > 0 && !listed.has(name)) listed.set(name, usd);
    }
  }
  return listed;
}

function litellmPrices(entry: JsonObject): ReadonlyMap<string, Fraction> {
  const usd = new Map<string, Fraction>();
  for (const [key, value] of Object.entries(entry)) {
    const [, base = '', size = '0', service = 'standard'] = LITELLM_KEY.exec(key) ?? [];
    const bucket = Object.hasOwn(LITELLM_BUCKETS, base) ? LITELLM_BUCKETS[base] : undefined;
    const amount = dollars(value);
    if (bucket === undefined || !amount || isUncharged(bucket, amount)) continue;
    usd.set(quantityOf(bucket, Number(size) * 1000, service === 'batches' ? 'batch' : service), times(amount, MILLION));
  }
  for (const [unit, amount] of litellmUnits(entry)) if (amount && amount.numerator > 0n) usd.set(unit, amount);
  return usd;
}

/** Prices per unit. If tokens are billed too, a price per unit is another way to state the same price. */
function litellmUnits(entry: JsonObject): readonly (readonly [Unit, Fraction | undefined])[] {
  const { mode } = entry;
  const byToken = (dollars(entry['input_cost_per_token'])?.numerator ?? 0n) > 0n;
  const search = isObject(entry['search_context_cost_per_query']) ? entry['search_context_cost_per_query'] : {};
  const searches = ['high', 'medium', 'low']
    .map((size) => dollars(search[`search_context_size_${size}`]))
    .find(Boolean);
  const pieces: readonly (readonly [Unit, Fraction | undefined])[] = [
    ['pages', dollars(entry['ocr_cost_per_page'])],
    ['calls', dollars(entry['input_cost_per_request'])],
    ...(mode === 'image_generation'
      ? [['images', dollars(entry['output_cost_per_image']) ?? dollars(entry['input_cost_per_image'])] as const]
      : []),
    ...(mode === 'audio_transcription'
      ? [['seconds', dollars(entry['input_cost_per_second']) ?? dollars(entry['output_cost_per_second'])] as const]
      : []),
    ...(mode === 'video_generation'
      ? [
          [
            'seconds',
            dollars(entry['output_cost_per_video_per_second']) ?? dollars(entry['output_cost_per_second']),
          ] as const,
        ]
      : []),
  ];
  return [['searches', searches], ...(byToken ? [] : pieces)];
}

/** Providers of the list of models.dev in our words. The later give way. */
const MODELS_DEV: readonly (readonly [provider: string, ours: string])[] = [
  ...OURS.flatMap(([ours, { modelsDev }]) => modelsDev.map((id) => [id, ours] as const)),
  ...['cohere', 'moonshotai', 'perplexity'].map((id) => [id, id] as const),
];

const MODELS_DEV_BUCKETS: Readonly<Record<string, Bucket>> = {
  input: 'input',
  output: 'output',
  reasoning: 'reasoning',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite5m',
  input_audio: 'inputAudio',
  output_audio: 'outputAudio',
};

/** Providers with their models, each with a `cost` in dollars per million tokens. */
function readModelsDev(body: JsonObject): Listed {
  const listed = new Map<string, ReadonlyMap<string, Fraction>>();
  for (const [id, ours] of MODELS_DEV) {
    const provider = body[id];
    const models = isObject(provider) && isObject(provider['models']) ? provider['models'] : {};
    for (const [model, entry] of Object.entries(models)) {
      const usd = new Map<string, Fraction>();
      const cost = isObject(entry) && isObject(entry['cost']) ? entry['cost'] : {};
      addCosts(usd, cost, 0);
      if (isObject(cost['context_over_200k'])) addCosts(usd, cost['context_over_200k'], 200_000);
      const name = `${ours}/${model}`;
      if (usd.size > 0 && !listed.has(name)) listed.set(name, usd);
    }
  }
  return listed;
}

function addCosts(usd: Map<string, Fraction>, cost: JsonObject, above: number): void {
  for (const [key, bucket] of Object.entries(MODELS_DEV_BUCKETS)) {
    const amount = dollars(cost[key]);
    if (amount && !isUncharged(bucket, amount)) usd.set(quantityOf(bucket, above), amount);
  }
}

/** Lists also write 0 for a missing price, so 0 counts as missing, except for output, which some models do not have. */
function isUncharged(bucket: Bucket, { numerator }: Fraction): boolean {
  return numerator === 0n && bucket !== 'output';
}

function dollars(value: Json | undefined): Fraction | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  try {
    return fraction(value);
  } catch {
    return undefined;
  }
}
