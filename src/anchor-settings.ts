import type { SettingName } from '#/config/setting-names.ts';
import { readBucket, type BucketSettings } from './bucket-settings.ts';
import { readWhole, type Environment } from './environment.ts';

/** Where checkpoints are copied to, and for how long they are locked there. */
export interface AnchorSettings extends BucketSettings {
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  readonly retentionDays: number;
  /** Every how many checkpoints one is copied. */
  readonly every: number;
}

/**
 * What the environment says of anchoring; undefined where it names no place. `env` gives a variable that is set and not
 * empty; faults are added to the list, each naming its variable. `place` goes before GW_ANCHOR_URL.
 */
export function readAnchorSettings(env: Environment, faults: string[], place?: string): AnchorSettings | undefined {
  const url = place ?? env('GW_ANCHOR_URL');
  if (url === undefined) return undefined;
  const bucket = readBucket(url, 'GW_ANCHOR', env, faults);
  if (!bucket) faults.push('GW_ANCHOR_URL must have the form s3://bucket/prefix');
  const mode = env('GW_ANCHOR_MODE') ?? 'COMPLIANCE';
  if (mode !== 'COMPLIANCE' && mode !== 'GOVERNANCE') faults.push('GW_ANCHOR_MODE must be COMPLIANCE or GOVERNANCE');
  const whole = (name: SettingName, fallback: number, most: number): number =>
    readWhole(env, faults, name, fallback, most);
  const retentionDays = whole('GW_ANCHOR_RETENTION_DAYS', 3650, 36_500);
  const every = whole('GW_ANCHOR_EVERY', 1, 1440);
  return bucket && { ...bucket, mode: mode === 'GOVERNANCE' ? mode : 'COMPLIANCE', retentionDays, every };
}
