import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { stringify } from 'yaml';
import type { CompiledSnapshot } from '../compile/compile.ts';
import type { ConfigEvent, ConfigSource } from '../config-source.ts';
import { openFolderSource, type FolderSourceOptions } from '../folder/folder-source.ts';
import { make, type TestResource } from './resources.ts';

export const acme = make('Organization', 'acme');
export const bot = make('Workload', 'bot');
export const key = make('VirtualKey', 'key');
export const provider = make('Provider', 'vendor', {
  credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
});

/** Resources as the text of a YAML file. */
export function toYaml(...resources: readonly unknown[]): string {
  return resources.map((resource) => stringify(resource)).join('---\n');
}

/** A source, what it reported, and a wait for a state. */
interface StartedSource {
  readonly source: ConfigSource<CompiledSnapshot>;
  readonly events: readonly ConfigEvent[];
  readonly until: (done: () => boolean) => Promise<void>;
}

/** A folder of configuration that each test of a file finds empty. */
export interface ConfigFolder {
  /** Parent of both folders below. */
  readonly root: string;
  readonly dir: string;
  readonly secretsDir: string;
  /** Sources to close after the test. */
  readonly open: ConfigSource<CompiledSnapshot>[];
  /** Puts a file in place whole: a reader sees the old one or the new one, never half of it. */
  replace(file: string, text: string): Promise<void>;
  write(file: string, ...resources: readonly TestResource[]): Promise<void>;
  /** Opens a source; tests wait for its events: nothing depends on how long something takes. */
  start(options?: Partial<FolderSourceOptions>): Promise<StartedSource>;
}

/** Makes and removes a folder for each test of the file that calls it. */
export function configFolder(): ConfigFolder {
  let root = '';
  const open: ConfigSource<CompiledSnapshot>[] = [];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'gw-config-'));
    await mkdir(join(root, 'config'));
  });

  afterEach(async () => {
    for (const source of open.splice(0)) source.close();
    await rm(root, { recursive: true });
  });

  const folder: ConfigFolder = {
    get root() {
      return root;
    },
    get dir() {
      return join(root, 'config');
    },
    get secretsDir() {
      return join(root, 'secrets');
    },
    open,
    async replace(file, text) {
      const next = join(root, `next-${randomUUID()}`);
      await writeFile(next, text);
      await rename(next, join(folder.dir, file));
    },
    write: (file, ...resources) => folder.replace(file, toYaml(...resources)),
    async start(options = {}) {
      const events: ConfigEvent[] = [];
      const waiting: (() => void)[] = [];
      const source = await openFolderSource({
        dir: folder.dir,
        usdToEur: '0.9',
        debounceMs: 5,
        pollMs: 25,
        onEvent: (event) => {
          events.push(event);
          for (const wake of waiting.splice(0)) wake();
        },
        ...options,
      });
      open.push(source);
      const until = async (done: () => boolean): Promise<void> => {
        while (!done()) await new Promise<void>((resume) => waiting.push(resume));
      };
      return { source, events, until };
    },
  };
  return folder;
}
