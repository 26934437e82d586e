import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import { openS3Anchors, type S3AnchorStore } from '#/adapters/s3/anchor-store.ts';
import { readAnchorSettings, type AnchorSettings } from '#/settings/anchor-settings.ts';
import { readCheckpointKeys } from '#/seal/checkpoints/checkpoint-keys.ts';
import type { Reader } from '#/settings/reader.ts';
import { databaseOf, type DatabaseDefaults } from '../stores/database.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Where things are when the command line does not say. */
export interface AuditDefaults extends DatabaseDefaults {
  readonly checkpointKeyFile: string | undefined;
  readonly retentionMonths: string | undefined;
  readonly settings: Reader;
}

export interface AuditSource extends AsyncDisposable {
  readonly ledger: PostgresLedger;
}

/** The options that every command has which reads the ledger. */
export const DATABASE_OPTIONS = { 'database-url': { type: 'string' }, 'data-dir': { type: 'string' } } as const;

interface DatabaseValues {
  readonly 'database-url'?: string | undefined;
  readonly 'data-dir'?: string | undefined;
}

/** The ledger that the command line or its defaults name. `readOnly`: needs no rights but SELECT. */
export async function openSource(
  { 'database-url': url, 'data-dir': dataDir }: DatabaseValues,
  defaults: DatabaseDefaults,
  readOnly = true,
): Promise<AuditSource> {
  await using opened = new AsyncDisposableStack();
  const { connectionString } = opened.use(await databaseOf(url, dataDir, defaults));
  const ledger = await openPostgresLedger({ connectionString, readOnly, maxConnections: 2 });
  opened.defer(() => ledger.close());
  const kept = opened.move();
  return { ledger, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** An Ed25519 public key from a PEM file. Throws UsageError. */
export function readPublicKey(file: string): KeyObject {
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

/** The keys that sign checkpoints, the newest first. Throws UsageError; never makes one. */
export function readSigningKeys(file: string): readonly KeyObject[] {
  try {
    return readCheckpointKeys(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(code === 'ENOENT' ? `there is no file ${file}` : `${file} holds no Ed25519 keys (PEM)`);
  }
}

/** Object storage as the environment says, at `place` (`s3://bucket/prefix`) where that is given. Throws UsageError. */
export function openAnchors(
  defaults: AuditDefaults,
  place: string | undefined,
): { readonly store: S3AnchorStore; readonly settings: AnchorSettings } {
  const settings = readAnchorSettings(defaults.settings, place);
  const [fault] = defaults.settings.faults;
  if (fault !== undefined) throw new UsageError(fault);
  if (!settings) throw new UsageError('give the place of the copies: --to s3://bucket/prefix, or GW_ANCHOR_URL');
  return { store: openS3Anchors(settings), settings };
}
