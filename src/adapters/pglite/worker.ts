import { fsyncSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import type { Backend } from './session.ts';
import { serveSessions } from './session-server.ts';

/** What the worker is started with, and what it says. */
export interface WorkerInput {
  readonly database: string;
  readonly socket: string;
}
export type WorkerMessage = { readonly kind: 'ready' } | { readonly kind: 'closed' };

interface OpenFile {
  /** The file descriptor of the operating system. */
  readonly nfd: number;
}

const port = parentPort;
if (port === null) throw new Error('worker.ts runs as a worker thread only');
const { database, socket } = workerData as WorkerInput;
const db = await openDatabase(database);
const server = await serveSessions(backendOf(db), socket);
say({ kind: 'ready' });

port.once('message', () => {
  void (async () => {
    await server.close();
    await db.close();
    say({ kind: 'closed' });
    port.close();
  })();
});

/**
 * PGlite starts PostgreSQL with fsync off, and its file system knows no fsync: a row that was acknowledged would be
 * lost with the machine's power. Both are put right here. Less than the usual shared memory saves 160 MB of RAM.
 */
async function openDatabase(dataDir: string): Promise<PGlite> {
  const settings = ['wal_sync_method=fsync', 'max_wal_size=64MB', 'shared_buffers=16MB'];
  const defaults = PGlite.defaultStartParams.filter((parameter) => parameter !== '-F');
  const startParams = [...defaults, ...settings.flatMap((setting) => ['-c', setting])];
  const opened = await PGlite.create({ dataDir, startParams });
  const { filesystems } = opened.Module.FS as unknown as {
    filesystems: { NODEFS: { stream_ops: { fsync?: (stream: OpenFile) => number } } };
  };
  let synced = 0;
  const fsync = ({ nfd }: OpenFile): number => {
    fsyncSync(nfd);
    synced += 1;
    return 0;
  };
  filesystems.NODEFS.stream_ops.fsync = fsync;
  await opened.exec('CHECKPOINT');
  // Another version of PGlite may do all this differently: better no ledger than one that forgets.
  if (synced === 0) throw new Error('the embedded database does not sync its writes to the disk');
  return opened;
}

function backendOf(pglite: PGlite): Backend {
  return {
    run: (messages, onRawData) => {
      // Runs to its end before it returns; only a fault of the engine itself rejects, and nothing can follow it.
      pglite.execProtocolRawStream(messages, { onRawData, syncToFs: false }).catch((fault: unknown) => {
        setImmediate(() => {
          throw fault;
        });
      });
    },
    inTransaction: () => pglite.isInTransaction(),
  };
}

function say(message: WorkerMessage): void {
  parentPort!.postMessage(message);
}
