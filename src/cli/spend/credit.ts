import { parseArgs } from 'node:util';
import { openPostgresCredit, type PostgresCredit } from '#/adapters/postgres/credit.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { formatEuro, type NanoEuro } from '#/values/money.ts';
import type { NumberedEntry } from '#/ports/credit.ts';
import { databaseOf, type DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

const DATABASE_HELP = `  --database-url URL   The gateway's PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The folder of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

export const CREDIT_ADD_HELP = `gwctl credit add --organization ID --amount EUR --reference TEXT [--note TEXT] [--actor NAME]

Adds prepaid credit, or takes some back. Entries never change: correct a wrong one with a new entry of a negative amount
(--amount=-5). Gateways apply it within seconds. Repeating a reference changes nothing, and fails if the amount differs.

  --organization ID    <namespace>/<name> of the Organization
  --amount EUR         Euro as a decimal number, with at most nine digits after the point
  --reference TEXT     Identifies the entry: the number of an invoice or a payment
  --note TEXT          Free text
  --actor NAME         Who adds it (default: USER)
${DATABASE_HELP}`;

export const CREDIT_LIST_HELP = `gwctl credit list --organization ID [--json]

Lists the entries of an organization, oldest first.

${DATABASE_HELP}`;

export const CREDIT_BALANCE_HELP = `gwctl credit balance --organization ID [--json]

Shows what an organization has paid in, what its sealed calls have cost in total, and what is left. Calls in progress hold
more of it until they are sealed.

${DATABASE_HELP}`;

/** Where things are, and who enters them, when the command line does not say. */
export interface CreditDefaults extends DatabaseDefaults {
  readonly actor: string;
}

const OPTIONS = {
  organization: { type: 'string' },
  'database-url': { type: 'string' },
  'data-dir': { type: 'string' },
} as const;
const AMOUNT = /^(-?)([0-9]{1,9})(?:\.([0-9]{1,9}))?$/;

/** Enters credit once. Returns the exit status, 0. Throws when it cannot be done. */
export async function creditAdd(args: readonly string[], defaults: CreditDefaults, { out }: Output): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...OPTIONS,
      amount: { type: 'string' },
      reference: { type: 'string' },
      note: { type: 'string', default: '' },
      actor: { type: 'string', default: defaults.actor },
    },
  });
  const { reference, note, actor } = values;
  const organization = organizationOf(values.organization);
  const amount = nanoEuro(values.amount);
  if (!reference)
    throw new UsageError(
      '--reference is missing: it names the payment, so that repeating the command does not count it twice',
    );
  await using entries = await entriesOf(values, defaults);
  const { entry, added } = await entries.store.add({ organization, amount, reference, note, actor });
  out(`entry ${entry.number} of ${organization}: ${describe(entry)}${added ? '' : '; it already exists'}`);
  return 0;
}

/** Lists entries. Returns the exit status, 0. */
export async function creditList(
  args: readonly string[],
  defaults: CreditDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { ...OPTIONS, json: { type: 'boolean', default: false } } });
  const organization = organizationOf(values.organization);
  await using entries = await entriesOf(values, defaults);
  const list = await entries.store.list(organization);
  if (values.json) out(JSON.stringify(list.map(jsonOf), undefined, 2));
  else if (list.length === 0) err(`${organization} has no credit entries`);
  else
    for (const entry of list)
      out(
        `${entry.number}  ${new Date(entry.at).toISOString()}  ${describe(entry)}  ${entry.reference}  by ${entry.actor}${entry.note && `  ${entry.note}`}`,
      );
  return 0;
}

/** Writes the balance. Returns the exit status, 0. */
export async function creditBalance(
  args: readonly string[],
  defaults: CreditDefaults,
  { out }: Output,
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { ...OPTIONS, json: { type: 'boolean', default: false } } });
  const organization = organizationOf(values.organization);
  await using entries = await entriesOf(values, defaults);
  const { sum = 0n, number = 0 } = (await entries.store.standings([organization])).get(organization) ?? {};
  const spent = await entries.spent(organization);
  const facts = { paid: formatEuro(sum), spent: formatEuro(spent), left: formatEuro(sum - spent) };
  if (values.json) out(JSON.stringify({ organization, entries: number, ...facts }));
  else out(`${organization}: ${facts.paid} EUR paid in by ${number} entries, ${facts.spent} spent, ${facts.left} left`);
  return 0;
}

interface Entries extends AsyncDisposable {
  readonly store: PostgresCredit;
  /** What the sealed calls of an organization have cost in all. */
  spent(organization: string): Promise<NanoEuro>;
}

async function entriesOf(
  values: { readonly 'database-url'?: string | undefined; readonly 'data-dir'?: string | undefined },
  defaults: CreditDefaults,
): Promise<Entries> {
  await using opened = new AsyncDisposableStack();
  const { connectionString } = opened.use(await databaseOf(values['database-url'], values['data-dir'], defaults));
  const store = await openPostgresCredit({ connectionString, existing: true });
  opened.defer(() => store.close());
  const kept = opened.move();
  return {
    store,
    async spent(organization) {
      const ledger = await openPostgresLedger({ connectionString, readOnly: true, maxConnections: 1 });
      try {
        return (await ledger.totals(organization, 'UTC', Date.now(), [])).organization.total;
      } finally {
        await ledger.close();
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function organizationOf(id: string | undefined): string {
  if (id === undefined || !/^[^/]+\/[^/]+$/.test(id)) throw new UsageError('--organization takes <namespace>/<name>');
  return id;
}

function nanoEuro(text: string | undefined): NanoEuro {
  const match = AMOUNT.exec(text ?? '');
  const amount = match ? BigInt(match[2]! + (match[3] ?? '').padEnd(9, '0')) : 0n;
  if (amount === 0n) throw new UsageError('--amount takes decimal euro, not zero, such as 25 or 0.5');
  return match![1] === '-' ? -amount : amount;
}

function describe({ amount, sum }: NumberedEntry): string {
  return `${formatEuro(amount)} EUR, ${formatEuro(sum)} in total`;
}

function jsonOf({ amount, sum, at, ...facts }: NumberedEntry): Readonly<Record<string, unknown>> {
  return { ...facts, at: new Date(at).toISOString(), amount_nano_eur: String(amount), sum_nano_eur: String(sum) };
}
