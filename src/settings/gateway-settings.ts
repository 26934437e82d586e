import { readExchangeRates } from '#/values/exchange-rates.ts';
import { readAnchorSettings, type AnchorSettings } from './anchor-settings.ts';
import { readJobSettings, type JobSettings } from './job-settings.ts';
import { readMcpIssuer, type McpIssuer } from './mcp-issuer.ts';
import { readPublishedSettings, type PublishedSettings } from './published-settings.ts';
import { createReader, readNamed, type Environment, type Reader, type ReadSettings } from './reader.ts';
import type { Setting } from './rows/setting.ts';
import { SETTINGS, type SettingsOf } from './table.ts';
import { unknownSettingFaults } from './unknown-settings.ts';

/** Settings of the gateway: those of `table.ts` by their names, and what several of them say together. */
export interface Settings extends SettingsOf<'gateway'> {
  /** Configuration comes from a controller, not from a folder. */
  readonly published: PublishedSettings | undefined;
  readonly redisUrl: string | undefined;
  /** PEM file of the Ed25519 keys that sign checkpoints, the newest first; made when missing. */
  readonly checkpointKeyFile: string;
  /** Master keys of the response cache and of retained content; made when missing. */
  readonly contentKeyFile: string;
  /** Where checkpoints are copied to, if anywhere. */
  readonly anchor: AnchorSettings | undefined;
  /** Where alerts about money are posted, and what signs them. */
  readonly alertWebhook: { readonly url: string; readonly secret: string } | undefined;
  /** Where documents are processed: by an engine elsewhere, by one that this process starts, or not at all. */
  readonly inference: { readonly url: string } | 'child' | 'off';
  /** Settings of the engine that this process starts: environment variables by name. */
  readonly inferenceEnv: Readonly<Record<string, string>>;
  /** A signed snapshot of prices, and the public keys that may have signed it; without one the bundled prices hold. */
  readonly prices: { readonly file: string; readonly publicKeyFile: string; readonly maxAgeDays: number } | undefined;
  readonly jobs: JobSettings;
  /** Where clients reach the gateway, without a slash at its end: addresses it gives out begin with it. */
  readonly publicUrl: string | undefined;
  /** Whose access tokens are taken for tools, by the keys at an address. */
  readonly mcpIssuer: McpIssuer | undefined;
  /** Environment variables by name, for provider keys of the embedded run. */
  readonly vendorKeys: ReadonlyMap<string, string>;
}

const VENDOR_KEY = /^[A-Z]+_API_KEY$/;

/** Reads and checks the environment; every fault at once, each naming its variable. */
export function readSettings(env: Environment): ReadSettings<Settings> {
  const reader = createReader('gateway', env);
  const named = readNamed('gateway', reader);
  const redisUrl = reader.read('REDIS_URL');
  checkBootstrapKey(reader);
  if (!readExchangeRates(named.usdToEur))
    reader.faults.push('GW_USD_TO_EUR must be a decimal number above 0, or several with dates: 0.92,2026-12-01=0.91');
  const settings: Settings = {
    ...named,
    redisUrl,
    published: readPublishedSettings(reader),
    checkpointKeyFile: reader.read('GW_CHECKPOINT_KEY_FILE') ?? `${named.dataDir}/checkpoint-key.pem`,
    contentKeyFile: reader.read('GW_CONTENT_KEY_FILE') ?? `${named.dataDir}/content-keys`,
    anchor: readAnchorSettings(reader),
    alertWebhook: readAlertWebhook(reader),
    inference: readInference(reader),
    inferenceEnv: engineVariables(env),
    prices: readPrices(reader),
    jobs: readJobSettings(reader),
    publicUrl: reader.read('GW_PUBLIC_URL')?.replace(/(?<!\/)\/+$/, ''),
    mcpIssuer: readMcpIssuer(reader),
    vendorKeys: new Map(
      Object.entries(env).filter((entry): entry is [string, string] => VENDOR_KEY.test(entry[0]) && !!entry[1]),
    ),
  };
  if (settings.processes > 1) reader.faults.push(...processesFaults(settings));
  const faults = [...unknownSettingFaults(env), ...reader.faults];
  return faults.length > 0 ? { faults } : { settings };
}

/** What several processes cannot share, or would each start for themselves. */
function processesFaults({ redisUrl, databaseUrl, configDir, published, inference }: Settings): string[] {
  return [
    ...(redisUrl === undefined || databaseUrl === undefined
      ? ['GW_PROCESSES above 1 needs REDIS_URL and DATABASE_URL: the embedded stores serve one process']
      : []),
    ...(configDir === undefined && !published
      ? ['GW_PROCESSES above 1 needs GW_CONFIG_DIR or GW_CONFIG_SOURCE=redis: the samples serve one process']
      : []),
    ...(inference === 'child'
      ? ['GW_PROCESSES above 1 needs GW_INFERENCE_URL or GW_INFERENCE=off: each process would start an engine']
      : []),
  ];
}

function checkBootstrapKey(reader: Reader): void {
  const isSet = (name: Parameters<Reader['text']>[0]): boolean => reader.text(name) !== undefined;
  if (isSet('GW_BOOTSTRAP_KEY') && isSet('GW_CONFIG_DIR') && (isSet('REDIS_URL') || isSet('DATABASE_URL')))
    reader.faults.push(
      'GW_BOOTSTRAP_KEY is for the embedded run only: with REDIS_URL or DATABASE_URL define a VirtualKey instead',
    );
}

function readAlertWebhook(reader: Reader): Settings['alertWebhook'] {
  const isHalf =
    (reader.text('GW_ALERT_WEBHOOK_URL') === undefined) !== (reader.text('GW_ALERT_WEBHOOK_SECRET') === undefined);
  if (isHalf) reader.faults.push('GW_ALERT_WEBHOOK_URL and GW_ALERT_WEBHOOK_SECRET must be set together');
  const url = reader.read('GW_ALERT_WEBHOOK_URL');
  const secret = reader.read('GW_ALERT_WEBHOOK_SECRET');
  return url !== undefined && secret !== undefined ? { url, secret } : undefined;
}

/** Which engine processes documents. `off` holds, whatever address is given. */
function readInference(reader: Reader): Settings['inference'] {
  const mode = reader.read('GW_INFERENCE');
  const url = reader.read('GW_INFERENCE_URL');
  if (mode === 'off') return 'off';
  return url === undefined ? 'child' : { url };
}

/** The variables that an engine which this process starts reads too: those of our prefix. */
function engineVariables(env: Environment): Readonly<Record<string, string>> {
  const names = Object.entries<Setting>(SETTINGS).flatMap(([name, { readers }]) =>
    name.startsWith('GW_') && readers.includes('engine') ? [name] : [],
  );
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])));
}

function readPrices(reader: Reader): Settings['prices'] {
  const file = reader.read('GW_PRICES_FILE');
  const publicKeyFile = reader.read('GW_PRICES_KEY_FILE');
  const maxAgeDays = reader.read('GW_PRICES_MAX_AGE_DAYS');
  if (file !== undefined && publicKeyFile === undefined)
    reader.faults.push('GW_PRICES_KEY_FILE must name the public key (PEM) that GW_PRICES_FILE is signed with');
  return file === undefined || publicKeyFile === undefined ? undefined : { file, publicKeyFile, maxAgeDays };
}
