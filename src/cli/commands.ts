import type { Reader } from '#/settings/reader.ts';
import type { AuditDefaults } from './audit/source.ts';
import type { ContentDefaults } from './stores/content.ts';
import type { CreditDefaults } from './spend/credit.ts';
import type { Output } from './terminal/output.ts';
import type { PriceDefaults } from './price/price.ts';

interface Command {
  readonly help: string;
  readonly run: (args: readonly string[], output: Output) => number | Promise<number>;
}

interface Entry {
  readonly summary: string;
  /** Commands are loaded when they are asked for. */
  readonly load: () => Promise<Command>;
}

const contentDefaults = (settings: Reader): ContentDefaults => ({
  databaseUrl: settings.text('DATABASE_URL'),
  dataDir: settings.text('GW_DATA_DIR'),
  keyFile: settings.text('GW_CONTENT_KEY_FILE'),
  redisUrl: settings.text('GW_CACHE_REDIS_URL') ?? settings.text('REDIS_URL'),
});

const creditDefaults = (settings: Reader): CreditDefaults => ({
  databaseUrl: settings.text('DATABASE_URL'),
  dataDir: settings.text('GW_DATA_DIR'),
  actor: settings.text('USER') ?? 'gwctl',
});

const auditDefaults = (settings: Reader): AuditDefaults => ({
  databaseUrl: settings.text('DATABASE_URL'),
  dataDir: settings.text('GW_DATA_DIR'),
  checkpointKeyFile: settings.text('GW_CHECKPOINT_KEY_FILE'),
  retentionMonths: settings.text('GW_LEDGER_RETENTION_MONTHS'),
  settings,
});

const priceDefaults = (settings: Reader): PriceDefaults => ({
  databaseUrl: settings.text('DATABASE_URL'),
  dataDir: settings.text('GW_DATA_DIR'),
  usdToEur: settings.text('GW_USD_TO_EUR'),
  pricesFile: settings.text('GW_PRICES_FILE'),
  publicKeyFile: settings.text('GW_PRICES_KEY_FILE'),
  configDir: settings.text('GW_CONFIG_DIR'),
});

type Commands = Readonly<Record<string, Entry>>;

/** Every command by the words that call it. `settings`: what commands take their defaults from. */
export function createCommands(settings: Reader): Commands {
  return {
    ...ledgerCommands(settings),
    ...contentCommands(settings),
    ...creditCommands(settings),
    ...storeCommands(settings),
    ...configCommands(settings),
    ...priceCommands(settings),
    ...toolCommands(settings),
  };
}

function ledgerCommands(settings: Reader): Commands {
  return {
    'audit verify': {
      summary: 'Verify the audit chain and report what was changed',
      load: async () => {
        const { AUDIT_VERIFY_HELP, auditVerify } = await import('./audit/verify.ts');
        return { help: AUDIT_VERIFY_HELP, run: (args, output) => auditVerify(args, auditDefaults(settings), output) };
      },
    },
    'audit export': {
      summary: 'Export the rows of an organization so that others can verify them',
      load: async () => {
        const { AUDIT_EXPORT_HELP, auditExport } = await import('./audit/export.ts');
        return { help: AUDIT_EXPORT_HELP, run: (args, output) => auditExport(args, auditDefaults(settings), output) };
      },
    },
    'audit prove': {
      summary: 'Prove that a call is in the audit ledger',
      load: async () => {
        const { AUDIT_PROVE_HELP, auditProve } = await import('./audit/prove.ts');
        return { help: AUDIT_PROVE_HELP, run: (args, output) => auditProve(args, auditDefaults(settings), output) };
      },
    },
    'audit anchor': {
      summary: 'Copy checkpoints to object storage',
      load: async () => {
        const { AUDIT_ANCHOR_HELP, auditAnchor } = await import('./audit/anchor.ts');
        return { help: AUDIT_ANCHOR_HELP, run: (args, output) => auditAnchor(args, auditDefaults(settings), output) };
      },
    },
    'audit retain': {
      summary: 'Drop rows that are older than the retention period',
      load: async () => {
        const { AUDIT_RETAIN_HELP, auditRetain } = await import('./audit/retain.ts');
        return { help: AUDIT_RETAIN_HELP, run: (args, output) => auditRetain(args, auditDefaults(settings), output) };
      },
    },
    usage: {
      summary: 'Show who used what, and what it cost',
      load: async () => {
        const { USAGE_HELP, usage } = await import('./spend/usage.ts');
        const defaults = { databaseUrl: settings.text('DATABASE_URL'), dataDir: settings.text('GW_DATA_DIR') };
        return { help: USAGE_HELP, run: (args, output) => usage(args, defaults, output) };
      },
    },
  };
}

function contentCommands(settings: Reader): Commands {
  return {
    'content show': {
      summary: 'Show the retained content of a call',
      load: async () => {
        const { CONTENT_SHOW_HELP, contentShow } = await import('./stores/content.ts');
        return { help: CONTENT_SHOW_HELP, run: (args, output) => contentShow(args, contentDefaults(settings), output) };
      },
    },
    'content erase': {
      summary: 'Erase the retained content of an organization',
      load: async () => {
        const { CONTENT_ERASE_HELP, contentErase } = await import('./stores/content.ts');
        return {
          help: CONTENT_ERASE_HELP,
          run: (args, output) => contentErase(args, contentDefaults(settings), output),
        };
      },
    },
  };
}

function creditCommands(settings: Reader): Commands {
  return {
    'credit add': {
      summary: 'Add prepaid credit, or a correction',
      load: async () => {
        const { CREDIT_ADD_HELP, creditAdd } = await import('./spend/credit.ts');
        return { help: CREDIT_ADD_HELP, run: (args, output) => creditAdd(args, creditDefaults(settings), output) };
      },
    },
    'credit list': {
      summary: 'List the credit entries of an organization',
      load: async () => {
        const { CREDIT_LIST_HELP, creditList } = await import('./spend/credit.ts');
        return { help: CREDIT_LIST_HELP, run: (args, output) => creditList(args, creditDefaults(settings), output) };
      },
    },
    'credit balance': {
      summary: 'Show how much credit an organization has left',
      load: async () => {
        const { CREDIT_BALANCE_HELP, creditBalance } = await import('./spend/credit.ts');
        return {
          help: CREDIT_BALANCE_HELP,
          run: (args, output) => creditBalance(args, creditDefaults(settings), output),
        };
      },
    },
  };
}

function storeCommands(settings: Reader): Commands {
  return {
    migrate: {
      summary: 'Update the schema of the database',
      load: async () => {
        const { MIGRATE_HELP, migrate } = await import('./stores/migrate.ts');
        return { help: MIGRATE_HELP, run: (args, output) => migrate(args, settings.text('DATABASE_URL'), output) };
      },
    },
    reconcile: {
      summary: 'Compare counters with the ledger, and repair them',
      load: async () => {
        const { RECONCILE_HELP, reconcile } = await import('./spend/reconcile.ts');
        const defaults = {
          configDir: settings.text('GW_CONFIG_DIR'),
          secretsDir: settings.text('GW_SECRETS_DIR'),
          redisUrl: settings.text('REDIS_URL'),
          redisCluster: settings.text('REDIS_CLUSTER') === 'true',
          databaseUrl: settings.text('DATABASE_URL'),
          usdToEur: settings.text('GW_USD_TO_EUR'),
        };
        return { help: RECONCILE_HELP, run: (args, output) => reconcile(args, defaults, output) };
      },
    },
  };
}

function configCommands(settings: Reader): Commands {
  return {
    'key create': {
      summary: 'Create a key for a workload',
      load: async () => {
        const { KEY_CREATE_HELP, keyCreate } = await import('./config/key-create.ts');
        const kubeconfig =
          settings.text('KUBECONFIG') ?? (settings.text('HOME') && `${settings.text('HOME')}/.kube/config`);
        return { help: KEY_CREATE_HELP, run: (args, output) => keyCreate(args, output, kubeconfig) };
      },
    },
    'config check': {
      summary: 'Check a folder of resources',
      load: async () => {
        const { CONFIG_CHECK_HELP, checkConfig } = await import('./config/check.ts');
        return { help: CONFIG_CHECK_HELP, run: checkConfig };
      },
    },
    explain: {
      summary: 'Explain how policy and routing treat a call',
      load: async () => {
        const { EXPLAIN_HELP, explain } = await import('./explain/explain.ts');
        const defaults = { usdToEur: settings.text('GW_USD_TO_EUR') };
        return { help: EXPLAIN_HELP, run: (args, output) => explain(args, defaults, output) };
      },
    },
    decode: {
      summary: 'Decode recorded answers of providers',
      load: async () => {
        const { DECODE_HELP, decode } = await import('./decode/decode.ts');
        const defaults = { usdToEur: settings.text('GW_USD_TO_EUR') };
        return { help: DECODE_HELP, run: (args, output) => decode(args, defaults, output) };
      },
    },
  };
}

function priceCommands(settings: Reader): Commands {
  return {
    'price explain': {
      summary: 'Explain how a call was priced, or would be',
      load: async () => {
        const { PRICE_EXPLAIN_HELP, explainPrice } = await import('./price/price.ts');
        return { help: PRICE_EXPLAIN_HELP, run: (args, output) => explainPrice(args, priceDefaults(settings), output) };
      },
    },
    'price snapshot': {
      summary: 'Merge price lists into a signed file',
      load: async () => {
        const { PRICE_SNAPSHOT_HELP, priceSnapshot } = await import('./price/price-snapshot.ts');
        return { help: PRICE_SNAPSHOT_HELP, run: priceSnapshot };
      },
    },
    'price verify': {
      summary: 'Check the signature of a price snapshot',
      load: async () => {
        const { PRICE_VERIFY_HELP, priceVerify } = await import('./price/price-snapshot.ts');
        return { help: PRICE_VERIFY_HELP, run: (args, output) => priceVerify(args, priceDefaults(settings), output) };
      },
    },
  };
}

function toolCommands(settings: Reader): Commands {
  const defaults = { databaseUrl: settings.text('DATABASE_URL'), dataDir: settings.text('GW_DATA_DIR') };
  return {
    'mcp servers': {
      summary: 'List MCP servers, with their tools by state',
      load: async () => {
        const { MCP_SERVERS_HELP, mcpServers } = await import('./mcp/tools.ts');
        return { help: MCP_SERVERS_HELP, run: (args, output) => mcpServers(args, defaults, output) };
      },
    },
    'mcp tools': {
      summary: 'List the tools of an MCP server',
      load: async () => {
        const { MCP_TOOLS_HELP, mcpTools } = await import('./mcp/tools.ts');
        return { help: MCP_TOOLS_HELP, run: (args, output) => mcpTools(args, defaults, output) };
      },
    },
    'mcp diff': {
      summary: 'Show what changed in the definition of a tool',
      load: async () => {
        const { MCP_DIFF_HELP, mcpDiff } = await import('./mcp/diff.ts');
        return { help: MCP_DIFF_HELP, run: (args, output) => mcpDiff(args, defaults, output) };
      },
    },
    'mcp probe': {
      summary: 'Ask an MCP server for its tools, and hash them',
      load: async () => {
        const { MCP_PROBE_HELP, mcpProbe } = await import('./mcp/probe.ts');
        const folder = { configDir: settings.text('GW_CONFIG_DIR'), usdToEur: settings.text('GW_USD_TO_EUR') };
        return { help: MCP_PROBE_HELP, run: (args, output) => mcpProbe(args, folder, output) };
      },
    },
    'mcp from-openapi': {
      summary: 'Write an MCPServer from an OpenAPI description',
      load: async () => {
        const { MCP_FROM_OPENAPI_HELP, mcpFromOpenApi } = await import('./mcp/from-openapi.ts');
        return { help: MCP_FROM_OPENAPI_HELP, run: mcpFromOpenApi };
      },
    },
    'mcp approve': {
      summary: 'List, approve and deny calls of tools that wait for a person',
      load: async () => {
        const { MCP_APPROVE_HELP, mcpApprove } = await import('./mcp/approve.ts');
        const by = { ...defaults, actor: settings.text('USER') };
        return { help: MCP_APPROVE_HELP, run: (args, output) => mcpApprove(args, by, output) };
      },
    },
    'mcp accept': {
      summary: 'Accept quarantined definitions of tools',
      load: async () => {
        const { MCP_ACCEPT_HELP, mcpAccept } = await import('./mcp/accept.ts');
        const by = { ...defaults, actor: settings.text('USER') };
        return { help: MCP_ACCEPT_HELP, run: (args, output) => mcpAccept(args, by, output) };
      },
    },
  };
}

/** What `gwctl --help` prints. */
export function overviewOf(commands: Commands): string {
  const list = Object.entries(commands).map(([name, { summary }]) => `  gwctl ${name.padEnd(14)} ${summary}`);
  return `gwctl: the command line of Gatewarden

${list.join('\n')}

For details, run gwctl COMMAND --help. Every command exits with 2 when it cannot do its work.`;
}
