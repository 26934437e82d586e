import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigCopy, PublishedHead } from '#/config/published/config-store.ts';

const HEAD = 'head.json';

/**
 * The last good configuration in a folder, made when it is not there: a file for each segment, as the store has it, and
 * one that lists the files that belong together. Its secrets are encrypted, and readers verify the copy.
 */
export function openConfigCopy(folder: string): ConfigCopy {
  const pathOf = (digest: string): string => join(folder, digest);
  return {
    async head() {
      const path = join(folder, HEAD);
      const text = await readOrNothing(path);
      if (!text) return undefined;
      return { ...(JSON.parse(text.toString('utf8')) as PublishedHead), keptAt: (await stat(path)).mtimeMs };
    },
    async segments(digests) {
      const found = new Map<string, Uint8Array>();
      for (const digest of digests) {
        const bytes = await readOrNothing(pathOf(digest));
        if (bytes) found.set(digest, bytes);
      }
      return found;
    },
    async keep(head, digests, fresh) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const there = new Set(await readdir(folder));
      const wanted = new Set(digests);
      for (const digest of wanted) {
        const bytes = fresh.get(digest);
        if (bytes) await write(folder, digest, bytes);
        else if (!there.has(digest)) throw new Error('a segment of the configuration to keep is missing');
      }
      const { epoch, seq, manifest, signature } = head;
      await write(folder, HEAD, Buffer.from(JSON.stringify({ epoch, seq, manifest, signature })));
      for (const name of there) if (name !== HEAD && !wanted.has(name)) await rm(join(folder, name), { force: true });
    },
  };
}

/** Whole, unless the machine fails: then it is not what its digest says, and not used. */
async function write(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const draft = join(folder, `${randomUUID()}.draft`);
  try {
    await using handle = await open(draft, 'wx', 0o600);
    await handle.writeFile(bytes);
    await rename(draft, join(folder, name));
  } finally {
    await rm(draft, { force: true });
  }
}

async function readOrNothing(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
}
