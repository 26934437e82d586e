import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { exportLines } from '#/seal/export/export-lines.ts';
import { DATABASE_OPTIONS, openSource, type AuditDefaults } from './source.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const AUDIT_EXPORT_HELP = `gwctl audit export --organization ID --out FILE [--database-url URL | --data-dir DIR]

Writes the audit rows of an organization and everything needed to verify them without the database: the hashes of other
organizations' rows, and the checkpoints. gwctl audit verify FILE verifies the file.

  --organization ID    <namespace>/<name> of the Organization
  --out FILE           File to write, compressed if its name ends in .gz. An existing file is not overwritten
  --database-url URL   The ledger in PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The ledger of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

/** Writes an export. Returns the exit status, 0. Throws when it cannot be made; then there may be half a file. */
export async function auditExport(args: readonly string[], defaults: AuditDefaults, { out }: Output): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { ...DATABASE_OPTIONS, organization: { type: 'string' }, out: { type: 'string' } },
  });
  const { organization, out: file } = values;
  if (organization === undefined || !organization.includes('/'))
    throw new UsageError('--organization takes <namespace>/<name>');
  if (file === undefined) throw new UsageError('--out is missing: name the file to write');
  await using source = await openSource(values, defaults);
  await using snapshot = await source.ledger.snapshot();
  let lines = 0;
  const counted = async function* (): AsyncGenerator<string> {
    for await (const line of exportLines(snapshot, organization, Date.now())) {
      lines += 1;
      yield line;
    }
  };
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  const text = Readable.from(counted(), { objectMode: true });
  if (file.endsWith('.gz')) await pipeline(text, createGzip(), target);
  else await pipeline(text, target);
  out(`${file}: ${lines} lines`);
  return 0;
}
