import type { SettingName } from '#/config/setting-names.ts';
import { readBucket, type BucketSettings } from './bucket-settings.ts';
import { readWhole, type Environment } from './environment.ts';

/** How jobs on documents are kept and worked on. */
export interface JobSettings {
  /** Where their files are: in the database, in a folder, or in a bucket. */
  readonly files: 'database' | { readonly folder: string } | { readonly bucket: BucketSettings };
  /** Jobs that this process works on at once. */
  readonly atOnce: number;
  /** Jobs of one organization that may wait or run. */
  readonly waiting: number;
  /** Bytes of all documents and results. */
  readonly storedBytes: number;
  /** Hours that a result is kept. */
  readonly resultHours: number;
  /** Seconds that the address of a result holds. */
  readonly addressSeconds: number;
}

/** What the environment says of jobs. `env` gives a variable that is set and not empty; each fault names its variable. */
export function readJobSettings(env: Environment, faults: string[]): JobSettings {
  const whole = (name: SettingName, fallback: number, most: number): number =>
    readWhole(env, faults, name, fallback, most);
  return {
    files: readPlace(env, faults),
    atOnce: whole('GW_JOBS_AT_ONCE', 2, 64),
    waiting: whole('GW_JOBS_MAX_WAITING', 100, 100_000),
    storedBytes: whole('GW_JOBS_MAX_STORED_MIB', 10_240, 999_999) * 1024 * 1024,
    resultHours: whole('GW_JOBS_RESULT_HOURS', 24, 720),
    addressSeconds: whole('GW_JOBS_URL_SECONDS', 900, 86_400),
  };
}

function readPlace(env: Environment, faults: string[]): JobSettings['files'] {
  const place = env('GW_JOBS_FILES');
  if (place === undefined || place === 'database') return 'database';
  if (place.startsWith('/')) return { folder: place };
  const bucket = readBucket(place, 'GW_JOBS', env, faults);
  if (bucket) return { bucket };
  faults.push('GW_JOBS_FILES must be database, a folder such as /var/lib/jobs, or a bucket such as s3://bucket/prefix');
  return 'database';
}
