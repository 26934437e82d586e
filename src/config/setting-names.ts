import { nearest } from './nearest.ts';

/** Every environment variable of our own that some program of Gatewarden reads: gateway, controller, engine or gwctl. */
const SETTINGS = [
  'GW_ALERT_WEBHOOK_SECRET',
  'GW_ALERT_WEBHOOK_URL',
  'GW_ANCHOR_CREDENTIALS_FILE',
  'GW_ANCHOR_ENDPOINT',
  'GW_ANCHOR_EVERY',
  'GW_ANCHOR_MODE',
  'GW_ANCHOR_REGION',
  'GW_ANCHOR_RETENTION_DAYS',
  'GW_ANCHOR_URL',
  'GW_AUTH_DELAY_MS',
  'GW_BODY_LIMIT_MIB',
  'GW_BODY_MEMORY_MIB',
  'GW_BOOTSTRAP_KEY',
  'GW_CACHE_REDIS_URL',
  'GW_CHECKPOINT_KEY_FILE',
  'GW_CONFIG_DIR',
  'GW_CONFIG_KEY_FILE',
  'GW_CONFIG_SOURCE',
  'GW_CONTENT_KEY_FILE',
  'GW_CONTROLLER_NAME',
  'GW_CONTROLLER_NAMESPACE',
  'GW_DATA_DIR',
  'GW_DOCS_URL',
  'GW_DRAIN_SECONDS',
  'GW_GATEWAY_NAME',
  'GW_INFERENCE',
  'GW_INFERENCE_ANSWER_SECONDS',
  'GW_INFERENCE_CHILD',
  'GW_INFERENCE_DEVICE',
  'GW_INFERENCE_DRAIN_SECONDS',
  'GW_INFERENCE_JOBS_PER_WORKER',
  'GW_INFERENCE_JOB_SECONDS',
  'GW_INFERENCE_MAX_MIB',
  'GW_INFERENCE_MAX_RSS_MIB',
  'GW_INFERENCE_MODEL_QUEUE_LENGTH',
  'GW_INFERENCE_QUEUE_LENGTH',
  'GW_INFERENCE_STEP_SECONDS',
  'GW_INFERENCE_URL',
  'GW_INFERENCE_WORKERS',
  'GW_INFERENCE_WORKER_HEAP_MIB',
  'GW_JOBS_AT_ONCE',
  'GW_JOBS_CREDENTIALS_FILE',
  'GW_JOBS_ENDPOINT',
  'GW_JOBS_FILES',
  'GW_JOBS_MAX_STORED_MIB',
  'GW_JOBS_MAX_WAITING',
  'GW_JOBS_REGION',
  'GW_JOBS_RESULT_HOURS',
  'GW_JOBS_URL_SECONDS',
  'GW_LEASE_SECONDS',
  'GW_LEAVE_SECONDS',
  'GW_LEDGER_JOURNAL_MIB',
  'GW_LEDGER_RETENTION_MONTHS',
  'GW_MODELS_DIR',
  'GW_MODEL_LIST_SECONDS',
  'GW_ORGANIZATION_NAMESPACES',
  'GW_PHONE_REGIONS',
  'GW_PLATFORM_NAMESPACE',
  'GW_PRICES_FILE',
  'GW_PRICES_KEY_FILE',
  'GW_PRICES_MAX_AGE_DAYS',
  'GW_PUBLIC_URL',
  'GW_SECRETS_DIR',
  'GW_STREAM_SECONDS',
  'GW_USD_TO_EUR',
  'GW_WATCH_NAMESPACES',
] as const;

/** Variables that others name and our programs read. */
type ForeignSetting =
  | 'ADMIN_HOST'
  | 'ADMIN_PORT'
  | 'AWS_ACCESS_KEY_ID'
  | 'AWS_SECRET_ACCESS_KEY'
  | 'AWS_SESSION_TOKEN'
  | 'DATABASE_URL'
  | 'HOME'
  | 'HOST'
  | 'KUBECONFIG'
  | 'LOG_LEVEL'
  | 'PORT'
  | 'REDIS_CLUSTER'
  | 'REDIS_URL'
  | 'USER';

/** A variable that a program may read: a name that is not listed does not compile. */
export type SettingName = (typeof SETTINGS)[number] | ForeignSetting;

const KNOWN: ReadonlySet<string> = new Set(SETTINGS);

/** What Kubernetes sets in every container for a Service whose name begins with `gw-`. */
const SERVICE_LINK =
  /^GW_(?:[A-Z0-9_]+_)?(?:SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)|PORT_\d{1,5}_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value));
}

/** A variable of our prefix that no program reads. */
export interface UnknownSetting {
  readonly name: string;
  /** The setting that was probably meant. */
  readonly nearest?: string;
}

/** The variables that begin with `GW_`, are set to something, and are no settings: most likely misspelt. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): readonly UnknownSetting[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!name.startsWith('GW_') || !value || KNOWN.has(name) || isServiceLink(name, value)) return [];
    const meant = nearest(name, KNOWN);
    return [{ name, ...(meant !== undefined && { nearest: meant }) }];
  });
}

/** One line for each of them, without their values: those may be secrets. */
export function unknownSettingFaults(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return unknownSettings(env).map(({ name, nearest: meant }) => {
    const hint = meant === undefined ? 'remove it, or give it another prefix' : `did you mean ${meant}?`;
    return `${name} is not a setting of Gatewarden: ${hint}`;
  });
}
