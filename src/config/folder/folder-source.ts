import { basename } from 'node:path';
import type { CompiledSnapshot, CompileResult } from '../compile/compile.ts';
import { createQueue, safely, type ConfigEvent, type ConfigSource } from '../config-source.ts';
import type { Fault } from '../fault.ts';
import { load, stateOf, type FolderOptions, type LoadedFolder } from './load.ts';
import { watchFolders } from './watch-folders.ts';

/** How a folder is kept up to date. */
export interface FolderSourceOptions extends FolderOptions {
  readonly onEvent?: (event: ConfigEvent) => void;
  /** How often changes that were not notified are looked for, in milliseconds; 5000 unless given. */
  readonly pollMs?: number;
  /** How long the folder must rest before it is read, in milliseconds; 100 unless given. */
  readonly debounceMs?: number;
}

interface View {
  readonly snapshot: CompiledSnapshot | undefined;
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
export async function openFolderSource(options: FolderSourceOptions): Promise<ConfigSource<CompiledSnapshot>> {
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
        message: 'cannot be compiled because of an internal error',
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
  const readable = (): boolean => view.snapshot !== undefined && view.faults.length === 0;
  return {
    current: () => view.snapshot,
    readable,
    mayHold: () => !readable(),
    mayHoldId: () => !readable(),
    age: () => 0,
    faults: () => view.faults,
    reload: () => queue.run(loadNow),
    close() {
      queue.close();
      clearInterval(poll);
      watch.close();
    },
  };
}

function toView(last: CompiledSnapshot | undefined, result: CompileResult): View {
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
