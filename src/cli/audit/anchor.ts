import { parseArgs } from 'node:util';
import { anchorMissing } from '#/seal/background/anchorer.ts';
import { DATABASE_OPTIONS, openAnchors, openSource, type AuditDefaults } from './source.ts';
import type { Output } from '../terminal/output.ts';

export const AUDIT_ANCHOR_HELP = `gwctl audit anchor [--to s3://BUCKET/PREFIX] [--database-url URL | --data-dir DIR]

Copies every checkpoint that has no copy yet to object storage, locked against change. Gateways do this every minute.
gwctl audit verify --anchor s3://BUCKET/PREFIX compares the copies with the ledger.

  --to s3://…          Bucket and prefix (default: GW_ANCHOR_URL); the other GW_ANCHOR_… settings apply
  --database-url URL   The ledger in PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The ledger of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

/** Copies missing checkpoints. Returns the exit status, 0. Throws at the first copy that fails. */
export async function auditAnchor(args: readonly string[], defaults: AuditDefaults, { out }: Output): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { ...DATABASE_OPTIONS, to: { type: 'string' } } });
  const { store, settings } = openAnchors(defaults, values.to);
  try {
    await using source = await openSource(values, defaults);
    const put = await anchorMissing({ checkpoints: source.ledger, store, every: settings.every });
    out(`${put} checkpoint${put === 1 ? '' : 's'} copied to s3://${settings.bucket}/${settings.prefix}`);
    return 0;
  } finally {
    await store.close();
  }
}
