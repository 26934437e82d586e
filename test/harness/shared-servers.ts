import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { importsOf } from '../../tools/imports.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `redis://…` of a Redis that the run may write to; `inject('redisUrl')`. */
    redisUrl: string;
    /** `postgres://…` of a database that the run may write to; `inject('databaseUrl')`. */
    databaseUrl: string;
  }
}

/**
 * Starts one Redis and one PostgreSQL for the whole run and provides their addresses to the tests. A server that no
 * test file of this run asks for by `inject('…')`, itself or in a file it imports, is not started. `TEST_REDIS_URL` and
 * `TEST_DATABASE_URL` name servers to use instead.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const asked = await wanted(project);
  await using servers = new AsyncDisposableStack();
  const provide = async (key: 'redisUrl' | 'databaseUrl', start: () => Promise<Server>): Promise<void> => {
    if (!asked.has(key)) return;
    const server = await start();
    servers.defer(() => server.stop());
    project.provide(key, server.url);
  };
  const started = await Promise.allSettled([
    provide('redisUrl', () => startRedis()),
    provide('databaseUrl', () => startPostgres()),
  ]);
  for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;
  const running = servers.move();
  return () => running.disposeAsync();
}

interface Server {
  readonly url: string;
  readonly stop: () => Promise<void>;
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
