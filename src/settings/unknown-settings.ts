import { nearest } from '#/values/nearest.ts';
import { SETTINGS } from './table.ts';

const KNOWN: ReadonlySet<string> = new Set(Object.keys(SETTINGS));

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
