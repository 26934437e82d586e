import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** The environment of a thread: it finds compiled code where this one does, and sees nothing else of the process's. */
export function threadEnvironment(): Record<string, string> {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
