import { readFile } from 'node:fs/promises';
import type { Reader } from './reader.ts';

/** A bucket, a prefix in it, and who asks. */
export interface BucketSettings {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  readonly endpoint?: string;
  readonly region: string;
  /** Read before every request. */
  readonly credentials: () => Promise<BucketCredentials>;
}

/** What the variables about a bucket begin with. */
type Family = 'GW_ANCHOR' | 'GW_JOBS';

/** Keys for a bucket. */
interface BucketCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * The bucket that `url` names (`s3://bucket/prefix`), with what variables that begin with `family` say of it: `_ENDPOINT`,
 * `_REGION`, `_CREDENTIALS_FILE`. Undefined where `url` is not such an address.
 */
export function readBucket(url: string, family: Family, reader: Reader): BucketSettings | undefined {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*?))?\/?$/.exec(url);
  if (!match) return undefined;
  const endpoint = reader.read(`${family}_ENDPOINT`);
  return {
    bucket: match[1]!,
    prefix: match[2] ?? '',
    ...(endpoint !== undefined && { endpoint }),
    region: reader.read(`${family}_REGION`),
    credentials: readCredentials(family, reader),
  };
}

function readCredentials(family: Family, reader: Reader): BucketSettings['credentials'] {
  const file = reader.read(`${family}_CREDENTIALS_FILE`);
  if (file !== undefined) return () => credentialsIn(file, family);
  const accessKeyId = reader.read('AWS_ACCESS_KEY_ID');
  const secretAccessKey = reader.read('AWS_SECRET_ACCESS_KEY');
  const sessionToken = reader.read('AWS_SESSION_TOKEN');
  if (accessKeyId === undefined || secretAccessKey === undefined)
    reader.faults.push(
      `a bucket needs credentials: set ${family}_CREDENTIALS_FILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  const fixed = {
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
    ...(sessionToken !== undefined && { sessionToken }),
  };
  return () => Promise.resolve(fixed);
}

/** JSON with accessKeyId, secretAccessKey and perhaps sessionToken. Errors do not quote it. */
async function credentialsIn(file: string, family: string): Promise<BucketCredentials> {
  const text = await readFile(file, 'utf8');
  let read: Partial<Record<keyof BucketCredentials, unknown>> = {};
  try {
    read = (JSON.parse(text) as typeof read | null) ?? {};
  } catch {
    // Reported below: the text of this error would hold the secret.
  }
  const { accessKeyId, secretAccessKey, sessionToken } = read;
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string')
    throw new TypeError(`${family}_CREDENTIALS_FILE must hold JSON with accessKeyId and secretAccessKey`);
  return { accessKeyId, secretAccessKey, ...(typeof sessionToken === 'string' && { sessionToken }) };
}
