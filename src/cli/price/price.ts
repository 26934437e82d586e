import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readExchangeRates } from '#/values/exchange-rates.ts';
import { readSnapshot, type PriceSnapshot } from '#/meter/pricing/price-snapshot.ts';
import { UNITS } from '#/meter/pricing/price.ts';
import type { Units } from '#/call/units.ts';
import { askedServiceTier, MEDIA_BUCKETS, NO_USAGE, type Usage } from '#/wire/answer/usage.ts';
import { readPublicKeys } from '#/meter/pricing/price-snapshot-file.ts';
import type { DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { callExplain } from './price-call.ts';
import { priceExplain } from './price-explain.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const PRICE_EXPLAIN_HELP = `gwctl price explain CALL_ID [--database-url URL | --data-dir DIR] [--config DIR] [PRICES]
gwctl price explain PROVIDER/MODEL [--BUCKET NUMBER]… [--service-tier TIER] [--at TIME] [PRICES]

With CALL_ID: explains the sealed cost of a call, bucket by bucket, from its audit row and the prices that the row names.
Exits with 1 when these prices are not available, or give a different amount.
With PROVIDER/MODEL: shows how a call would be priced. Exits with 1 when no price is known.

  --input, --output, --reasoning, --cache-read, --cache-write-5m, --cache-write-1h   Tokens
  --input-audio, --input-image, --cache-read-audio, --output-audio, --output-image  Tokens of audio and images
  --pages, --images, --calls, --seconds, --searches, --file-searches, --containers  Units
  --service-tier TIER  flex, priority, batch or another (default: the ordinary one)
  --at TIME            Time of the call (RFC 3339; default: now)
  --database-url URL   The ledger in PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The ledger of an embedded gateway (default: GW_DATA_DIR, or .data)
  --config DIR         Folder of resources with the PriceBook (default: GW_CONFIG_DIR)
PRICES:
  --prices FILE        Price snapshot (default: GW_PRICES_FILE; without one, the prices of this build)
  --public-key FILE    Trusted Ed25519 public keys (PEM) (default: GW_PRICES_KEY_FILE)
  --usd-to-eur RATES   Euro per US dollar: 0.92, or with dates 0.92,2026-12-01=0.91 (default: GW_USD_TO_EUR, or 0.92)
`;

/** Where prices and rows are when the command line does not say. */
export interface PriceDefaults extends DatabaseDefaults {
  readonly usdToEur: string;
  readonly pricesFile: string | undefined;
  readonly publicKeyFile: string | undefined;
  readonly configDir: string | undefined;
}

const COUNTS = [...Object.keys(NO_USAGE), ...MEDIA_BUCKETS, ...UNITS];
const PLAIN = ['service-tier', 'at', 'usd-to-eur', 'prices', 'public-key', 'config', 'database-url', 'data-dir'];
const CALL_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Explains the price of a call or a model. Resolves with the exit status; rejects with UsageError. */
export async function explainPrice(args: readonly string[], defaults: PriceDefaults, output: Output): Promise<number> {
  const options = Object.fromEntries(
    [...COUNTS.map(flagOf), ...PLAIN].map((name) => [name, { type: 'string' }] as const),
  );
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [target = '', ...others] = positionals;
  if (others.length > 0) throw new UsageError('give one call or one model');
  const usdToEur = values['usd-to-eur'] ?? defaults.usdToEur;
  if (!readExchangeRates(usdToEur))
    throw new UsageError('--usd-to-eur takes a decimal number such as 0.92, or 0.92,2026-12-01=0.91');
  const snapshot = snapshotOf(values['prices'] ?? defaults.pricesFile, values['public-key'] ?? defaults.publicKeyFile);
  if (CALL_ID.test(target)) {
    const configDir = values['config'] ?? defaults.configDir;
    const database = { url: values['database-url'], dataDir: values['data-dir'], defaults };
    return callExplain({ callId: target, database, snapshot, usdToEur, configDir }, output);
  }
  return modelExplain(target, values, { usdToEur, ...(snapshot && { snapshot: () => snapshot }) }, output);
}

function modelExplain(
  target: string,
  values: Readonly<Record<string, string | undefined>>,
  prices: { readonly usdToEur: string; readonly snapshot?: () => PriceSnapshot },
  { out }: Output,
): number {
  const slash = target.indexOf('/');
  if (slash < 1 || slash === target.length - 1) throw new UsageError('give one model: PROVIDER/MODEL');
  const at = values['at'] === undefined ? Date.now() : Date.parse(values['at']);
  if (Number.isNaN(at)) throw new UsageError(`"${values['at']}" is not a time: write it as 2027-01-31T00:00:00Z`);
  const given = (names: readonly string[]): Record<string, number> =>
    Object.fromEntries(
      names.flatMap((name) => (values[flagOf(name)] === undefined ? [] : [[name, countOf(values[flagOf(name)]!)]])),
    );
  const tier = askedServiceTier(values['service-tier']);
  const usage: Partial<Usage> = {
    ...given([...Object.keys(NO_USAGE), ...MEDIA_BUCKETS]),
    ...(tier !== undefined && tier !== 'standard' && { serviceTier: tier }),
  };
  const units = given(UNITS) as Units;
  const provider = { slug: target.slice(0, slash) };
  return priceExplain({ provider, model: target.slice(slash + 1), usage, units, at, ...prices }, out);
}

/** The snapshot in a file; undefined without one. Throws UsageError when it cannot be read or is not to be trusted. */
export function snapshotOf(file: string | undefined, publicKeyFile: string | undefined): PriceSnapshot | undefined {
  if (file === undefined) return undefined;
  if (publicKeyFile === undefined) throw new UsageError('give the public key of the snapshot: --public-key FILE');
  try {
    return readSnapshot(readFileSync(file, 'utf8'), readPublicKeys(readFileSync(publicKeyFile, 'utf8')));
  } catch (error) {
    throw new UsageError(`the snapshot ${file} cannot be used: ${(error as Error).message}`);
  }
}

/** `cacheWrite5m` is `--cache-write-5m`. */
function flagOf(name: string): string {
  return name.replace(/[A-Z]|\d+/g, (part) => `-${part.toLowerCase()}`);
}

function countOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`"${text}" is not a whole number`);
  return Number(text);
}
