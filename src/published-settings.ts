import { hostname } from 'node:os';
import type { SettingName } from '#/config/setting-names.ts';

/** Configuration that a controller publishes, instead of a folder. */
export interface PublishedSettings {
  /** Master keys that the controller shares: they open secrets and verify what is published. */
  readonly keyFile: string;
  /** What this gateway reports itself as; no two may have the same. */
  readonly gateway: string;
}

/**
 * Reads where the configuration comes from: `text` reads a variable. Undefined for a folder. Adds what is wrong to `faults`.
 */
export function readPublishedSettings(
  text: (name: SettingName, fallback?: string) => string | undefined,
  faults: string[],
): PublishedSettings | undefined {
  const source = text('GW_CONFIG_SOURCE', 'folder');
  if (source === 'folder') return undefined;
  if (source !== 'redis') {
    faults.push('GW_CONFIG_SOURCE must be folder or redis');
    return undefined;
  }
  const keyFile = text('GW_CONFIG_KEY_FILE');
  if (text('REDIS_URL') === undefined) faults.push('GW_CONFIG_SOURCE=redis needs REDIS_URL');
  if (keyFile === undefined)
    faults.push('GW_CONFIG_SOURCE=redis needs GW_CONFIG_KEY_FILE, which the controller shares');
  for (const name of ['GW_CONFIG_DIR', 'GW_BOOTSTRAP_KEY'] as const)
    if (text(name) !== undefined) faults.push(`${name} must not be set with GW_CONFIG_SOURCE=redis`);
  const gateway = text('GW_GATEWAY_NAME', `${hostname()}-${process.pid}`)!;
  if (!/^[A-Za-z0-9._-]{1,253}$/.test(gateway)) faults.push('GW_GATEWAY_NAME must be letters, digits, dashes and dots');
  return keyFile === undefined ? undefined : { keyFile, gateway };
}
