import { readBucket, type BucketSettings } from './bucket-settings.ts';
import type { Reader } from './reader.ts';

/** Where checkpoints are copied to, and for how long they are locked there. */
export interface AnchorSettings extends BucketSettings {
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  readonly retentionDays: number;
  /** Copy one checkpoint in so many. */
  readonly every: number;
}

/** Where checkpoints are copied to; undefined: nowhere. `place` goes before GW_ANCHOR_URL. */
export function readAnchorSettings(reader: Reader, place?: string): AnchorSettings | undefined {
  const url = place ?? reader.read('GW_ANCHOR_URL');
  if (url === undefined) return undefined;
  const bucket = readBucket(url, 'GW_ANCHOR', reader);
  if (!bucket) reader.faults.push('GW_ANCHOR_URL must have the form s3://bucket/prefix');
  const mode = reader.read('GW_ANCHOR_MODE');
  const retentionDays = reader.read('GW_ANCHOR_RETENTION_DAYS');
  const every = reader.read('GW_ANCHOR_EVERY');
  return bucket && { ...bucket, mode, retentionDays, every };
}
