import { basename } from 'node:path';
import type { CompileResult, ResourceCounts } from './compile.ts';
import type { Fault } from './fault.ts';
import type { Snapshot } from './snapshot.ts';
import { load, stateOf, type FolderOptions, type LoadedFolder } from './folder/load.ts';
import { watchFolders } from './folder/watch-folders.ts';

/** Where the gateway gets its snapshot from. */
export interface ConfigSource {
  /** The last good snapshot; undefined until there is one. A call keeps the one it started with. */
  current(): Snapshot | undefined;
  /** False while the folder cannot be read or its content has faults. */
  readable(): boolean;
  /** What is wrong now; empty while readable. */
  faults(): readonly Fault[];
  /** Reads everything again, now. Never rejects: what goes wrong is a fault. */
  reload(): Promise<void>;
  /** Stops watching. The last snapshot stays. */
  close(): void;
}

/** What happens to a source. */
export type ConfigEvent =
  | { readonly name: 'config.loaded'; readonly revision: string; readonly counts: ResourceCounts }
  | { readonly name: 'config.rejected'; readonly faults: readonly Fault[] }
  /** A defect of the compiler itself. */
  | { readonly name: 'config.failed'; readonly error: unknown };

/** How a folder is kept up to date. */
export interface FolderSourceOptions extends FolderOptions {
  readonly onEvent?: (event: ConfigEvent) => void;
  /** How often changes that were not notified are looked for, in milliseconds; 5000 unless given. */
  readonly pollMs?: number;
  /** How long the folder must rest before it is read, in milliseconds; 100 unless given. */
  readonly debounceMs?: number;
}

interface View {
  readonly snapshot: Snapshot | undefined;
  readonly faults: readonly Fault[];
}

/** Reads and compiles a folder once: a snapshot, or all faults of all files at once. */
export async function loadFolder(options: FolderOptions): Promise<CompileResult> {
  return (await load(options, new Map())).result;
}

/**
 * Reads a folder and follows its changes. Readers see one whole snapshot at any time: a new one replaces the
 * reference, and a folder with faults leaves the last good one in place. Resolves also when the folder has faults.
 */
export async function openFolderSource(options: FolderSourceOptions): Promise<ConfigSource> {
  const { dir, pollMs = 5000, debounceMs = 100 } = options;
  const emit = safely(options.onEvent);
  const queue = createQueue();
  let view: View = { snapshot: undefined, faults: [] };
  let loaded: LoadedFolder | undefined;

  const loadNow = async (): Promise<void> => {
    try {
      const next = await load(options, loaded?.files ?? new Map());
      if (queue.closed()) return;
      loaded = next;
      watch.set(next.folders);
      const before = view;
      view = toView(before.snapshot, next.result);
      announce(before, view, next.result, emit);
    } catch (error) {
      const fault: Fault = {
        file: basename(dir),
        object: '',
        field: '',
        message: 'cannot be compiled: internal error',
      };
      view = { snapshot: view.snapshot, faults: [fault] };
      emit({ name: 'config.failed', error });
    }
  };
  const loadIfChanged = async (): Promise<void> => {
    if (loaded?.state !== (await stateOf(dir, loaded?.secretPaths ?? []))) await loadNow();
  };

  const watch = watchFolders(debounceMs, () => void queue.run(loadIfChanged));
  await queue.run(loadNow);
  await queue.run(loadIfChanged); // for what changed before the watch began
  const poll = setInterval(() => void queue.run(loadIfChanged), pollMs).unref();
  return {
    current: () => view.snapshot,
    readable: () => view.snapshot !== undefined && view.faults.length === 0,
    faults: () => view.faults,
    reload: () => queue.run(loadNow),
    close() {
      queue.close();
      clearInterval(poll);
      watch.close();
    },
  };
}

/** Runs tasks one after the other, so that two loads never overtake each other; none after it is closed. */
function createQueue() {
  let last = Promise.resolve();
  let closed = false;
  return {
    run: (task: () => Promise<void>): Promise<void> => (last = last.then(() => (closed ? undefined : task()))),
    close: () => void (closed = true),
    closed: () => closed,
  };
}

/** A listener that fails must not stop the reloading. */
function safely(listener: FolderSourceOptions['onEvent']): (event: ConfigEvent) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // Its failure is its own to report.
    }
  };
}

function toView(last: Snapshot | undefined, result: CompileResult): View {
  if (!result.snapshot) return { snapshot: last, faults: result.faults };
  const same = last?.revision === result.snapshot.revision;
  return { snapshot: same ? last : result.snapshot, faults: [] };
}

/** Says what changed, once: a state that was announced before is no news. */
function announce(before: View, now: View, result: CompileResult, emit: (event: ConfigEvent) => void): void {
  if (!result.snapshot) {
    if (JSON.stringify(before.faults) !== JSON.stringify(now.faults)) {
      emit({ name: 'config.rejected', faults: now.faults });
    }
  } else if (before.snapshot !== now.snapshot || before.faults.length > 0) {
    emit({ name: 'config.loaded', revision: result.snapshot.revision, counts: result.counts });
  }
}
