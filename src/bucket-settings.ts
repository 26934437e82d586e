import { readFile } from 'node:fs/promises';
import type { Environment } from './environment.ts';

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
 * `_REGION`, `_CREDENTIALS_FILE`. Undefined where it is no such address. Faults are added, each naming its variable.
 */
export function readBucket(
  url: string,
  family: Family,
  env: Environment,
  faults: string[],
): BucketSettings | undefined {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*?))?\/?$/.exec(url);
  if (!match) return undefined;
  const endpoint = env(`${family}_ENDPOINT`);
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    faults.push(`${family}_ENDPOINT must be a URL starting with https: or http:`);
  return {
    bucket: match[1]!,
    prefix: match[2] ?? '',
    ...(endpoint !== undefined && { endpoint }),
    region: env(`${family}_REGION`) ?? 'us-east-1',
    credentials: readCredentials(family, env, faults),
  };
}

function readCredentials(family: Family, env: Environment, faults: string[]): BucketSettings['credentials'] {
  const file = env(`${family}_CREDENTIALS_FILE`);
  if (file !== undefined) return () => credentialsIn(file, family);
  const accessKeyId = env('AWS_ACCESS_KEY_ID');
  const secretAccessKey = env('AWS_SECRET_ACCESS_KEY');
  const sessionToken = env('AWS_SESSION_TOKEN');
  if (accessKeyId === undefined || secretAccessKey === undefined)
    faults.push(
      `a bucket needs credentials: set ${family}_CREDENTIALS_FILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  const fixed = {
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
    ...(sessionToken !== undefined && { sessionToken }),
  };
  return () => Promise.resolve(fixed);
}

/** JSON with accessKeyId, secretAccessKey and perhaps sessionToken. What it says otherwise is not repeated. */
async function credentialsIn(file: string, family: string): Promise<BucketCredentials> {
  const text = await readFile(file, 'utf8');
  let read: Partial<Record<keyof BucketCredentials, unknown>> = {};
  try {
    read = (JSON.parse(text) as typeof read | null) ?? {};
  } catch {
    // Told below: the text of the error would hold the secret.
  }
  const { accessKeyId, secretAccessKey, sessionToken } = read;
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string')
    throw new TypeError(`${family}_CREDENTIALS_FILE must hold JSON with accessKeyId and secretAccessKey`);
  return { accessKeyId, secretAccessKey, ...(typeof sessionToken === 'string' && { sessionToken }) };
}
