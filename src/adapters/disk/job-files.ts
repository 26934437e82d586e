import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobFile, JobFiles } from '#/ports/document-jobs.ts';

/** Files of jobs in a folder: of one process, or one that all of them mount. Rejects when it cannot be made. */
export async function openDiskJobFiles(folder: string): Promise<JobFiles> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pathOf = ({ job, part }: JobFile): string => join(folder, `${job}.${part}`);
  return {
    async put(file, encrypted) {
      const draft = join(folder, `${randomUUID()}.draft`);
      try {
        await using handle = await open(draft, 'wx', 0o600);
        await handle.writeFile(encrypted);
        await handle.sync();
        await rename(draft, pathOf(file));
      } finally {
        await rm(draft, { force: true });
      }
    },
    get: (file) =>
      readFile(pathOf(file)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }),
    remove: (file) => rm(pathOf(file), { force: true }),
  };
}
