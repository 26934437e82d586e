import { hostname } from 'node:os';
import { readExchangeRates } from '#/config/exchange-rates.ts';
import { unknownSettingFaults, type SettingName } from '#/config/setting-names.ts';
import { LOG_LEVELS } from '#/telemetry/log.ts';

/** What the controller is told by its environment. */
export interface Settings {
  readonly redisUrl: string;
  readonly redisCluster: boolean;
  /** Master keys that gateways share. */
  readonly keyFile: string;
  /** Where the API server is and who we are to it; absent: as the cluster tells its pods. */
  readonly kubeconfig: string | undefined;
  readonly name: string;
  /** Where the lease is; absent: where the credentials are. */
  readonly leaseNamespace: string | undefined;
  /** Namespaces that are read; all of them where there are none. */
  readonly namespaces: readonly string[];
  /** Where resources may speak for every organization; absent: where the lease is. */
  readonly platformNamespace: string | undefined;
  /** Namespaces whose organizations are accepted: the platform's alone where none is named. */
  readonly organizationNamespaces: readonly string[] | 'all';
  readonly usdToEur: string;
  readonly leaseSeconds: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly logLevel: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Reads and checks the environment; every fault at once, each naming its variable. */
export function readSettings(env: Environment): { settings: Settings } | { faults: readonly string[] } {
  const faults = [...unknownSettingFaults(env)];
  const text = (name: SettingName): string | undefined => env[name] || undefined;
  const needed = (name: SettingName, why: string): string => {
    const value = text(name);
    if (value === undefined) faults.push(`${name} must ${why}`);
    return value ?? '';
  };
  const whole = (name: SettingName, fallback: number, least: number, most: number): number => {
    const value = text(name) ?? String(fallback);
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    faults.push(`${name} must be a whole number from ${least} to ${most}`);
    return fallback;
  };
  const redisUrl = needed('REDIS_URL', 'say where configuration is published');
  if (redisUrl !== '' && !/^rediss?:$/.test(URL.parse(redisUrl)?.protocol ?? ''))
    faults.push('REDIS_URL must be a URL starting with redis: or rediss:');
  const cluster = text('REDIS_CLUSTER') ?? 'false';
  if (cluster !== 'true' && cluster !== 'false') faults.push('REDIS_CLUSTER must be true or false');
  const namespaces = text('GW_WATCH_NAMESPACES')?.split(',') ?? [];
  if (namespaces.some((name) => !NAME.test(name)))
    faults.push('GW_WATCH_NAMESPACES must be names of namespaces: one,two');
  const platformNamespace = text('GW_PLATFORM_NAMESPACE');
  if (platformNamespace !== undefined && !NAME.test(platformNamespace))
    faults.push('GW_PLATFORM_NAMESPACE must be the name of a namespace');
  const organizations = text('GW_ORGANIZATION_NAMESPACES');
  const organizationNamespaces = organizations === '*' ? 'all' : (organizations?.split(',') ?? []);
  if (organizationNamespaces !== 'all' && organizationNamespaces.some((name) => !NAME.test(name)))
    faults.push('GW_ORGANIZATION_NAMESPACES must be names of namespaces, one,two, or * for all');
  const usdToEur = text('GW_USD_TO_EUR') ?? '0.92';
  if (!readExchangeRates(usdToEur)) faults.push('GW_USD_TO_EUR must be a decimal number above 0');
  const logLevel = text('LOG_LEVEL') ?? 'info';
  if (!LOG_LEVELS.includes(logLevel)) faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  const settings: Settings = {
    redisUrl,
    redisCluster: cluster === 'true',
    keyFile: needed('GW_CONFIG_KEY_FILE', 'name the file of keys that gateways share'),
    kubeconfig: text('KUBECONFIG'),
    name: text('GW_CONTROLLER_NAME') ?? `${hostname()}-${process.pid}`,
    leaseNamespace: text('GW_CONTROLLER_NAMESPACE'),
    namespaces,
    platformNamespace,
    organizationNamespaces,
    usdToEur,
    leaseSeconds: whole('GW_LEASE_SECONDS', 15, 3, 300),
    adminHost: text('ADMIN_HOST') ?? '127.0.0.1',
    adminPort: whole('ADMIN_PORT', 8081, 0, 65_535),
    logLevel,
  };
  return faults.length > 0 ? { faults } : { settings };
}
