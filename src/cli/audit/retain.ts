import { createPublicKey } from 'node:crypto';
import { parseArgs } from 'node:util';
import { firstKeptMonth } from '#/seal/verify/cut.ts';
import { retain } from '#/seal/background/retention.ts';
import { describe, isIntact } from './report.ts';
import { DATABASE_OPTIONS, openSource, readPublicKey, readSigningKeys, type AuditDefaults } from './source.ts';
import { verifyEvidence } from './verify.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const AUDIT_RETAIN_HELP = `gwctl audit retain [--months N] [--dry-run] [--key-file FILE] [--public-key FILE]… [--database-url URL | --data-dir DIR]

Drops the audit rows of calls older than N whole months (UTC) and signs a checkpoint that records it: the remaining rows
still verify, and the sums of spend stay. Verifies the whole ledger first and drops nothing if it is not intact. Run it once
a month, as the owner of the tables. Exits with 1 when the ledger is not intact.

  --months N           Whole months to keep besides the current one (default: GW_LEDGER_RETENTION_MONTHS)
  --dry-run            Shows what would be dropped, and drops nothing
  --key-file FILE      The keys that sign checkpoints (default: GW_CHECKPOINT_KEY_FILE, or checkpoint-key.pem in the
                       data folder)
  --public-key FILE    Further keys that may have signed checkpoints
  --database-url URL   The ledger in PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The ledger of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

/** Applies retention. Returns the exit status: 0, or 1 when the ledger is not intact. Throws when it cannot be done. */
export async function auditRetain(
  args: readonly string[],
  defaults: AuditDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...DATABASE_OPTIONS,
      months: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      'key-file': { type: 'string' },
      'public-key': { type: 'string', multiple: true },
    },
  });
  const months = values.months ?? defaults.retentionMonths;
  if (months === undefined) throw new UsageError('--months is missing: say how many months to keep');
  if (!/^\d{1,3}$/.test(months) || Number(months) < 1) throw new UsageError('--months takes a whole number from 1 on');
  const folder = values['data-dir'] ?? defaults.dataDir;
  const keys = readSigningKeys(values['key-file'] ?? defaults.checkpointKeyFile ?? `${folder}/checkpoint-key.pem`);
  const publicKeys = [...keys.map((key) => createPublicKey(key)), ...(values['public-key'] ?? []).map(readPublicKey)];
  const now = Date.now();
  const before = firstKeptMonth(now, Number(months));
  await using source = await openSource(values, defaults, false);
  const { ledger } = source;
  // The plan is made before the ledger is verified, so that only verified rows are dropped.
  const verified = await ledger.retention.plan(before);
  const rows = verified.reduce((sum, cut) => sum + cut.sequence + cut.withheld.length, 0);
  if (verified.length === 0) {
    out(`no rows of calls before ${before}`);
    return 0;
  }
  const findings = await verifyAll(ledger, publicKeys);
  if (!isIntact(findings)) {
    err('the ledger is not intact: nothing was dropped');
    for (const line of describe(findings)) out(line);
    return 1;
  }
  const what = `rows of calls before ${before}, ${verified.length} strands, the first ${rows} rows of them in all`;
  if (values['dry-run']) {
    out(`would drop ${what}`);
    return 0;
  }
  const checkpoint = await retain({ store: ledger.retention, keys, before, verified, now });
  out(`dropped ${what}; checkpoint ${checkpoint?.number} records it`);
  return 0;
}

async function verifyAll(
  ledger: Awaited<ReturnType<typeof openSource>>['ledger'],
  publicKeys: readonly ReturnType<typeof createPublicKey>[],
): ReturnType<typeof verifyEvidence> {
  // Closed before anything is dropped: a reader keeps a table from being dropped.
  await using snapshot = await ledger.snapshot();
  return await verifyEvidence(snapshot, { publicKeys });
}
