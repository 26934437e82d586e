import { readFile } from 'node:fs/promises';

/** Where checkpoints are copied to, and for how long they are locked there. */
export interface AnchorSettings {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  readonly endpoint?: string;
  readonly region: string;
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  readonly retentionDays: number;
  /** Every how many checkpoints one is copied. */
  readonly every: number;
  /** Read before every request. */
  readonly credentials: () => Promise<AnchorCredentials>;
}

export interface AnchorCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

type Environment = (name: string) => string | undefined;

/** `s3://bucket/prefix` as its parts; undefined when it is something else. */
function anchorAddress(url: string): Pick<AnchorSettings, 'bucket' | 'prefix'> | undefined {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*?))?\/?$/.exec(url);
  return match ? { bucket: match[1]!, prefix: match[2] ?? '' } : undefined;
}

/**
 * What the environment says of anchoring; undefined where it names no place. `env` gives a variable that is set and not
 * empty; faults are added to the list, each naming its variable. `place` goes before GW_ANCHOR_URL.
 */
export function readAnchorSettings(env: Environment, faults: string[], place?: string): AnchorSettings | undefined {
  const url = place ?? env('GW_ANCHOR_URL');
  if (url === undefined) return undefined;
  const address = anchorAddress(url);
  if (!address) faults.push('GW_ANCHOR_URL must be like s3://bucket/prefix');
  const endpoint = env('GW_ANCHOR_ENDPOINT');
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    faults.push('GW_ANCHOR_ENDPOINT must be a URL starting with https: or http:');
  const mode = env('GW_ANCHOR_MODE') ?? 'COMPLIANCE';
  if (mode !== 'COMPLIANCE' && mode !== 'GOVERNANCE') faults.push('GW_ANCHOR_MODE must be COMPLIANCE or GOVERNANCE');
  const whole = (name: string, fallback: number, most: number): number => {
    const value = env(name) ?? String(fallback);
    if (/^\d{1,6}$/.test(value) && Number(value) >= 1 && Number(value) <= most) return Number(value);
    faults.push(`${name} must be a whole number from 1 to ${most}`);
    return fallback;
  };
  const file = env('GW_ANCHOR_CREDENTIALS_FILE');
  const accessKeyId = env('AWS_ACCESS_KEY_ID');
  const secretAccessKey = env('AWS_SECRET_ACCESS_KEY');
  const sessionToken = env('AWS_SESSION_TOKEN');
  if (file === undefined && (accessKeyId === undefined || secretAccessKey === undefined))
    faults.push('GW_ANCHOR_URL needs GW_ANCHOR_CREDENTIALS_FILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  const fixed = {
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
    ...(sessionToken !== undefined && { sessionToken }),
  };
  return {
    ...(address ?? { bucket: '', prefix: '' }),
    ...(endpoint !== undefined && { endpoint }),
    region: env('GW_ANCHOR_REGION') ?? 'us-east-1',
    mode: mode === 'GOVERNANCE' ? mode : 'COMPLIANCE',
    retentionDays: whole('GW_ANCHOR_RETENTION_DAYS', 3650, 36_500),
    every: whole('GW_ANCHOR_EVERY', 1, 1440),
    credentials: file === undefined ? () => Promise.resolve(fixed) : () => credentialsIn(file),
  };
}

/** JSON with accessKeyId, secretAccessKey and perhaps sessionToken. What it says otherwise is not repeated. */
async function credentialsIn(file: string): Promise<AnchorCredentials> {
  const text = await readFile(file, 'utf8');
  let read: Partial<Record<keyof AnchorCredentials, unknown>> = {};
  try {
    read = (JSON.parse(text) as typeof read | null) ?? {};
  } catch {
    // Told below: the text of the error would hold the secret.
  }
  const { accessKeyId, secretAccessKey, sessionToken } = read;
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string')
    throw new TypeError('GW_ANCHOR_CREDENTIALS_FILE must hold JSON with accessKeyId and secretAccessKey');
  return { accessKeyId, secretAccessKey, ...(typeof sessionToken === 'string' && { sessionToken }) };
}
