import { readBucket, type BucketSettings } from './bucket-settings.ts';
import type { Reader } from './reader.ts';

/** How jobs on documents are stored and run. */
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
  /** Seconds that the address of a result is valid. */
  readonly addressSeconds: number;
}

/** Reads the settings about jobs. */
export function readJobSettings(reader: Reader): JobSettings {
  return {
    files: readPlace(reader),
    atOnce: reader.read('GW_JOBS_AT_ONCE'),
    waiting: reader.read('GW_JOBS_MAX_WAITING'),
    storedBytes: reader.read('GW_JOBS_MAX_STORED_MIB'),
    resultHours: reader.read('GW_JOBS_RESULT_HOURS'),
    addressSeconds: reader.read('GW_JOBS_URL_SECONDS'),
  };
}

function readPlace(reader: Reader): JobSettings['files'] {
  const place = reader.read('GW_JOBS_FILES');
  if (place === 'database') return 'database';
  if (place.startsWith('/')) return { folder: place };
  const bucket = readBucket(place, 'GW_JOBS', reader);
  if (bucket) return { bucket };
  reader.faults.push(
    'GW_JOBS_FILES must be database, a folder such as /var/lib/jobs, or a bucket such as s3://bucket/prefix',
  );
  return 'database';
}
