import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { readSnapshot, type PriceSnapshot } from '#/meter/pricing/price-snapshot.ts';

/** A change of the file of a price snapshot. */
export type PricesEvent =
  | { readonly name: 'prices.loaded'; readonly snapshot: PriceSnapshot; readonly lastGood: boolean }
  /** The file is not used; the prices in force stay. */
  | { readonly name: 'prices.rejected'; readonly why: string }
  | { readonly name: 'prices.old'; readonly id: string; readonly days: number };

export interface SnapshotFileOptions {
  readonly file: string;
  /** PEM file of the Ed25519 public keys that may have signed it; read again with every snapshot. */
  readonly publicKeyFile: string;
  /** A copy of the last good snapshot, for a start with an invalid file. */
  readonly lastGoodFile: string;
  /** An older snapshot is reported once a day. */
  readonly maxAgeDays: number;
  readonly onEvent: (event: PricesEvent) => void;
  readonly pollMs?: number;
}

/** A snapshot on disk that is followed: replaced files are taken over while calls go on. */
export interface SnapshotFile {
  /** Never one whose signature was not found good. */
  current(): PriceSnapshot;
  close(): void;
}

const POLL_MS = 5000;
const DAY_MS = 86_400_000;
/** Larger than any list of prices. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Opens the snapshot. Rejects when neither the file nor the copy of the last good one is a good snapshot. */
export async function openSnapshotFile(options: SnapshotFileOptions): Promise<SnapshotFile> {
  const { file, lastGoodFile, maxAgeDays, onEvent, pollMs = POLL_MS } = options;
  let stamp = '';
  let current: PriceSnapshot | undefined;
  let toldAt = -Infinity;

  async function load(path: string, isCopy: boolean): Promise<void> {
    const { text, snapshot } = await readGood(path, options.publicKeyFile);
    if (snapshot.id === current?.id) return;
    current = snapshot;
    toldAt = -Infinity;
    onEvent({ name: 'prices.loaded', snapshot, lastGood: isCopy });
    if (!isCopy) await keep(lastGoodFile, text).catch((error: unknown) => reject(error, onEvent));
  }

  async function look(): Promise<void> {
    const seen = await stampOf(file);
    if (seen !== stamp) {
      stamp = seen;
      await load(file, false).catch((error: unknown) => reject(error, onEvent));
    }
    const days = current ? Math.floor((Date.now() - current.builtAt) / DAY_MS) : 0;
    if (!current || days <= maxAgeDays || Date.now() - toldAt < DAY_MS) return;
    toldAt = Date.now();
    onEvent({ name: 'prices.old', id: current.id, days });
  }

  await look();
  if (!current) await load(lastGoodFile, true).catch(() => undefined);
  if (!current) throw new Error('there is no usable price snapshot: see prices.rejected in the log');
  let inForce: PriceSnapshot = current;
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => {
      looking = false;
      inForce = current ?? inForce;
    });
  }, pollMs).unref();
  return { current: () => inForce, close: () => clearInterval(timer) };
}

function reject(error: unknown, onEvent: SnapshotFileOptions['onEvent']): void {
  const { code, message } = error as NodeJS.ErrnoException;
  onEvent({ name: 'prices.rejected', why: code ?? message });
}

async function readGood(
  path: string,
  publicKeyFile: string,
): Promise<{ readonly text: string; readonly snapshot: PriceSnapshot }> {
  const keys = readPublicKeys(await readFile(publicKeyFile, 'utf8'));
  if ((await stat(path)).size > MOST_BYTES) throw new Error('it is too large for a list of prices');
  const text = await readFile(path, 'utf8');
  return { text, snapshot: readSnapshot(text, keys) };
}

/** The Ed25519 public keys of a PEM file. Throws without any. */
export function readPublicKeys(pem: string): readonly KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => createPublicKey(block)).filter((key) => key.asymmetricKeyType === 'ed25519');
  if (keys.length === 0) throw new Error('the file of public keys holds no Ed25519 key (PEM)');
  return keys;
}

/** What changes when a file does; empty when it cannot be read. */
async function stampOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : 'none';
}

/** Whole or not at all. */
async function keep(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
