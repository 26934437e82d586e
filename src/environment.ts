import type { SettingName } from '#/config/setting-names.ts';

/** A variable that is set and not empty. */
export type Environment = (name: SettingName) => string | undefined;

/** A whole number from 1 to `most`; otherwise a fault that names the variable, and the fallback. */
export function readWhole(
  env: Environment,
  faults: string[],
  name: SettingName,
  fallback: number,
  most: number,
): number {
  const value = env(name) ?? String(fallback);
  if (/^\d{1,6}$/.test(value) && Number(value) >= 1 && Number(value) <= most) return Number(value);
  faults.push(`${name} must be a whole number from 1 to ${most}`);
  return fallback;
}
