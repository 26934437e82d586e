import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '#/runtime/thread-environment.ts';
import { answers } from '../socket.ts';
import { claim, dataDirectory, DataDirectoryInUse, type DataDirectory, keepToOwner } from './data-directory.ts';
import type { WorkerInput, WorkerMessage } from './worker.ts';

/** A PostgreSQL that runs inside this process (PGlite) or in another one; either is reached through its socket. */
export interface EmbeddedPostgres {
  /** For `pg` and for libpq. */
  readonly connectionString: string;
  /** Ends it when it runs in this process. Connections have to be closed first. */
  close(): Promise<void>;
}

const SOCKET_WAIT_MS = 10_000;
const MAKER = fileURLToPath(new URL('./create-database.ts', import.meta.url));

/**
 * Opens the embedded PostgreSQL in a worker thread, making it when it is not there. Commits wait for the disk. Rejects
 * with DataDirectoryInUse when another process has it open.
 */
export async function openEmbeddedPostgres(options: { readonly dataDir: string }): Promise<EmbeddedPostgres> {
  const directory = dataDirectory(options.dataDir);
  const release = await claim(directory);
  try {
    await makeWhereAbsent(directory);
    const worker = await startWorker(directory);
    keepToOwner(directory);
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await stopWorker(worker);
      release();
    };
    return { connectionString: connectionStringOf(directory), close: () => (closing ??= close()) };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * The embedded PostgreSQL of a data directory, wherever it runs: in the process that has it open, or else opened here.
 * Rejects when it does not exist, and never creates it.
 */
export async function reachEmbeddedPostgres(options: { readonly dataDir: string }): Promise<EmbeddedPostgres> {
  const directory = dataDirectory(options.dataDir);
  if (!existsSync(join(directory.database, 'PG_VERSION'))) {
    throw new Error(`there is no embedded database in ${options.dataDir}`);
  }
  try {
    return await openEmbeddedPostgres(options);
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error;
    // Its owner may be about to open it.
    for (let waited = 0; !(await answers(directory.socket)); waited += 100) {
      if (waited >= SOCKET_WAIT_MS) throw error;
      await sleep(100);
    }
    return { connectionString: connectionStringOf(directory), close: async () => {} };
  }
}

function connectionStringOf({ folder }: DataDirectory): string {
  return `postgresql://postgres@/postgres?host=${encodeURIComponent(folder)}`;
}

/** Makes the database where there is none, next to its place: half of one is never taken for a whole one. */
async function makeWhereAbsent({ database }: DataDirectory): Promise<void> {
  if (existsSync(join(database, 'PG_VERSION'))) return;
  for (const left of globSync(`${database}.new-*`)) rmSync(left, { recursive: true, force: true });
  const fresh = mkdtempSync(`${database}.new-`);
  try {
    await promisify(execFile)(process.execPath, [MAKER, fresh], { env: threadEnvironment() });
  } catch (cause) {
    throw new Error('the embedded database could not be created', { cause });
  }
  // An empty folder may be there; one with files is not ours to remove.
  if (existsSync(database)) rmdirSync(database);
  renameSync(fresh, database);
}

async function startWorker({ database, socket }: DataDirectory): Promise<Worker> {
  const input: WorkerInput = { database, socket };
  const options = { workerData: input, env: threadEnvironment() };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), options);
  await said(worker, 'ready');
  // Clients notice when the worker ends: their connections do. Unheard, its fault would end this process.
  worker.on('error', () => {});
  return worker;
}

async function stopWorker(worker: Worker): Promise<void> {
  const closed = said(worker, 'closed').catch(() => {});
  worker.postMessage('close');
  await closed;
  await worker.terminate();
}

/** Resolves when the worker says so; rejects when it fails or ends instead. */
async function said(worker: Worker, kind: WorkerMessage['kind']): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onMessage = (message: WorkerMessage): void => {
    if (message.kind === kind) resolve();
  };
  // PGlite throws things that are no Errors.
  const onError = (cause: unknown): void => reject(new Error('the embedded database has failed', { cause }));
  const onExit = (): void => reject(new Error('the embedded database has ended'));
  worker.on('message', onMessage).once('error', onError).once('exit', onExit);
  try {
    await promise;
  } finally {
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
  }
}
