import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { loadFolder } from '#/config/folder/folder-source.ts';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import { formatEuro } from '#/values/money.ts';
import { cost, type Price } from '#/meter/pricing/price.ts';
import type { PriceSnapshot } from '#/meter/pricing/price-snapshot.ts';
import type { AuditRow } from '#/seal/row.ts';
import type { Usage } from '#/wire/answer/usage.ts';
import { databaseOf, type DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { billLines, priceOf } from './price-explain.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** A call whose sealed cost is to be explained, with the prices to do so. */
export interface CallQuestion {
  readonly callId: string;
  readonly database: {
    readonly url: string | undefined;
    readonly dataDir: string | undefined;
    readonly defaults: DatabaseDefaults;
  };
  readonly snapshot: PriceSnapshot | undefined;
  readonly usdToEur: string;
  readonly configDir: string | undefined;
}

/**
 * Writes how the sealed cost of a call came about. Resolves with the exit status: 0, or 1 when the prices that its row
 * names are missing or give another amount. Rejects with UsageError when the call does not exist.
 */
export async function callExplain(question: CallQuestion, { out }: Output): Promise<number> {
  const row = await readRow(question);
  out(`call ${row.call_id} at ${row.at}`);
  out(`${row.organization}, ${row.workload}: ${row.model ?? 'no model'}, ${row.outcome}`);
  const sealed = BigInt(row.cost_nano_eur);
  const unbilled = whyUnbilled(row);
  if (unbilled !== undefined || !row.usage || row.price === null) {
    out(unbilled ?? 'nothing was billed: no provider was asked');
    out(`sealed cost: ${formatEuro(sealed)} EUR`);
    return 0;
  }
  out(`priced by ${row.price}`);
  out(`usage ${row.usage_source === 'estimated' ? 'counted by the gateway' : 'as the provider reported it'}`);
  const price = await priceOfRow(row, question);
  if (!price || price.source !== row.price) {
    out(
      price ? `the prices given here differ: ${price.source}` : `the prices given here lack it: ${toldBy(row.price)}`,
    );
    if (price) writeBill(row, price, out);
    out(`sealed cost: ${formatEuro(sealed)} EUR; the hold was ${formatEuro(BigInt(row.held_nano_eur))} EUR`);
    return 1;
  }
  const amount = writeBill(row, price, out);
  if (amount === sealed) out(`sealed cost: ${formatEuro(sealed)} EUR, the same`);
  else if (row.cost_nano_eur === row.held_nano_eur)
    out(`sealed cost: ${formatEuro(sealed)} EUR, the amount of the hold`);
  else out(`sealed cost: ${formatEuro(sealed)} EUR, a DIFFERENT amount`);
  return amount === sealed ? 0 : 1;
}

function whyUnbilled(row: AuditRow): string | undefined {
  if (row.cache_hit === 'exact') return "answered from the gateway's own cache: nothing was used";
  if (row.usage_source === 'held') return 'its gateway died before it settled the call: the hold was billed';
  return undefined;
}

function writeBill(row: AuditRow, price: Price, out: (line: string) => void): bigint | undefined {
  const usage: Usage = { ...row.usage!, ...(row.service_tier !== undefined && { serviceTier: row.service_tier }) };
  const units = row.units ?? {};
  for (const line of billLines(price, usage, units)) out(`  ${line}`);
  const amount = cost(price, usage, units);
  out(`total, rounded up once: ${formatEuro(amount)} EUR`);
  return amount;
}

async function readRow({ callId, database: { url, dataDir, defaults } }: CallQuestion): Promise<AuditRow> {
  await using opened = new AsyncDisposableStack();
  const { connectionString } = opened.use(await databaseOf(url, dataDir, defaults));
  const ledger = await openPostgresLedger({ connectionString, readOnly: true, maxConnections: 1 });
  opened.defer(() => ledger.close());
  const [found] = await ledger.find([callId]);
  if (!found) throw new UsageError(`the ledger has no call ${callId}`);
  return JSON.parse(found.row) as AuditRow;
}

/** `<list> <provider>/<model> @<rate> of <date>`, as prices of lists name themselves. */
const LISTED =
  /^(?:genai-prices (?<version>\S+)|gatewarden prices \S+|prices \S+ (?<id>\S+)) (?<name>[^/ ]+)\/\S+ @(?<rate>\S+)(?: of (?<date>\S+))?$/;

async function priceOfRow(row: AuditRow, question: CallQuestion): Promise<Price | undefined> {
  const { provider, provider_model: model } = row;
  if (provider === null || model === null) return undefined;
  const listed = LISTED.exec(row.price ?? '')?.groups;
  const { snapshot } = question;
  // By the rate that the row names, whatever the one of today is.
  const rate = listed?.['rate'];
  const date = listed?.['date'];
  const usdToEur = rate === undefined ? question.usdToEur : date === undefined ? rate : `${rate},${date}=${rate}`;
  const organization = listed ? undefined : await organizationOf(row.organization, question);
  const named = listed?.['name'] ?? provider;
  const usage = { ...row.usage!, ...(row.service_tier !== undefined && { serviceTier: row.service_tier }) };
  return priceOf({
    provider: {
      slug: listed ? named : provider,
      ...(row.wire_format === 'messages' && { protocol: 'messages' as const }),
    },
    model,
    usage,
    ...(row.units && { units: row.units }),
    at: Date.parse(row.at),
    usdToEur,
    ...(listed?.['id'] !== undefined && snapshot && { snapshot: () => snapshot }),
    ...(organization && { prices: organization.prices }),
  });
}

async function organizationOf(
  id: string,
  { configDir, usdToEur }: CallQuestion,
): Promise<OrganizationConfig | undefined> {
  if (configDir === undefined) return undefined;
  const { snapshot } = await loadFolder({ dir: configDir, usdToEur });
  return snapshot?.organizations.get(id);
}

/** What would have to be given to explain it. */
function toldBy(source: string): string {
  if (source.startsWith('PriceBook ')) return 'give the folder of resources as it was at the time: --config DIR';
  if (source.startsWith('prices ')) return 'give that snapshot: --prices FILE --public-key FILE';
  return 'they came with another version of the gateway';
}
