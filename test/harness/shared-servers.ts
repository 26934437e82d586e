import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { importsOf } from '../../tools/imports.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `redis://…` of a Redis that the run may write to; `inject('redisUrl')`. */
    redisUrl: string;
    /** `postgres://…` of a database that the run may write to; `inject('databaseUrl')`. */
    databaseUrl: string;
    /** A data directory with a closed embedded database that was never used, to be copied; `inject('embeddedDataDir')`. */
    embeddedDataDir: string;
  }
}

/**
 * Starts one Redis and one PostgreSQL for the whole run, makes one embedded database, and provides to the tests where
 * they are. What no test file of this run asks for by `inject('…')`, itself or in a file it imports, is left out.
 * `TEST_REDIS_URL` and `TEST_DATABASE_URL` name servers to use instead.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const asked = await wanted(project);
  await using servers = new AsyncDisposableStack();
  const provide = async (
    key: 'redisUrl' | 'databaseUrl' | 'embeddedDataDir',
    start: () => Promise<Provided>,
  ): Promise<void> => {
    if (!asked.has(key)) return;
    const { at, stop } = await start();
    servers.defer(stop);
    project.provide(key, at);
  };
  const started = await Promise.allSettled([
    provide('redisUrl', async () => provided(await startRedis())),
    provide('databaseUrl', async () => provided(await startPostgres())),
    provide('embeddedDataDir', makeEmbedded),
  ]);
  for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;
  const running = servers.move();
  return () => running.disposeAsync();
}

/** Its address or folder. */
interface Provided {
  readonly at: string;
  readonly stop: () => Promise<void>;
}

function provided(server: { readonly url: string; readonly stop: () => Promise<void> }): Provided {
  return { at: server.url, stop: () => server.stop() };
}

/** Copying it takes a tenth of the time of making one. */
async function makeEmbedded(): Promise<Provided> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gw-'));
  const stop = (): Promise<void> => rm(dataDir, { recursive: true, force: true });
  try {
    const database = await openEmbeddedPostgres({ dataDir });
    await database.close();
  } catch (error) {
    await stop();
    throw error;
  }
  return { at: dataDir, stop };
}

/** The keys that the test files of this run inject, directly or through their relative imports. */
async function wanted(project: TestProject): Promise<ReadonlySet<string>> {
  // Vitest keeps the command line's file filters here; without them every test file is looked at.
  const { filenamePattern } = project.vitest as unknown as { readonly filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern ?? []);
  const files = new Set(testFiles);
  const keys = new Set<string>();
  for (const file of files) {
    const text = readText(file);
    for (const [, key] of text.matchAll(/\binject\(\s*['"](\w+)['"]/g)) keys.add(key ?? '');
    for (const { specifier } of importsOf(text)) {
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier));
    }
  }
  return keys;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
