import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MOST_BYTES = 1 << 28;
const SECONDS = 120;

/** What a program wrote, also where it failed: half of what it found is something. Rejects where it is not installed. */
export async function output(program: string, args: readonly string[]): Promise<Buffer> {
  try {
    const { stdout } = await run(program, [...args], options());
    return stdout;
  } catch (error) {
    const { code, stdout } = error as { code?: unknown; stdout?: Buffer };
    if (code === 'ENOENT') throw new Error(`${program} is not installed: tools/setup.sh documents`, { cause: error });
    return stdout ?? Buffer.alloc(0);
  }
}

/** Whether a program ended as one that is content. */
export async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return run(program, [...args], options()).then(
    () => true,
    () => false,
  );
}

function options() {
  const env = { ...process.env, OMP_THREAD_LIMIT: '1', LC_ALL: 'C.UTF-8' };
  return { encoding: 'buffer', maxBuffer: MOST_BYTES, timeout: SECONDS * 1000, env } as const;
}

/** A file in a folder of its own, which is gone when it is disposed. */
export async function asFile(
  bytes: Uint8Array,
  name: string,
): Promise<AsyncDisposable & { path: string; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'leak-'));
  const path = join(folder, name);
  await writeFile(path, bytes);
  return { path, folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** What the system's own recognizer reads on every page, or in every frame. */
export async function recognized(bytes: Uint8Array, mediaType: string, language: string): Promise<string> {
  await using file = await asFile(bytes, 'document');
  if (mediaType !== 'application/pdf') return await recognizedPicture(file.path, language);
  await output('pdftoppm', ['-r', '150', '-gray', file.path, join(file.folder, 'page')]);
  const pages = (await readdir(file.folder)).filter((name) => name.startsWith('page')).sort();
  const texts: string[] = [];
  for (const page of pages) texts.push(await recognizedPicture(join(file.folder, page), language));
  return texts.join('\n');
}

async function recognizedPicture(path: string, language: string): Promise<string> {
  return (await output('tesseract', [path, '-', '-l', language, '--dpi', '150'])).toString('utf8');
}
