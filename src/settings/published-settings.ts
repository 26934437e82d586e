import { hostname } from 'node:os';
import type { Reader } from './reader.ts';

/** Configuration that a controller publishes, instead of a folder. */
export interface PublishedSettings {
  /** Master keys that the controller shares: they decrypt secrets and verify the configuration. */
  readonly keyFile: string;
  /** What this gateway reports itself as; no two may have the same. */
  readonly gateway: string;
}

/** Reads where the configuration comes from; undefined: from a folder. */
export function readPublishedSettings(reader: Reader): PublishedSettings | undefined {
  if (reader.read('GW_CONFIG_SOURCE') === 'folder') return undefined;
  const { faults } = reader;
  const keyFile = reader.read('GW_CONFIG_KEY_FILE');
  if (reader.text('REDIS_URL') === undefined) faults.push('GW_CONFIG_SOURCE=redis needs REDIS_URL');
  if (keyFile === undefined)
    faults.push('GW_CONFIG_SOURCE=redis needs GW_CONFIG_KEY_FILE, which the controller shares');
  for (const name of ['GW_CONFIG_DIR', 'GW_BOOTSTRAP_KEY'] as const)
    if (reader.text(name) !== undefined) faults.push(`${name} must not be set with GW_CONFIG_SOURCE=redis`);
  const gateway = reader.read('GW_GATEWAY_NAME') ?? `${hostname()}-${process.pid}`;
  return keyFile === undefined ? undefined : { keyFile, gateway };
}
