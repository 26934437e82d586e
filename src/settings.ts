import { readAnchorSettings, type AnchorSettings } from './anchor-settings.ts';
import { readPublishedSettings, type PublishedSettings } from './published-settings.ts';
import { readJobSettings, type JobSettings } from './job-settings.ts';
import { readExchangeRates } from '#/config/exchange-rates.ts';
import { unknownSettingFaults, type SettingName } from '#/config/setting-names.ts';
import { LOG_LEVELS } from '#/telemetry/log.ts';

/** What the process is told by its environment. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly configDir: string | undefined;
  readonly secretsDir: string | undefined;
  /** Configuration comes from a controller, not from a folder. */
  readonly published: PublishedSettings | undefined;
  /** Where resources speak for several organizations; undefined: anywhere. */
  readonly platformNamespace: string | undefined;
  readonly dataDir: string;
  readonly redisUrl: string | undefined;
  /** `redisUrl` names one node of a Redis Cluster. */
  readonly redisCluster: boolean;
  /** Where answers are cached, when elsewhere than the counters: a store that may forget. */
  readonly cacheRedisUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  /** PEM file of the Ed25519 keys that sign checkpoints, the newest first; made when missing. */
  readonly checkpointKeyFile: string;
  /** Where checkpoints are copied to, if anywhere. */
  readonly anchor: AnchorSettings | undefined;
  /** Master keys of the response cache and of retained content; made when missing. */
  readonly contentKeyFile: string;
  /** How much may wait on disk while the ledger is away before no more calls are taken; 0: rows wait in memory. */
  readonly journalBytes: number;
  /** Where alerts about money are posted, and what signs them. */
  readonly alertWebhook: { readonly url: string; readonly secret: string } | undefined;
  readonly bootstrapKey: string | undefined;
  readonly docsUrl: string;
  /** Where documents are processed: by an engine elsewhere, by one that this process starts, or not at all. */
  readonly inference: { readonly url: string } | 'child' | 'off';
  /** What a child is told of its bounds: environment variables by name. */
  readonly inferenceEnv: Readonly<Record<string, string>>;
  /** Regions (ISO 3166) whose national phone numbers are looked for; international forms always are. */
  readonly phoneRegions: readonly string[] | undefined;
  /** Euro per US dollar: `0.92`, or with rates to come `0.92,2026-12-01=0.91`. */
  readonly usdToEur: string;
  /** A signed snapshot of prices, and the public keys that may have signed it; without one the bundled prices hold. */
  readonly prices: { readonly file: string; readonly publicKeyFile: string; readonly maxAgeDays: number } | undefined;
  /** How long a request with a key that is not good waits for its refusal. */
  readonly authDelayMs: number;
  readonly bodyLimitBytes: number;
  /** Memory for the bodies of all requests in progress; undefined: by the memory that the process may have. */
  readonly bodyMemoryBytes: number | undefined;
  /** How long an answer that comes in pieces may take to its end, however steadily it comes. */
  readonly streamSeconds: number;
  /** How long a vendor's own list of models is believed; 0: vendors are not asked for one. */
  readonly modelListSeconds: number;
  readonly jobs: JobSettings;
  /** Where clients reach the gateway: addresses it gives out begin with it. Absent: they are paths without a host. */
  readonly publicUrl: string | undefined;
  /** How long the process goes on as before when it is told to end, until those in front of it have noticed. */
  readonly leaveSeconds: number;
  /** How long open streams are kept after that. // spec 6.1.5 */
  readonly drainSeconds: number;
  readonly logLevel: string;
  /** Environment variables by name, for provider keys of the embedded run. */
  readonly vendorKeys: ReadonlyMap<string, string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const INFERENCE_BOUND = /^GW_(?:INFERENCE_(?!URL$)[A-Z_]+|MODELS_DIR)$/;
const VENDOR_KEY = /^[A-Z]+_API_KEY$/;

/** Which engine processes documents. Told to be off, it is, whatever address is there. */
function readInference(mode: string | undefined, url: string | undefined, faults: string[]): Settings['inference'] {
  if (mode !== undefined && mode !== 'on' && mode !== 'off') faults.push('GW_INFERENCE must be on or off');
  if (mode === 'off') return 'off';
  return url === undefined ? 'child' : { url };
}

/** Reads and checks the environment; every fault at once, each naming its variable. */
export function readSettings(env: Environment): { settings: Settings } | { faults: readonly string[] } {
  const faults = [...unknownSettingFaults(env)];
  const text = (name: SettingName, fallback?: string): string | undefined =>
    (env[name] === '' ? undefined : env[name]) ?? fallback;
  const whole = (name: SettingName, fallback: number, least: number, most: number): number => {
    const value = text(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    faults.push(`${name} must be a whole number from ${least} to ${most}`);
    return fallback;
  };
  const flag = (name: SettingName): boolean => {
    const value = text(name, 'false')!;
    if (value !== 'true' && value !== 'false') faults.push(`${name} must be true or false`);
    return value === 'true';
  };
  const address = (name: SettingName, schemes: readonly string[]): string | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    if (!schemes.includes(URL.parse(value)?.protocol ?? ''))
      faults.push(`${name} must be a URL starting with ${schemes.join(' or ')}`);
    return value;
  };
  const redisUrl = address('REDIS_URL', ['redis:', 'rediss:']);
  const cacheRedisUrl = address('GW_CACHE_REDIS_URL', ['redis:', 'rediss:']);
  const databaseUrl = address('DATABASE_URL', ['postgres:', 'postgresql:']);
  const alertUrl = address('GW_ALERT_WEBHOOK_URL', ['https:', 'http:']);
  const alertSecret = text('GW_ALERT_WEBHOOK_SECRET');
  if ((alertUrl === undefined) !== (alertSecret === undefined))
    faults.push('GW_ALERT_WEBHOOK_URL and GW_ALERT_WEBHOOK_SECRET must be set together');
  if (alertSecret !== undefined && alertSecret.length < 16)
    faults.push('GW_ALERT_WEBHOOK_SECRET must have at least 16 characters');
  const configDir = text('GW_CONFIG_DIR');
  const bootstrapKey = text('GW_BOOTSTRAP_KEY');
  if (bootstrapKey !== undefined && configDir !== undefined && (redisUrl !== undefined || databaseUrl !== undefined)) {
    faults.push(
      'GW_BOOTSTRAP_KEY is for the embedded run only: with REDIS_URL or DATABASE_URL define a VirtualKey instead',
    );
  }
  if (bootstrapKey !== undefined && !/^\S{16,200}$/.test(bootstrapKey)) {
    faults.push('GW_BOOTSTRAP_KEY must have 16 to 200 characters and no spaces');
  }
  const usdToEur = text('GW_USD_TO_EUR', '0.92')!;
  if (!readExchangeRates(usdToEur)) {
    faults.push('GW_USD_TO_EUR must be a decimal number above 0, or several with dates: 0.92,2026-12-01=0.91');
  }
  const pricesFile = text('GW_PRICES_FILE');
  const pricesKeyFile = text('GW_PRICES_KEY_FILE');
  if (pricesFile !== undefined && pricesKeyFile === undefined)
    faults.push('GW_PRICES_KEY_FILE must name the public key (PEM) that GW_PRICES_FILE is signed with');
  const pricesMaxAgeDays = whole('GW_PRICES_MAX_AGE_DAYS', 30, 1, 3650);
  const logLevel = text('LOG_LEVEL', 'info')!;
  if (!LOG_LEVELS.includes(logLevel)) faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  const phoneRegions = text('GW_PHONE_REGIONS')?.split(',');
  if (phoneRegions?.some((region) => !/^[A-Z]{2}$/.test(region)))
    faults.push('GW_PHONE_REGIONS must be two-letter regions with commas between, such as DE,FR,US');
  const settings: Settings = {
    host: text('HOST', '127.0.0.1')!,
    port: whole('PORT', 8080, 0, 65_535),
    adminHost: text('ADMIN_HOST', '127.0.0.1')!,
    adminPort: whole('ADMIN_PORT', 8081, 0, 65_535),
    configDir,
    secretsDir: text('GW_SECRETS_DIR'),
    published: readPublishedSettings(text, faults),
    platformNamespace: text('GW_PLATFORM_NAMESPACE'),
    dataDir: text('GW_DATA_DIR', '.data')!,
    redisUrl,
    redisCluster: flag('REDIS_CLUSTER'),
    cacheRedisUrl,
    databaseUrl,
    checkpointKeyFile: text('GW_CHECKPOINT_KEY_FILE') ?? `${text('GW_DATA_DIR', '.data')!}/checkpoint-key.pem`,
    anchor: readAnchorSettings(text, faults),
    contentKeyFile: text('GW_CONTENT_KEY_FILE') ?? `${text('GW_DATA_DIR', '.data')!}/content-keys`,
    journalBytes: whole('GW_LEDGER_JOURNAL_MIB', 128, 0, 65_536) * 1024 * 1024,
    alertWebhook:
      alertUrl !== undefined && alertSecret !== undefined ? { url: alertUrl, secret: alertSecret } : undefined,
    bootstrapKey,
    docsUrl: address('GW_DOCS_URL', ['http:', 'https:']) ?? 'https://gatewarden.dev/docs',
    inference: readInference(text('GW_INFERENCE'), address('GW_INFERENCE_URL', ['http:', 'https:']), faults),
    inferenceEnv: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => INFERENCE_BOUND.test(entry[0]) && !!entry[1]),
    ),
    phoneRegions,
    usdToEur,
    prices:
      pricesFile === undefined || pricesKeyFile === undefined
        ? undefined
        : { file: pricesFile, publicKeyFile: pricesKeyFile, maxAgeDays: pricesMaxAgeDays },
    authDelayMs: whole('GW_AUTH_DELAY_MS', 0, 0, 10_000),
    bodyLimitBytes: whole('GW_BODY_LIMIT_MIB', 64, 1, 512) * 1024 * 1024,
    bodyMemoryBytes: text('GW_BODY_MEMORY_MIB')
      ? whole('GW_BODY_MEMORY_MIB', 0, 16, 1_048_576) * 1024 * 1024
      : undefined,
    streamSeconds: whole('GW_STREAM_SECONDS', 3600, 1, 86_400),
    modelListSeconds: whole('GW_MODEL_LIST_SECONDS', 3600, 0, 86_400),
    jobs: readJobSettings(text, faults),
    publicUrl: address('GW_PUBLIC_URL', ['http:', 'https:'])?.replace(/(?<!\/)\/+$/, ''),
    leaveSeconds: whole('GW_LEAVE_SECONDS', 0, 0, 300),
    // Five minutes are the most. // spec 6.1.5
    drainSeconds: whole('GW_DRAIN_SECONDS', 300, 0, 300),
    logLevel,
    vendorKeys: new Map(
      Object.entries(env).filter((entry): entry is [string, string] => VENDOR_KEY.test(entry[0]) && !!entry[1]),
    ),
  };
  return faults.length > 0 ? { faults } : { settings };
}
