import { parseArgs } from 'node:util';
import { anchoredStatements } from '#/seal/background/anchorer.ts';
import { verifyCheckpoints, type CheckpointReport, type CheckpointTrust } from '#/seal/verify/checkpoint-check.ts';
import { verifyCredit } from '#/seal/verify/credit-check.ts';
import { verify, withheldByStrand } from '#/seal/verify/ledger-check.ts';
import type { Evidence } from '#/ports/evidence.ts';
import { verifyFile } from './verify-file.ts';
import { describe, isIntact, type Findings } from './report.ts';
import { DATABASE_OPTIONS, openAnchors, openSource, readPublicKey, type AuditDefaults } from './source.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const AUDIT_VERIFY_HELP = `gwctl audit verify [FILE] [--database-url URL | --data-dir DIR] [--public-key FILE]… [--anchor HASH|s3://…]… [--json]

Reads the whole audit ledger, recomputes every link of its chain, every checkpoint, every sum and every credit entry, and
reports what was changed. It changes nothing. With FILE, an export or a proof written by gwctl, it reads that file and needs
no database. Exits with 0 when everything is intact, 1 when it is not, 2 when it cannot be read.

  --database-url URL   The ledger in PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The ledger of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
  --public-key FILE    Trusted Ed25519 public key (PEM) for the signatures of checkpoints; repeat it for several keys. Keys
                       that these introduce are trusted too. Without it, signatures are not checked
  --anchor HASH        Hash of a checkpoint that you recorded elsewhere; it must still exist
  --anchor s3://…      Bucket and prefix of the copies in object storage; the ledger must still have each of them
                       unchanged. GW_ANCHOR_ENDPOINT, GW_ANCHOR_REGION and the credentials are those of the gateway
  --json               Writes the report as JSON
`;

/** Verifies a ledger or a file and writes the report. Returns the exit status. Throws when it cannot be read. */
export async function auditVerify(args: readonly string[], defaults: AuditDefaults, output: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...DATABASE_OPTIONS,
      'public-key': { type: 'string', multiple: true },
      anchor: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
    },
  });
  const [file, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`give one file at a time: ${more[0]} is one too many`);
  const trust = await readTrust(values['public-key'], values.anchor ?? [], defaults);
  if (file !== undefined) {
    if (values['database-url'] !== undefined || values['data-dir'] !== undefined)
      throw new UsageError(`give ${file}, or a database, not both`);
    return verifyFile(file, trust, values.json, output);
  }
  await using source = await openSource(values, defaults);
  await using snapshot = await source.ledger.snapshot();
  const findings = await verifyEvidence(snapshot, trust);
  const intact = isIntact(findings);
  if (values.json) {
    const { vouched: _, cuts: __, credit: ___, ...report } = findings.checkpoints satisfies CheckpointReport;
    const { rows, sums, credit } = findings;
    output.out(JSON.stringify({ ...rows, intact, checkpoints: report, sums, credit }, undefined, 2));
  } else {
    for (const line of describe(findings)) output.out(line);
    if (trust.anchored) output.out(describeAnchors(trust.anchored));
  }
  return intact ? 0 : 1;
}

/** Everything that there is to recompute. */
export async function verifyEvidence(evidence: Evidence, trust: CheckpointTrust): Promise<Findings> {
  const checkpoints = await verifyCheckpoints(evidence.checkpoints(), trust);
  const withheld = await withheldByStrand(evidence.withheld());
  const rows = await verify(evidence.rows, { ...checkpoints, withheld });
  const credit = await verifyCredit(evidence.creditEntries(), checkpoints.credit);
  return { rows, checkpoints, credit, sums: await evidence.spendDifferences() };
}

async function readTrust(
  keyFiles: readonly string[] | undefined,
  anchors: readonly string[],
  defaults: AuditDefaults,
): Promise<CheckpointTrust> {
  const publicKeys = keyFiles?.map(readPublicKey);
  const [anchor, ...more] = anchors.filter((each) => !each.startsWith('s3:'));
  const [place, ...others] = anchors.filter((each) => each.startsWith('s3:'));
  if (anchor !== undefined && !/^[0-9a-f]{64}$/.test(anchor))
    throw new UsageError('--anchor takes 64 hexadecimal digits, or s3://bucket/prefix');
  if (more.length > 0 || others.length > 0)
    throw new UsageError('--anchor takes at most one hash and one s3:// address');
  const trust = { ...(publicKeys && { publicKeys }), ...(anchor !== undefined && { anchor }) };
  if (place === undefined) return trust;
  const { store } = openAnchors(defaults, place);
  try {
    return { ...trust, anchored: await anchoredStatements(store) };
  } finally {
    await store.close();
  }
}

function describeAnchors(anchored: NonNullable<CheckpointTrust['anchored']>): string {
  const last = [...anchored.keys()].reduce((most, number) => Math.max(most, number), 0);
  return anchored.size === 0
    ? 'no checkpoint has a copy in object storage'
    : `${anchored.size} copies in object storage compared, the last of checkpoint ${last}`;
}
