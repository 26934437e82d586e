import { Unzip, UnzipInflate, unzipSync, zipSync, type UnzipFile, type Zippable } from 'fflate';
import { DocumentFault } from '#/ports/documents.ts';

/** Real documents stay far below. */
const MAX_ENTRIES = 2000;
const MAX_ENTRY_BYTES = 128 * 1024 * 1024;
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
/** Text of a format that repeats itself shrinks to a hundredth; bombs to a thousandth. Small entries may do what they like. */
const MAX_RATIO = 400;
const RATIO_FROM_BYTES = 4 * 1024 * 1024;
const CHUNK = 64 * 1024;
/** Names are asked for on no disk, but what reads the result may put them on one. */
const BAD_NAME = /^[/\\]|\\|(?:^|\/)\.\.?(?:\/|$)|\p{Cc}|^[a-z]:/iu;
const MAX_NAME = 300;
const NESTED = /^(?:504b0304|1f8b|52617221|377abcaf)/;
const FIXED_TIME = '1980-01-02T00:00:00Z';

/**
 * Files of a zip archive by name, inflated within bounds. Names differ in more than case. Throws
 * `unreadable` for one that is damaged, has bad or double names or another archive in it as XML, `too_large` for a bomb.
 */
export function unzip(bytes: Uint8Array, checkTime: () => void): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  const names = new Set<string>();
  const state = { entries: 0, open: 0, total: 0 };
  const reader = new Unzip((file) => take(file, { found, names, state }));
  reader.register(UnzipInflate);
  try {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      if (at % (CHUNK * 64) === 0) checkTime();
      reader.push(bytes.subarray(at, at + CHUNK), at + CHUNK >= bytes.length);
    }
  } catch (cause) {
    if (cause instanceof DocumentFault) throw cause;
    throw damaged(cause);
  }
  if (state.open > 0 || found.size === 0 || !isListed(bytes, names)) throw damaged();
  return found;
}

/** Whether the directory at the end of the file, which other programs use, has the same entries. */
function isListed(bytes: Uint8Array, names: ReadonlySet<string>): boolean {
  const listed: string[] = [];
  try {
    unzipSync(bytes, {
      filter: ({ name }) => {
        listed.push(name.toLowerCase());
        return false;
      },
    });
  } catch (cause) {
    throw damaged(cause);
  }
  return listed.length === names.size && listed.every((name) => names.has(name));
}

interface Taken {
  readonly found: Map<string, Uint8Array>;
  readonly names: Set<string>;
  readonly state: { entries: number; open: number; total: number };
}

function take(file: UnzipFile, { found, names, state }: Taken): void {
  if (++state.entries > MAX_ENTRIES) throw tooLarge();
  const name = file.name.toLowerCase();
  if (file.name === '' || file.name.length > MAX_NAME || BAD_NAME.test(file.name) || names.has(name)) throw damaged();
  names.add(name);
  state.open++;
  const chunks: Uint8Array[] = [];
  let size = 0;
  file.ondata = (error, data, final) => {
    // Errors thrown here are passed to this callback.
    if (error) throw error instanceof DocumentFault ? error : damaged(error);
    size += data.length;
    state.total += data.length;
    const inflated = size > RATIO_FROM_BYTES && file.size !== undefined && size > file.size * MAX_RATIO;
    if (size > MAX_ENTRY_BYTES || state.total > MAX_TOTAL_BYTES || inflated) throw tooLarge();
    chunks.push(data);
    if (!final) return;
    state.open--;
    if (!name.endsWith('/')) found.set(file.name, Buffer.concat(chunks));
  };
  file.start();
}

/** Whether bytes are an archive in an archive. */
export function isArchive(bytes: Uint8Array): boolean {
  return NESTED.test(Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 8)).toString('hex'));
}

/** A zip file of entries in this order, of which one says as it lies what the file is. It tells nothing of when or where it was made. */
export function zip(entries: readonly (readonly [name: string, bytes: Uint8Array])[]): Uint8Array {
  const packed = entries.map(([name, bytes]) => [name, [bytes, { level: name === 'mimetype' ? 0 : 6 }]] as const);
  return zipSync(Object.fromEntries(packed) as Zippable, { mtime: FIXED_TIME });
}

function damaged(cause?: unknown): DocumentFault {
  return new DocumentFault('unreadable', 'the document is damaged or incomplete', { cause });
}

function tooLarge(): DocumentFault {
  return new DocumentFault('too_large', 'the document is too large when it is unpacked');
}
