import type { SettingName } from '#/config/setting-names.ts';
import type { AuditDefaults } from './audit-source.ts';
import type { ContentDefaults } from './content.ts';
import type { CreditDefaults } from './credit.ts';
import type { Output } from './output.ts';
import type { PriceDefaults } from './price.ts';

interface Command {
  readonly help: string;
  readonly run: (args: readonly string[], output: Output) => number | Promise<number>;
}

type Environment = (name: SettingName) => string | undefined;

interface Entry {
  readonly summary: string;
  /** Commands are loaded when they are asked for. */
  readonly load: () => Promise<Command>;
}

const contentDefaults = (env: Environment): ContentDefaults => ({
  databaseUrl: env('DATABASE_URL'),
  dataDir: env('GW_DATA_DIR') ?? '.data',
  keyFile: env('GW_CONTENT_KEY_FILE'),
  redisUrl: env('GW_CACHE_REDIS_URL') ?? env('REDIS_URL'),
});

const creditDefaults = (env: Environment): CreditDefaults => ({
  databaseUrl: env('DATABASE_URL'),
  dataDir: env('GW_DATA_DIR') ?? '.data',
  actor: env('USER') ?? 'gwctl',
});

const auditDefaults = (env: Environment): AuditDefaults => ({
  databaseUrl: env('DATABASE_URL'),
  dataDir: env('GW_DATA_DIR') ?? '.data',
  checkpointKeyFile: env('GW_CHECKPOINT_KEY_FILE'),
  retentionMonths: env('GW_LEDGER_RETENTION_MONTHS'),
  env,
});

const priceDefaults = (env: Environment): PriceDefaults => ({
  databaseUrl: env('DATABASE_URL'),
  dataDir: env('GW_DATA_DIR') ?? '.data',
  usdToEur: env('GW_USD_TO_EUR') ?? '0.92',
  pricesFile: env('GW_PRICES_FILE'),
  publicKeyFile: env('GW_PRICES_KEY_FILE'),
  configDir: env('GW_CONFIG_DIR'),
});

/** Every command by the words that call it. `env`: the settings that commands take their defaults from. */
export function createCommands(env: Environment): Readonly<Record<string, Entry>> {
  return {
    'audit verify': {
      summary: 'Verify the audit chain and report what was changed',
      load: async () => {
        const { AUDIT_VERIFY_HELP, auditVerify } = await import('./audit-verify.ts');
        return { help: AUDIT_VERIFY_HELP, run: (args, output) => auditVerify(args, auditDefaults(env), output) };
      },
    },
    'audit export': {
      summary: 'Export the rows of an organization so that others can verify them',
      load: async () => {
        const { AUDIT_EXPORT_HELP, auditExport } = await import('./audit-export.ts');
        return { help: AUDIT_EXPORT_HELP, run: (args, output) => auditExport(args, auditDefaults(env), output) };
      },
    },
    'audit prove': {
      summary: 'Prove that a call is in the audit ledger',
      load: async () => {
        const { AUDIT_PROVE_HELP, auditProve } = await import('./audit-prove.ts');
        return { help: AUDIT_PROVE_HELP, run: (args, output) => auditProve(args, auditDefaults(env), output) };
      },
    },
    'audit anchor': {
      summary: 'Copy checkpoints to object storage',
      load: async () => {
        const { AUDIT_ANCHOR_HELP, auditAnchor } = await import('./audit-anchor.ts');
        return { help: AUDIT_ANCHOR_HELP, run: (args, output) => auditAnchor(args, auditDefaults(env), output) };
      },
    },
    'audit retain': {
      summary: 'Drop rows that are older than the retention period',
      load: async () => {
        const { AUDIT_RETAIN_HELP, auditRetain } = await import('./audit-retain.ts');
        return { help: AUDIT_RETAIN_HELP, run: (args, output) => auditRetain(args, auditDefaults(env), output) };
      },
    },
    usage: {
      summary: 'Show who used what, and what it cost',
      load: async () => {
        const { USAGE_HELP, usage } = await import('./usage.ts');
        const defaults = { databaseUrl: env('DATABASE_URL'), dataDir: env('GW_DATA_DIR') ?? '.data' };
        return { help: USAGE_HELP, run: (args, output) => usage(args, defaults, output) };
      },
    },
    'content show': {
      summary: 'Show the retained content of a call',
      load: async () => {
        const { CONTENT_SHOW_HELP, contentShow } = await import('./content.ts');
        return { help: CONTENT_SHOW_HELP, run: (args, output) => contentShow(args, contentDefaults(env), output) };
      },
    },
    'content erase': {
      summary: 'Erase the retained content of an organization',
      load: async () => {
        const { CONTENT_ERASE_HELP, contentErase } = await import('./content.ts');
        return { help: CONTENT_ERASE_HELP, run: (args, output) => contentErase(args, contentDefaults(env), output) };
      },
    },
    'credit add': {
      summary: 'Add prepaid credit, or a correction',
      load: async () => {
        const { CREDIT_ADD_HELP, creditAdd } = await import('./credit.ts');
        return { help: CREDIT_ADD_HELP, run: (args, output) => creditAdd(args, creditDefaults(env), output) };
      },
    },
    'credit list': {
      summary: 'List the credit entries of an organization',
      load: async () => {
        const { CREDIT_LIST_HELP, creditList } = await import('./credit.ts');
        return { help: CREDIT_LIST_HELP, run: (args, output) => creditList(args, creditDefaults(env), output) };
      },
    },
    'credit balance': {
      summary: 'Show how much credit an organization has left',
      load: async () => {
        const { CREDIT_BALANCE_HELP, creditBalance } = await import('./credit.ts');
        return { help: CREDIT_BALANCE_HELP, run: (args, output) => creditBalance(args, creditDefaults(env), output) };
      },
    },
    migrate: {
      summary: 'Update the schema of the database',
      load: async () => {
        const { MIGRATE_HELP, migrate } = await import('./migrate.ts');
        return { help: MIGRATE_HELP, run: (args, output) => migrate(args, env('DATABASE_URL'), output) };
      },
    },
    reconcile: {
      summary: 'Compare counters with the ledger, and repair them',
      load: async () => {
        const { RECONCILE_HELP, reconcile } = await import('./reconcile.ts');
        const defaults = {
          configDir: env('GW_CONFIG_DIR'),
          secretsDir: env('GW_SECRETS_DIR'),
          redisUrl: env('REDIS_URL'),
          redisCluster: env('REDIS_CLUSTER') === 'true',
          databaseUrl: env('DATABASE_URL'),
          usdToEur: env('GW_USD_TO_EUR') ?? '0.92',
        };
        return { help: RECONCILE_HELP, run: (args, output) => reconcile(args, defaults, output) };
      },
    },
    'key create': {
      summary: 'Create a key for a workload',
      load: async () => {
        const { KEY_CREATE_HELP, keyCreate } = await import('./key-create.ts');
        const kubeconfig = env('KUBECONFIG') ?? (env('HOME') && `${env('HOME')}/.kube/config`);
        return { help: KEY_CREATE_HELP, run: (args, output) => keyCreate(args, output, kubeconfig) };
      },
    },
    'config check': {
      summary: 'Check a folder of resources',
      load: async () => {
        const { CONFIG_CHECK_HELP, checkConfig } = await import('./config.ts');
        return { help: CONFIG_CHECK_HELP, run: checkConfig };
      },
    },
    explain: {
      summary: 'Explain how policy and routing treat a call',
      load: async () => {
        const { EXPLAIN_HELP, explain } = await import('./explain.ts');
        const defaults = { usdToEur: env('GW_USD_TO_EUR') ?? '0.92' };
        return { help: EXPLAIN_HELP, run: (args, output) => explain(args, defaults, output) };
      },
    },
    decode: {
      summary: 'Decode recorded answers of providers',
      load: async () => {
        const { DECODE_HELP, decode } = await import('./decode.ts');
        const defaults = { usdToEur: env('GW_USD_TO_EUR') ?? '0.92' };
        return { help: DECODE_HELP, run: (args, output) => decode(args, defaults, output) };
      },
    },
    'price explain': {
      summary: 'Explain how a call was priced, or would be',
      load: async () => {
        const { PRICE_EXPLAIN_HELP, explainPrice } = await import('./price.ts');
        return { help: PRICE_EXPLAIN_HELP, run: (args, output) => explainPrice(args, priceDefaults(env), output) };
      },
    },
    'price snapshot': {
      summary: 'Merge price lists into a signed file',
      load: async () => {
        const { PRICE_SNAPSHOT_HELP, priceSnapshot } = await import('./price-snapshot.ts');
        return { help: PRICE_SNAPSHOT_HELP, run: priceSnapshot };
      },
    },
    'price verify': {
      summary: 'Check the signature of a price snapshot',
      load: async () => {
        const { PRICE_VERIFY_HELP, priceVerify } = await import('./price-snapshot.ts');
        return { help: PRICE_VERIFY_HELP, run: (args, output) => priceVerify(args, priceDefaults(env), output) };
      },
    },
  };
}

/** What `gwctl --help` prints. */
export function overviewOf(commands: Readonly<Record<string, Entry>>): string {
  const list = Object.entries(commands).map(([name, { summary }]) => `  gwctl ${name.padEnd(14)} ${summary}`);
  return `gwctl: the command line of Gatewarden

${list.join('\n')}

For details, run gwctl COMMAND --help. Every command exits with 2 when it cannot do its work.`;
}
