import { ANY, FLAG, mebibytes, POSTGRES, REDIS, text, WEB_URL, whole, words } from './forms.ts';
import type { SettingRows } from './setting.ts';

const MASTER_KEYS = 'a line `id:base64 of 32 bytes` for each key, the newest first';
const BUCKET_KEYS =
  'JSON file with `accessKeyId`, `secretAccessKey` and, if needed, `sessionToken`; read before every request';

/** Settings about stores and their content: counters, ledger, checkpoints, content, jobs, prices; and alerts. */
export const STORAGE_ROWS = {
  AWS_ACCESS_KEY_ID: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    meaning: 'Access key for buckets that have no credentials file.',
  },
  AWS_SECRET_ACCESS_KEY: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    secret: true,
    meaning: 'Secret key for buckets that have no credentials file.',
  },
  AWS_SESSION_TOKEN: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    secret: true,
    meaning: 'Session token that goes with `AWS_ACCESS_KEY_ID`.',
  },
  DATABASE_URL: {
    form: POSTGRES,
    readers: ['gateway', 'gwctl'],
    as: 'databaseUrl',
    unset: 'an embedded database in `GW_DATA_DIR`',
    secret: true,
    chart: 'own',
    meaning: 'PostgreSQL for the ledger.',
  },
  GW_ALERT_WEBHOOK_SECRET: {
    form: text(/^.{16,}$/s, 'have at least 16 characters'),
    readers: ['gateway'],
    secret: true,
    meaning: 'Signs alerts in `x-gw-signature`: `t=<seconds>,v1=<HMAC-SHA256 of "<seconds>.<body>">`.',
  },
  GW_ALERT_WEBHOOK_URL: {
    form: WEB_URL,
    readers: ['gateway'],
    secret: true,
    meaning: 'Where alerts about money are posted as JSON. Needs `GW_ALERT_WEBHOOK_SECRET`.',
  },
  GW_ANCHOR_CREDENTIALS_FILE: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    unset: '`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`',
    meaning: `Credentials of the bucket: ${BUCKET_KEYS}.`,
  },
  GW_ANCHOR_ENDPOINT: {
    form: WEB_URL,
    readers: ['gateway', 'gwctl'],
    unset: "Amazon's",
    meaning: 'Address of another S3-compatible storage.',
  },
  GW_ANCHOR_EVERY: {
    form: whole(1, 1440),
    readers: ['gateway', 'gwctl'],
    default: '1',
    meaning: 'Copy one checkpoint in so many. Each one also stands for those before it.',
  },
  GW_ANCHOR_MODE: {
    form: words('COMPLIANCE', 'GOVERNANCE'),
    readers: ['gateway', 'gwctl'],
    default: 'COMPLIANCE',
    meaning: 'How the bucket locks a copy.',
  },
  GW_ANCHOR_REGION: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    default: 'us-east-1',
    meaning: 'Region of the bucket.',
  },
  GW_ANCHOR_RETENTION_DAYS: {
    form: whole(1, 36_500),
    readers: ['gateway', 'gwctl'],
    default: '3650',
    meaning: 'Days for which the bucket locks a copy.',
  },
  GW_ANCHOR_URL: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    unset: 'checkpoints are not copied',
    meaning: 'Bucket that checkpoints are copied to, as `s3://bucket/prefix`. The bucket needs object lock.',
  },
  GW_CACHE_REDIS_URL: {
    form: REDIS,
    readers: ['gateway', 'gwctl'],
    as: 'cacheRedisUrl',
    unset: '`REDIS_URL`',
    secret: true,
    chart: 'own',
    meaning: 'Redis for cached answers. It may forget (`allkeys-lru`).',
  },
  GW_CHECKPOINT_KEY_FILE: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    unset: '`checkpoint-key.pem` in `GW_DATA_DIR`',
    chart: 'own',
    meaning:
      'File of the Ed25519 keys (PEM) that sign checkpoints, the newest first. The gateway makes a missing file, and next to it the public key as `.pub`.',
  },
  GW_CONTENT_KEY_FILE: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    unset: '`content-keys` in `GW_DATA_DIR`',
    chart: 'own',
    meaning: `File of the keys of the response cache and of retained content: ${MASTER_KEYS}. The gateway makes a missing file. All gateways need the same keys. To rotate, add a line on top and restart.`,
  },
  GW_DATA_DIR: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    as: 'dataDir',
    default: '.data',
    chart: 'own',
    meaning: 'Folder of the embedded database, and of the journals of open holds and of rows.',
  },
  GW_JOBS_AT_ONCE: {
    form: whole(1, 64),
    readers: ['gateway'],
    default: '2',
    meaning: 'Jobs that a gateway works on at the same time.',
  },
  GW_JOBS_CREDENTIALS_FILE: {
    form: ANY,
    readers: ['gateway'],
    unset: '`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`',
    meaning: `Credentials of the bucket of \`GW_JOBS_FILES\`: ${BUCKET_KEYS}.`,
  },
  GW_JOBS_ENDPOINT: {
    form: WEB_URL,
    readers: ['gateway'],
    unset: "Amazon's",
    meaning: 'Address of another S3-compatible storage for `GW_JOBS_FILES`.',
  },
  GW_JOBS_FILES: {
    form: ANY,
    readers: ['gateway'],
    default: 'database',
    meaning:
      'Where documents and results of jobs are stored: `database`, a folder such as `/var/lib/jobs` that all gateways mount, or `s3://bucket/prefix`.',
  },
  GW_JOBS_MAX_STORED_MIB: {
    form: mebibytes(1, 999_999),
    readers: ['gateway'],
    default: '10240',
    meaning: 'Documents and results of all jobs, in MiB. Beyond it clients get 503.',
  },
  GW_JOBS_MAX_WAITING: {
    form: whole(1, 100_000),
    readers: ['gateway'],
    default: '100',
    meaning: 'Jobs of one organization that may wait or run. Beyond it clients get 429.',
  },
  GW_JOBS_REGION: {
    form: ANY,
    readers: ['gateway'],
    default: 'us-east-1',
    meaning: 'Region of the bucket of `GW_JOBS_FILES`.',
  },
  GW_JOBS_RESULT_HOURS: {
    form: whole(1, 720),
    readers: ['gateway'],
    default: '24',
    meaning: 'Hours that the result of a job is kept.',
  },
  GW_JOBS_URL_SECONDS: {
    form: whole(1, 86_400),
    readers: ['gateway'],
    default: '900',
    meaning: 'Seconds that a `result_url` is valid.',
  },
  GW_LEDGER_JOURNAL_MIB: {
    form: mebibytes(0, 65_536),
    readers: ['gateway'],
    as: 'journalBytes',
    default: '128',
    meaning: 'Audit rows that may wait on disk while PostgreSQL is away, in MiB. `0`: rows wait in memory.',
  },
  GW_LEDGER_RETENTION_MONTHS: {
    form: ANY,
    readers: ['gwctl'],
    unset: '`gwctl audit retain` needs `--months`',
    meaning: 'Whole months that `gwctl audit retain` keeps.',
  },
  GW_PRICES_FILE: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    unset: 'the bundled prices',
    meaning: 'Signed price snapshot. The gateway follows the file as it is replaced.',
  },
  GW_PRICES_KEY_FILE: {
    form: ANY,
    readers: ['gateway', 'gwctl'],
    meaning: 'Public key (PEM) that `GW_PRICES_FILE` is signed with.',
  },
  GW_PRICES_MAX_AGE_DAYS: {
    form: whole(1, 3650),
    readers: ['gateway'],
    default: '30',
    meaning: 'Days after which the gateway warns of an old price snapshot.',
  },
  REDIS_CLUSTER: {
    form: FLAG,
    readers: ['gateway', 'controller', 'gwctl'],
    as: 'redisCluster',
    default: 'false',
    chart: 'own',
    meaning: '`true`: `REDIS_URL` names one node of a Redis Cluster.',
  },
  REDIS_URL: {
    form: REDIS,
    readers: ['gateway', 'controller', 'gwctl'],
    unset: 'this process counts alone; the controller needs it',
    secret: true,
    chart: 'own',
    meaning: 'Redis for shared counters, and for the configuration that a controller publishes.',
  },
} as const satisfies SettingRows;
