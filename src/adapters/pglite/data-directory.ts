import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { answers, assertSocketPath } from '../socket.ts';

/** Where the embedded database keeps its things: in a folder of its own that only its owner can enter. */
export interface DataDirectory {
  readonly folder: string;
  /** PostgreSQL's own files. */
  readonly database: string;
  /** Named as libpq expects it, so that `psql -h FOLDER` finds it. */
  readonly socket: string;
  readonly lock: string;
}

/** Another process has the embedded database open. */
export class DataDirectoryInUse extends Error {
  override readonly name = 'DataDirectoryInUse';
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(`the embedded database in ${folder} is open in process ${pid}`);
    this.pid = pid;
  }
}

interface Owner {
  readonly pid: number;
  /** When the process started, as the kernel counts it: a process id comes round again. Null where it is not known. */
  readonly started: string | null;
  /** Differs after a reboot and on another machine. */
  readonly boot: string | null;
}

/** Names the files of a data directory. Throws RangeError when the socket's path would be too long for the system. */
export function dataDirectory(dataDir: string): DataDirectory {
  const folder = join(resolve(dataDir), 'ledger');
  const socket = join(folder, '.s.PGSQL.5432');
  assertSocketPath(socket);
  return { folder, database: join(folder, 'data'), socket, lock: join(folder, 'lock') };
}

/**
 * Takes the data directory for this process; the function it resolves with gives it back. A lock that a dead process
 * left is taken over. Rejects with DataDirectoryInUse.
 */
export async function claim(directory: DataDirectory): Promise<() => void> {
  const { folder, lock } = directory;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const mine = `${lock}.${randomUUID()}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, started: startOf(process.pid), boot: bootId() }));
  try {
    while (!tryLink(mine, lock)) {
      const text = readIfThere(lock);
      if (text === undefined) continue; // given back a moment ago
      const owner = parseOwner(text);
      if (isRunning(owner) || (await answers(directory.socket))) throw new DataDirectoryInUse(folder, owner.pid);
      removeStale(lock, text);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  rmSync(directory.socket, { force: true });
  return () => rmSync(lock, { force: true });
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves the lock away, then checks it: it may be the lock of a faster process. */
function removeStale(lock: string, expected: string): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(aside) !== expected) tryLink(aside, lock);
  rmSync(aside, { force: true });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseOwner(text: string): Owner {
  try {
    const { pid, started, boot } = JSON.parse(text) as Owner;
    return { pid: Number(pid), started, boot };
  } catch {
    return { pid: 0, started: null, boot: null }; // a machine that went down while it was written
  }
}

function isRunning({ pid, started, boot }: Owner): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || boot !== bootId()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return started === startOf(pid);
}

function bootId(): string | null {
  return readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

function startOf(pid: number): string | null {
  // The second field, the program's name in brackets, may hold spaces; the 22nd is the start.
  const fields = readIfThere(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ');
  return fields?.[19] ?? null;
}

/** Takes from others what they may do with the database's files: PostgreSQL's template gives them some. */
export function keepToOwner({ folder }: DataDirectory): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() && !entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const mode = entry.isDirectory() ? 0o700 : 0o600;
    if ((statSync(path).mode & 0o777) !== mode) chmodSync(path, mode);
  }
}
