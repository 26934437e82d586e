import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openPostgresLedger, type PostgresLedger, type SpendDifference } from '#adapters/postgres/ledger.ts';
import { verifyCheckpoints, type CheckpointReport } from '#seal/verify-checkpoints.ts';
import { verify } from '#seal/verify.ts';
import type { StrandFault, VerifyReport } from '#seal/verify-report.ts';
import { databaseOf, type DatabaseDefaults } from './database.ts';
import type { Output } from './output.ts';
import { UsageError } from './usage-error.ts';

export const AUDIT_VERIFY_HELP = `gwctl audit verify [--database-url URL | --data-dir DIR] [--public-key FILE]… [--anchor HASH] [--json]

Reads the whole audit ledger, recomputes every link of its chain, every checkpoint and every sum, and names what was
changed. It only reads. Ends with 0 when the ledger is intact, 1 when it is not, 2 when it could not be read.

  --database-url URL   The ledger in PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The ledger of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
  --public-key FILE    Ed25519 public key (PEM) that may have signed checkpoints; may be given several times.
                       Without, signatures are not checked
  --anchor HASH        Hash of a checkpoint noted down elsewhere, which has to be there still
  --json               Writes the report as JSON
`;

/** Verifies a ledger and writes the report. Returns the exit status: 0 intact, 1 changed. Throws when it cannot be read. */
export async function auditVerify(
  args: readonly string[],
  defaults: DatabaseDefaults,
  output: Output,
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'database-url': { type: 'string' },
      'data-dir': { type: 'string' },
      'public-key': { type: 'string', multiple: true },
      anchor: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { 'database-url': url, 'data-dir': dataDir, anchor } = values;
  if (anchor !== undefined && !/^[0-9a-f]{64}$/.test(anchor))
    throw new UsageError('--anchor takes 64 hexadecimal digits');
  const publicKeys = values['public-key']?.map(readPublicKey);
  const trust = { ...(publicKeys && { publicKeys }), ...(anchor !== undefined && { anchor }) };
  await using source = await openSource(url, dataDir, defaults);
  // Rows may be added meanwhile: then they come after what the checkpoints read first vouch for.
  const checkpoints = await verifyCheckpoints(source.ledger.checkpoints(), trust);
  const rows = await verify(source.ledger.rows(), checkpoints.vouched);
  const sums = await source.ledger.spendDifferences();
  const intact = rows.intact && checkpoints.intact && sums.length === 0;
  if (values.json) {
    const { vouched: _, ...report } = checkpoints;
    output.out(JSON.stringify({ ...rows, intact, checkpoints: report, sums }, undefined, 2));
  } else {
    for (const line of describe({ rows, checkpoints, sums, intact })) output.out(line);
  }
  return intact ? 0 : 1;
}

interface Findings {
  readonly rows: VerifyReport;
  readonly checkpoints: CheckpointReport;
  readonly sums: readonly SpendDifference[];
  readonly intact: boolean;
}

interface Source extends AsyncDisposable {
  readonly ledger: PostgresLedger;
}

async function openSource(
  url: string | undefined,
  dataDir: string | undefined,
  defaults: DatabaseDefaults,
): Promise<Source> {
  await using opened = new AsyncDisposableStack();
  const { connectionString } = opened.use(await databaseOf(url, dataDir, defaults));
  const ledger = await openPostgresLedger({ connectionString, readOnly: true, maxConnections: 2 });
  opened.defer(() => ledger.close());
  const kept = opened.move();
  return { ledger, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function readPublicKey(file: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(code === 'ENOENT' ? `there is no file ${file}` : `${file} holds no public key (PEM)`);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new UsageError(`${file} holds a key that is not Ed25519`);
  return key;
}

function* describe({ rows, checkpoints, sums, intact }: Findings): Generator<string> {
  const size = `${count(rows.rows, 'row')} in ${count(rows.strands, 'strand')}`;
  const broken = [
    ...(rows.intact ? [] : [`${count(rows.faulty, 'strand')} changed`]),
    ...(checkpoints.intact ? [] : ['checkpoints changed']),
    ...(sums.length === 0 ? [] : ['sums changed']),
  ];
  yield intact ? `intact: ${size}, every link recomputed` : `BROKEN: ${size}, ${broken.join(', ')}`;
  for (const fault of rows.faults) yield* describeFault(fault);
  const more = rows.faulty - rows.faults.length;
  if (more > 0) yield `and ${count(more, 'more strand')}`;
  yield* describeCheckpoints(rows, checkpoints);
  for (const { organization, workload, stored, counted } of sums) {
    yield `sum of ${workload} of ${organization}: ${stored} nano-euro are stored, its rows come to ${counted}`;
  }
  if (rows.superseded > 0) yield `${count(rows.superseded, 'row')} of calls sealed twice, counted once`;
}

function* describeFault({ strand, sequence, callId, kind, detail, missing, after }: StrandFault): Generator<string> {
  const range = missing && missing.from !== missing.to ? `rows ${missing.from} to ${missing.to}` : `row ${sequence}`;
  const call = callId === undefined ? '' : missing ? `, before call ${callId}` : `, call ${callId}`;
  yield `strand ${strand}, ${range}${call}: ${kind}`;
  yield `  ${detail}`;
  if (after.rows === 0) return;
  const linked =
    after.unlinked === 0
      ? 'each follows from the row stored before it'
      : `${after.unlinked} of them do not follow from the row stored before them`;
  yield `  ${count(after.rows, 'row')} after it in this strand: ${linked}`;
}

function* describeCheckpoints(
  rows: VerifyReport,
  { count: made, last, fault, signaturesChecked }: CheckpointReport,
): Generator<string> {
  if (fault) yield `checkpoint ${fault.number}: ${fault.kind}\n  ${fault.detail}`;
  if (!last) {
    yield 'no checkpoints: an end that was cut off, or a strand sealed anew, would go unnoticed';
    return;
  }
  const signatures = signaturesChecked ? 'signatures checked' : 'signatures not checked (give --public-key)';
  yield `${count(made, 'checkpoint')}, ${signatures}; number ${last.number} of ${timeOf(last.at)} has the hash ${last.hash}`;
  if (rows.afterCheckpoints > 0)
    yield `${count(rows.afterCheckpoints, 'row')} came after the last checkpoint of their strand`;
}

function timeOf(at: number): string {
  return Number.isNaN(at) ? 'no known time' : new Date(at).toISOString();
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
