import { parseArgs } from 'node:util';
import { openPostgresCredit, type PostgresCredit } from '#/adapters/postgres/credit.ts';
import type { SpendDifference } from '#/ports/evidence.ts';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { openRedisCounters, type RedisLimitCounters } from '#/adapters/redis/limit-counters.ts';
import { loadFolder } from '#/config/folder/folder-source.ts';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import { reconcileCounters } from '#/meter/settlement/reconciliation.ts';
import { createRestorer } from '#/meter/counter-rebuild.ts';
import type { Lowering } from '#/ports/limit-counters.ts';
import { formatFault } from '../config/check-folder.ts';
import type { Output } from '../terminal/output.ts';
import { creditFaults, describeReconciliation, type OrganizationReport } from './reconcile-report.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const RECONCILE_HELP = `gwctl reconcile [--organization ID] [--repair [--lower]] [--json]

Compares the spend counters of every organization and period with the ledger's rows and the open holds, to the nano-euro,
and names the calls that explain a difference. Calls may run meanwhile: it reads the counters, then the ledger, and
excludes the calls between the two. It also compares running sums with rows, and credit with its entries. Exits with 0 when
everything agrees, 1 when something differs, 2 when it cannot compare.

  --organization ID    Compares this one only: <namespace>/<name>
  --repair             Raises counters that are too low, as gateways also do: calls of the organization wait for some
                       milliseconds. Exits with 0 when everything agrees afterwards
  --lower              With --repair, also lowers counters that are too high, which gateways never do: first make sure that
                       no row of a debit was lost (gwctl audit verify). Not done where running sums do not match their
                       rows
  --json               Writes the report as JSON
  --config DIR         Folder of resources (default: GW_CONFIG_DIR)
  --secrets-dir DIR    Folder with <name>/<key> files (default: GW_SECRETS_DIR)
  --redis-url URL      The gateways' Redis (default: REDIS_URL)
  --redis-cluster      The Redis is a node of a Redis Cluster
  --database-url URL   The gateways' PostgreSQL (default: DATABASE_URL)
`;

/** Where things are when the command line does not say. */
export interface ReconcileDefaults {
  readonly configDir: string | undefined;
  readonly secretsDir: string | undefined;
  readonly redisUrl: string | undefined;
  readonly redisCluster: boolean;
  readonly databaseUrl: string | undefined;
  readonly usdToEur: string;
}

interface Stores extends AsyncDisposable {
  readonly counters: RedisLimitCounters;
  readonly ledger: PostgresLedger;
  readonly credit: PostgresCredit;
}

/** As long ago a call may be that explains a difference. */
const SUSPECTS_MS = 40 * 86_400_000;

/** Compares, explains and, where asked, repairs. Returns the exit status: 0 or 1. Throws when a store cannot be read. */
export async function reconcile(args: readonly string[], defaults: ReconcileDefaults, output: Output): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      organization: { type: 'string' },
      repair: { type: 'boolean', default: false },
      lower: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      config: { type: 'string' },
      'secrets-dir': { type: 'string' },
      'redis-url': { type: 'string' },
      'redis-cluster': { type: 'boolean', default: defaults.redisCluster },
      'database-url': { type: 'string' },
    },
  });
  if (values.lower && !values.repair) throw new UsageError('--lower needs --repair');
  const dir = needed(values.config ?? defaults.configDir, '--config');
  const redisUrl = needed(values['redis-url'] ?? defaults.redisUrl, '--redis-url');
  const databaseUrl = needed(values['database-url'] ?? defaults.databaseUrl, '--database-url');
  const secretsDir = values['secrets-dir'] ?? defaults.secretsDir;
  const { usdToEur } = defaults;
  const config = await loadFolder({ dir, usdToEur, ...(secretsDir !== undefined && { secretsDir }) });
  if (!config.snapshot) {
    for (const fault of config.faults) output.err(formatFault(fault));
    return 2;
  }
  const organizations = chosen(config.snapshot.organizations, values.organization);
  await using stores = await openStores(redisUrl, values['redis-cluster'], databaseUrl);
  const sums = await stores.ledger.spendDifferences();
  const reports: OrganizationReport[] = [];
  for (const organization of organizations) {
    let report = await compare(organization, stores, sums);
    if (values.repair && report.drifted.length > 0) {
      if (!values.json) for (const line of describeReconciliation(report)) output.out(line);
      await repair(organization, stores, values.lower && report.sums.length === 0 ? 'everything' : 'nothing');
      report = { ...(await compare(organization, stores, sums)), repaired: true };
    }
    reports.push(report);
    if (!values.json) for (const line of describeReconciliation(report)) output.out(line);
  }
  if (values.json)
    output.out(JSON.stringify(reports, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value), 2));
  return reports.every(({ agrees }) => agrees) ? 0 : 1;
}

async function compare(
  organization: OrganizationConfig,
  { counters, ledger, credit }: Stores,
  differences: readonly SpendDifference[],
): Promise<OrganizationReport> {
  const { id } = organization;
  const { lines, view, sealed } = await reconcileCounters(organization, { counters, ledger }, 'all');
  const drifted = [];
  for (const line of lines.filter(({ drift }) => drift !== 0n)) {
    const workload = line.scope === 'organization' ? undefined : line.scope;
    const suspects = await ledger.driftSuspects(id, workload, line.drift, Date.now() - SUSPECTS_MS);
    drifted.push({ ...line, suspects });
  }
  const sums = differences.filter((one) => one.organization === id);
  const faults = creditFaults(organization, view, await credit.list(id));
  return {
    organization: id,
    agrees: drifted.length === 0 && sums.length === 0 && faults.length === 0,
    lines: lines.length,
    drifted,
    holds: view.holds.map(({ callId, workload, owner, at, amount }) => {
      const row = sealed.get(callId);
      return { callId, workload, owner, at, amount, ...(row && { sealedAt: row.cost }) };
    }),
    sums,
    credit: faults,
  };
}

/** As a gateway restores: the organization waits while the ledger is summed. */
async function repair(
  organization: OrganizationConfig,
  { counters, ledger, credit }: Stores,
  lowers: Lowering,
): Promise<void> {
  const restorer = createRestorer({ counters, ledger, credit, open: new Map(), onRestored: () => {} });
  await restorer.restoreAfresh(organization, lowers);
}

async function openStores(redisUrl: string, cluster: boolean, connectionString: string): Promise<Stores> {
  await using opened = new AsyncDisposableStack();
  const ledger = await openPostgresLedger({ connectionString, readOnly: true, maxConnections: 2 });
  opened.defer(() => ledger.close());
  const credit = await openPostgresCredit({ connectionString, existing: true });
  opened.defer(() => credit.close());
  const counters = openRedisCounters({ url: redisUrl, cluster });
  opened.defer(() => counters.close());
  await counters.ping();
  const kept = opened.move();
  return { counters, ledger, credit, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function chosen(
  organizations: ReadonlyMap<string, OrganizationConfig>,
  id: string | undefined,
): readonly OrganizationConfig[] {
  if (id === undefined) return [...organizations.values()];
  const one = organizations.get(id);
  if (!one) throw new UsageError(`this folder has no organization "${id}"`);
  return [one];
}

function needed(value: string | undefined, option: string): string {
  if (value === undefined) throw new UsageError(`give ${option}`);
  return value;
}
