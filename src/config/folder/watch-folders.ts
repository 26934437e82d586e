import { watch, type FSWatcher } from 'node:fs';

/** Watches folders, without subfolders, for changes until closed. Does not keep the process alive. */
export interface FolderWatch {
  /** Replaces the folders watched. One that cannot be watched is left out: the poll notices its changes. */
  set(folders: readonly string[]): void;
  close(): void;
}

/** Calls `changed` some time after the last of a burst of changes. */
export function watchFolders(debounceMs: number, changed: () => void): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const notify = (): void => {
    clearTimeout(timer);
    timer = setTimeout(changed, debounceMs).unref();
  };
  const drop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  return {
    set(folders) {
      for (const folder of [...watchers.keys()]) if (!folders.includes(folder)) drop(folder);
      for (const folder of folders) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watch(folder, { persistent: false }, notify);
          watcher.on('error', () => drop(folder));
          watchers.set(folder, watcher);
        } catch {
          // Not there, or no more watches to be had.
        }
      }
    },
    close() {
      clearTimeout(timer);
      for (const folder of [...watchers.keys()]) drop(folder);
    },
  };
}
