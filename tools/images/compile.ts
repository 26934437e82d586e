import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAMS } from './programs.ts';

/**
 * compile.ts PROGRAM: loads the code of an image's program, from the working folder, and leaves it there compiled, for
 * `src/compiled-code.js`. The folder must be where the program will run. Run with `--predictable`, and with no other
 * flag of V8: the files are then the same each time, on any machine with the same Node.js.
 */
function compile(name: string): void {
  const program = PROGRAMS[name];
  if (!program) throw new Error(`unknown program ${name}; known: ${Object.keys(PROGRAMS).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'compiled-'));
  const made = join(process.cwd(), '.compiled');
  mkdirSync(made);
  enableCompileCache({ directory: folder });
  // `import` loads files in the order in which the disk happens to answer, which shows in the files; `require` does not.
  const load = createRequire(import.meta.url);
  for (const [place, path] of program.compiled.entries()) {
    // At the same place each time: the files say where it was.
    const loader = join(made, `${place}.mjs`);
    writeFileSync(loader, `import ${JSON.stringify(join(process.cwd(), path))};`);
    try {
      load(loader);
    } catch (thrown) {
      // By then all that it imports has been compiled.
      if (!isThread(thrown)) throw thrown;
    }
    rmSync(loader);
  }
  flushCompileCache();
  const shipped = join(made, 'shipped');
  cpSync(getCompileCacheDir()!, shipped, { recursive: true });
  for (const file of readdirSync(shipped)) chmodSync(join(shipped, file), 0o644);
  for (const one of [shipped, made]) chmodSync(one, 0o755);
  rmSync(folder, { recursive: true });
}

/** Whether this is the error of a thread's module: it runs in threads only, or waits at its top level. */
function isThread(thrown: unknown): boolean {
  const { code, message } = thrown as NodeJS.ErrnoException;
  return code === 'ERR_REQUIRE_ASYNC_MODULE' || message.endsWith('runs as a worker thread only');
}

compile(process.argv[2] ?? '');
// Whatever a module has begun.
process.exit(0);
