import { hostname } from 'node:os';
import { readExchangeRates } from '#/values/exchange-rates.ts';
import { NAMESPACE } from '#/settings/rows/forms.ts';
import { createReader, readNamed, type Environment, type ReadSettings } from '#/settings/reader.ts';
import type { SettingsOf } from '#/settings/table.ts';
import { unknownSettingFaults } from '#/settings/unknown-settings.ts';

/** Settings of the controller: those of the table by their names, and those that it needs or reads in a way of its own. */
export interface Settings extends SettingsOf<'controller'> {
  readonly redisUrl: string;
  /** Master keys that gateways share. */
  readonly keyFile: string;
  readonly name: string;
  /** Namespaces to read; empty: all. */
  readonly namespaces: readonly string[];
  /** Namespaces whose organizations are accepted: the platform's alone where none is named. */
  readonly organizationNamespaces: readonly string[] | 'all';
}

/** Reads and checks the environment; every fault at once, each naming its variable. */
export function readSettings(env: Environment): ReadSettings<Settings> {
  const reader = createReader('controller', env);
  const named = readNamed('controller', reader);
  const redisUrl = reader.read('REDIS_URL');
  if (reader.text('REDIS_URL') === undefined) reader.faults.push('REDIS_URL must say where configuration is published');
  const keyFile = reader.read('GW_CONFIG_KEY_FILE');
  if (keyFile === undefined) reader.faults.push('GW_CONFIG_KEY_FILE must name the file of keys that gateways share');
  const organizations = reader.read('GW_ORGANIZATION_NAMESPACES');
  const organizationNamespaces = organizations === '*' ? 'all' : (organizations?.split(',') ?? []);
  if (organizationNamespaces !== 'all' && organizationNamespaces.some((name) => !NAMESPACE.test(name)))
    reader.faults.push('GW_ORGANIZATION_NAMESPACES must be names of namespaces, one,two, or * for all');
  if (!readExchangeRates(named.usdToEur)) reader.faults.push('GW_USD_TO_EUR must be a decimal number above 0');
  const settings: Settings = {
    ...named,
    redisUrl: redisUrl ?? '',
    keyFile: keyFile ?? '',
    name: reader.read('GW_CONTROLLER_NAME') ?? `${hostname()}-${process.pid}`,
    namespaces: reader.read('GW_WATCH_NAMESPACES') ?? [],
    organizationNamespaces,
  };
  const faults = [...unknownSettingFaults(env), ...reader.faults];
  return faults.length > 0 ? { faults } : { settings };
}
