import { parseArgs } from 'node:util';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { USAGE_DIMENSIONS, type UsageDimension, type UsageLine } from '#/ports/usage.ts';
import { calendarDays } from '#/values/calendar-day.ts';
import { totalTokens } from '#/wire/answer/usage.ts';
import { databaseOf, type DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const USAGE_HELP = `gwctl usage --organization ID [--workload ID] [--by workload,model,day] [--from DAY] [--to DAY] [--json]
gwctl usage --check

Shows the calls, tokens and cost of an organization, from sums that are kept with the audit rows. It changes nothing.
--check compares every sum with the rows instead, and exits with 1 when one does not match.

  --organization ID    <namespace>/<name> of the Organization
  --workload ID        <namespace>/<name> of one Workload (default: all)
  --by LIST            What to group by: workload, model, day, with commas between (default: workload,model)
  --from DAY           First day, such as 2026-11-01 (default: the first day of the month of --to)
  --to DAY             Last day, included (default: today)
  --time-zone ZONE     Where days begin and end (default: UTC)
  --json               Writes one JSON object per line; cost in nano-euro
  --check              Reads every audit row: about a second per 50,000 rows
  --database-url URL   The gateway's PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The folder of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

const OPTIONS = {
  organization: { type: 'string' },
  workload: { type: 'string' },
  by: { type: 'string', default: 'workload,model' },
  from: { type: 'string' },
  to: { type: 'string' },
  'time-zone': { type: 'string', default: 'UTC' },
  json: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  'database-url': { type: 'string' },
  'data-dir': { type: 'string' },
} as const;

/** Writes usage, or the faults of its sums. Returns the exit status. Throws when the ledger cannot be read. */
export async function usage(args: readonly string[], defaults: DatabaseDefaults, output: Output): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const { organization, workload, json } = values;
  const by = values.by.split(',').map(dimension);
  if (!values.check && organization === undefined) throw new UsageError('--organization takes <namespace>/<name>');
  const to = values.to ?? today(values['time-zone']);
  const from = values.from ?? `${to.slice(0, 8)}01`;
  await using database = await databaseOf(values['database-url'], values['data-dir'], defaults);
  const { connectionString } = database;
  const ledger = await openPostgresLedger({ connectionString, readOnly: true, maxConnections: 1 });
  try {
    if (organization === undefined || values.check) return await check(ledger, output);
    const question = { organization, ...(workload !== undefined && { workload }), from, to, by };
    const { lines, complete } = await ledger.usage({ ...question, timeZone: values['time-zone'] });
    for (const line of json ? lines.map(jsonLine) : table(lines, by)) output.out(line);
    if (!complete) output.err('calls from before sums were kept are still being counted: try again later');
    return 0;
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  } finally {
    await ledger.close();
  }
}

async function check(ledger: PostgresLedger, { out }: Output): Promise<number> {
  const differences = await ledger.usageDifferences();
  for (const { organization, workload, provider, model, day, stored, counted } of differences) {
    const what = `${day} ${organization} ${workload} ${modelName(provider, model)}`;
    const told = (sums: typeof stored): string => `${sums.calls} calls, ${sums.tokens} tokens, ${sums.cost} nano-euro`;
    out(`${what}: ${told(stored)} stored, but its rows add up to ${told(counted)}`);
  }
  if (differences.length === 0) out('every sum matches its rows');
  return differences.length === 0 ? 0 : 1;
}

function dimension(text: string): UsageDimension {
  const known = USAGE_DIMENSIONS.find((name) => name === text.trim());
  if (known) return known;
  throw new UsageError(`--by takes ${USAGE_DIMENSIONS.join(', ')}, not "${text}"`);
}

function today(timeZone: string): string {
  try {
    return calendarDays(timeZone)(Date.now());
  } catch {
    throw new UsageError(`there is no time zone "${timeZone}"`);
  }
}

function jsonLine({ cost, ...line }: UsageLine): string {
  return JSON.stringify({ ...line, cost_nano_eur: cost.toString() });
}

/** Columns as wide as their content. */
function* table(lines: readonly UsageLine[], by: readonly UsageDimension[]): Generator<string> {
  const head = [...by, 'calls', 'refused', 'failed', 'tokens', 'EUR'];
  const rows = lines.map((line) => [
    ...by.map((name) => (name === 'model' ? modelName(line.provider ?? '', line.model ?? '') : (line[name] ?? ''))),
    String(line.calls),
    String(line.refused),
    String(line.failed + line.abandoned),
    String(totalTokens(line.tokens)),
    euro(line.cost),
  ]);
  const widths = head.map((name, column) =>
    rows.reduce((most, row) => Math.max(most, row[column]!.length), name.length),
  );
  for (const row of [head, ...rows]) {
    const cells = row.map((cell, column) =>
      column < by.length ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    yield cells.join('  ').trimEnd();
  }
}

function modelName(provider: string, model: string): string {
  return provider === '' ? '(none)' : `${provider}/${model}`;
}

/** Nano-euro as euro, all digits. */
function euro(cost: bigint): string {
  const digits = (cost < 0n ? -cost : cost).toString().padStart(10, '0');
  return `${cost < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
