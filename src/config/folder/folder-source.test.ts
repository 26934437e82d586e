import { execFileSync } from 'node:child_process';
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VENDOR_IDS } from '#/vendors/list.ts';
import type { ConfigEvent } from '../config-source.ts';
import { loadFolder, openFolderSource } from './folder-source.ts';
import { make, makeCore, sha256, toSources, type TestResource } from '../testing/resources.ts';
import { acme, bot, configFolder, key, provider, toYaml } from '../testing/config-folder.ts';

const folder = configFolder();

describe('reading once', () => {
  test('all files of the folder and of the folders in it, hidden and other files apart', async () => {
    await folder.write('a.yaml', acme);
    await mkdir(join(folder.dir, 'team'));
    await mkdir(join(folder.dir, '.git'));
    await folder.write('team/b.yml', bot, key);
    await writeFile(join(folder.dir, '.hidden.yaml'), ': not : yaml');
    await writeFile(join(folder.dir, '.git', 'x.yaml'), ': not : yaml');
    await writeFile(join(folder.dir, 'README.md'), ': not : yaml');
    const { snapshot, counts } = await loadFolder({ dir: folder.dir, usdToEur: '1' });
    expect([...(snapshot?.keys.keys() ?? [])]).toEqual([sha256('key')]);
    expect(counts).toMatchObject({ Organization: 1, Workload: 1, VirtualKey: 1 });
  });

  test('the faults of all files at once, those of the text and those of the content', async () => {
    await folder.write('a.yaml', make('Workload', 'bot', { nope: 1 }));
    await writeFile(join(folder.dir, 'b.yaml'), 'a: [1\n');
    await mkdir(join(folder.dir, 'team'));
    await writeFile(join(folder.dir, 'team', 'c.yaml'), `${toYaml(acme)}---\nkind: Foo\n`);
    await writeFile(join(folder.dir, 'd.yaml'), Buffer.from([0x61, 0x3a, 0xff, 0xfe]));
    await mkdir(join(folder.dir, 'e.yaml'));
    const { faults } = await loadFolder({ dir: folder.dir, usdToEur: '1' });
    expect(faults?.map(({ file, object, field }) => [file, object, field])).toEqual([
      ['b.yaml', 'document 1', 'line 2'],
      ['d.yaml', '', ''],
      ['e.yaml', '', ''],
      ['a.yaml', 'Workload default/bot', 'spec.nope'],
      ['team/c.yaml', 'document 2', 'kind'],
    ]);
  });

  test('a file that could not be read does not make references to it dangle', async () => {
    await folder.write('a.yaml', bot, key);
    await writeFile(join(folder.dir, 'organization.yaml'), `${toYaml(acme)}\nspec: {}\n`);
    const { faults } = await loadFolder({ dir: folder.dir, usdToEur: '1' });
    expect(faults?.map(({ file, message }) => [file, message])).toEqual([
      ['organization.yaml', 'has the key spec twice'],
    ]);
  });

  test('a file over 16 MiB is refused', async () => {
    await folder.write('a.yaml', acme);
    await writeFile(join(folder.dir, 'b.yaml'), Buffer.alloc(16 * 1024 * 1024 + 1, '#'));
    const { faults } = await loadFolder({ dir: folder.dir, usdToEur: '1' });
    expect(faults).toEqual([{ file: 'b.yaml', object: '', field: '', message: 'is larger than 16 MiB' }]);
  });

  test('a named pipe does not hang the gateway', async () => {
    execFileSync('mkfifo', [join(folder.dir, 'a.yaml')]);
    const { faults } = await loadFolder({ dir: folder.dir, usdToEur: '1' });
    expect(faults).toEqual([{ file: 'a.yaml', object: '', field: '', message: 'is not a file' }]);
  });

  test('a folder without resources is a fault: it must not read as a configuration without keys', async () => {
    const empty = { file: 'config', object: '', field: '', message: 'has no resources' };
    expect((await loadFolder({ dir: folder.dir, usdToEur: '1' })).faults).toEqual([empty]);
    await writeFile(join(folder.dir, 'a.yaml'), '# nothing\n');
    expect((await loadFolder({ dir: folder.dir, usdToEur: '1', extra: () => toSources([acme]) })).faults).toEqual([
      empty,
    ]);
  });

  test('a folder that is not there', async () => {
    expect((await loadFolder({ dir: join(folder.root, 'nowhere'), usdToEur: '1' })).faults).toEqual([
      { file: 'nowhere', object: '', field: '', message: 'does not exist' },
    ]);
  });

  test('secrets come from files, and only from inside their folder', async () => {
    await folder.write('a.yaml', acme, bot, key, provider);
    await mkdir(join(folder.secretsDir, 'keys'), { recursive: true });
    await writeFile(join(folder.secretsDir, 'keys', 'main'), 'sk-1\n');
    const { snapshot } = await loadFolder({ dir: folder.dir, secretsDir: folder.secretsDir, usdToEur: '1' });
    const found = snapshot?.organizations.get('default/acme')?.providers.get('vendor');
    expect(found?.credentials[0]?.secret).toBe('sk-1');
    expect((await loadFolder({ dir: folder.dir, usdToEur: '1' })).faults).toHaveLength(1);
  });

  test('extra resources count as those of the folder', async () => {
    await folder.write('a.yaml', acme, bot);
    const { snapshot } = await loadFolder({
      dir: folder.dir,
      usdToEur: '1',
      extra: () => toSources([key], 'built-in'),
    });
    expect(snapshot?.keys.size).toBe(1);
    const twice = await loadFolder({ dir: folder.dir, usdToEur: '1', extra: () => toSources([acme], 'built-in') });
    expect(twice.faults?.map(({ file, object }) => [file, object])).toEqual([
      ['built-in', 'Organization default/acme'],
    ]);
  });

  test('the local sample is good, one resource a file', async () => {
    const sample = join(import.meta.dirname, '../../../k8s/samples/local');
    const { snapshot, counts } = await loadFolder({ dir: sample, usdToEur: '1' });
    expect(snapshot?.organizations.get('default/local')?.prices.get('sandbox/*')?.[0]).toMatchObject({
      input: 1_000_000_000n,
      output: 3_000_000_000n,
    });
    const files = await readdir(sample);
    expect(Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0)).toBe(files.length);
    for (const file of files) expect(await readFile(join(sample, file), 'utf8')).toMatch(/^#/);
  });
});

test('the samples of providers are good', async () => {
  const { faults, counts } = await loadFolder({
    dir: join(import.meta.dirname, '../../../k8s/samples/providers'),
    usdToEur: '1',
  });
  expect(faults ?? []).toEqual([]);
  expect(counts?.Provider).toBe(VENDOR_IDS.length);
});

describe('following changes', () => {
  test('a change is seen, and readers keep what they have', async () => {
    await folder.write('a.yaml', acme, bot, key);
    const { source, events, until } = await folder.start();
    const first = source.current()!;
    expect(source.readable()).toBe(true);
    await folder.write('a.yaml', acme, bot, key, make('VirtualKey', 'two'));
    await until(() => events.length === 2);
    expect(source.current()?.keys.size).toBe(2);
    expect(first.keys.size).toBe(1);
    expect(events.map(({ name }) => name)).toEqual(['config.loaded', 'config.loaded']);
    expect(events[1]).toMatchObject({ revision: source.current()?.revision, counts: { VirtualKey: 2 } });
  });

  test('a new file, a renamed one and a removed one', async () => {
    await folder.write('a.yaml', acme, bot);
    const { source, events, until } = await folder.start();
    await folder.write('b.yaml', key);
    await until(() => events.length === 2);
    expect(source.current()?.keys.size).toBe(1);
    await folder.write('c.yaml.next', make('VirtualKey', 'two'));
    await rename(join(folder.dir, 'c.yaml.next'), join(folder.dir, 'c.yaml'));
    await until(() => events.length === 3);
    expect(source.current()?.keys.size).toBe(2);
    await rm(join(folder.dir, 'b.yaml'));
    await until(() => events.length === 4);
    expect([...source.current()!.keys.keys()]).toEqual([sha256('two')]);
  });

  test('a broken folder keeps the last good snapshot and says everything; a mended one recovers', async () => {
    await folder.write('a.yaml', acme, bot, key);
    const { source, events, until } = await folder.start();
    const good = source.current();
    await folder.write('a.yaml', acme, make('Workload', 'bot', { nope: 1 }), make('VirtualKey', 'key', { hash: {} }));
    await until(() => !source.readable());
    expect(source.current()).toBe(good);
    expect(source.faults().map(({ field }) => field)).toEqual(['spec.nope', 'spec.hash.value']);
    expect(events.at(-1)).toEqual({ name: 'config.rejected', faults: source.faults() });
    await folder.write('a.yaml', acme, bot, key);
    await until(() => source.readable());
    expect(source.faults()).toEqual([]);
    expect(source.current()).toBe(good);
    expect(events.at(-1)?.name).toBe('config.loaded');
  });

  test('a folder that is broken from the start has no snapshot, and gets one when it is mended', async () => {
    await folder.write('a.yaml', bot);
    const { source, until } = await folder.start();
    expect(source.current()).toBeUndefined();
    expect(source.readable()).toBe(false);
    expect(source.faults()).toHaveLength(1);
    await folder.write('b.yaml', acme);
    await until(() => source.readable());
    expect(source.current()?.organizations.size).toBe(1);
  });

  test('a folder that goes away and comes back', async () => {
    await folder.write('a.yaml', acme, bot, key);
    const { source, events, until } = await folder.start();
    await rename(folder.dir, `${folder.dir}.away`);
    await until(() => !source.readable());
    expect(source.current()?.keys.size).toBe(1);
    expect(source.faults()).toMatchObject([{ message: 'does not exist' }]);
    await rename(`${folder.dir}.away`, folder.dir);
    await until(() => source.readable());
    const before = events.length;
    await folder.write('b.yaml', make('VirtualKey', 'two'));
    await until(() => events.length > before);
    expect(source.current()?.keys.size).toBe(2);
  });

  test('a mount that swaps its ..data link, as ConfigMaps do', async () => {
    const publish = async (version: string, ...resources: readonly TestResource[]) => {
      await mkdir(join(folder.dir, `..${version}`));
      await writeFile(join(folder.dir, `..${version}`, 'a.yaml'), toYaml(...resources));
      await symlink(`..${version}`, join(folder.dir, '..data_tmp'));
      await rename(join(folder.dir, '..data_tmp'), join(folder.dir, '..data'));
    };
    await publish('v1', acme, bot, key);
    await symlink('..data/a.yaml', join(folder.dir, 'a.yaml'));
    const { source, events, until } = await folder.start();
    expect(source.current()?.keys.size).toBe(1);
    await publish('v2', acme, bot, key, make('VirtualKey', 'two'));
    await rm(join(folder.dir, '..v1'), { recursive: true });
    await until(() => events.length === 2);
    expect(source.current()?.keys.size).toBe(2);
  });

  test('a secret file that changes, goes and comes back', async () => {
    await folder.write('a.yaml', acme, bot, key, provider);
    await mkdir(join(folder.secretsDir, 'keys'), { recursive: true });
    const file = join(folder.secretsDir, 'keys', 'main');
    await writeFile(file, 'sk-1');
    const { source, events, until } = await folder.start({ secretsDir: folder.secretsDir });
    const secret = () =>
      source.current()?.organizations.get('default/acme')?.providers.get('vendor')?.credentials[0]?.secret;
    expect(secret()).toBe('sk-1');
    await writeFile(file, 'sk-2');
    // A writer may be seen between emptying the file and filling it.
    await until(() => secret() === 'sk-2');
    expect(secret()).toBe('sk-2');
    await rm(file);
    await until(() => !source.readable());
    expect(secret()).toBe('sk-2');
    expect(JSON.stringify(events)).not.toContain('sk-');
    await writeFile(file, 'sk-3');
    await until(() => source.readable());
    expect(secret()).toBe('sk-3');
  });

  test('the poll sees changes without a notification: a file changed by another name', async () => {
    await writeFile(join(folder.root, 'elsewhere'), toYaml(acme, bot));
    await link(join(folder.root, 'elsewhere'), join(folder.dir, 'a.yaml'));
    const { source, events, until } = await folder.start();
    await writeFile(join(folder.root, 'elsewhere'), toYaml(acme, bot, key));
    await until(() => events.length === 2);
    expect(source.current()?.keys.size).toBe(1);
  });

  test('without a poll in sight, the watch alone sees a change', async () => {
    await folder.write('a.yaml', acme, bot);
    const { source, events, until } = await folder.start({ pollMs: 2 ** 31 - 1 });
    await folder.write('b.yaml', key);
    await until(() => events.length === 2);
    expect(source.current()?.keys.size).toBe(1);
  });

  test('what changes nothing is no news', async () => {
    await folder.write('a.yaml', acme, bot, key);
    const { source, events } = await folder.start();
    const before = source.current();
    await folder.replace('a.yaml', `# a comment\n${toYaml(key, bot, acme)}`);
    await source.reload();
    await source.reload();
    expect(source.current()).toBe(before);
    expect(events).toHaveLength(1);
    await folder.write('a.yaml', bot);
    await source.reload();
    await source.reload();
    expect(events.map(({ name }) => name)).toEqual(['config.loaded', 'config.rejected']);
  });

  test('reload sees earlier writes, and asks for the extra resources again', async () => {
    await folder.write('a.yaml', acme, bot);
    let keys = [key];
    const { source } = await folder.start({ extra: () => toSources(keys, 'built-in'), pollMs: 2 ** 31 - 1 });
    keys = [key, make('VirtualKey', 'two')];
    await source.reload();
    expect(source.current()?.keys.size).toBe(2);
    await Promise.all([
      folder.write('b.yaml', make('VirtualKey', 'three')).then(() => source.reload()),
      source.reload(),
    ]);
    expect(source.current()?.keys.size).toBe(3);
  });

  test('a listener or a source of extra resources that throws does not stop it', async () => {
    await folder.write('a.yaml', acme, bot);
    const events: ConfigEvent[] = [];
    let broken = true;
    const source = await openFolderSource({
      dir: folder.dir,
      usdToEur: '1',
      extra: () => {
        if (broken) throw new Error('sk-canary');
        return [];
      },
      onEvent: (event) => {
        events.push(event);
        throw new Error('listener');
      },
    });
    folder.open.push(source);
    expect(source.readable()).toBe(false);
    expect(JSON.stringify(source.faults())).not.toContain('canary');
    expect(events[0]?.name).toBe('config.failed');
    broken = false;
    await source.reload();
    expect(source.readable()).toBe(true);
  });

  test('after closing nothing changes', async () => {
    await folder.write('a.yaml', acme, bot, key);
    const { source, events } = await folder.start();
    source.close();
    await folder.write('a.yaml', acme, bot);
    await source.reload();
    expect(source.current()?.keys.size).toBe(1);
    expect(events).toHaveLength(1);
  });
});

test('a folder with a Secret in it gives its value and never shows it', async () => {
  await folder.write(
    'a.yaml',
    acme,
    provider,
    makeCore('Secret', 'keys', { stringData: { main: 'sk-canary', spare: 5 } }),
  );
  const { faults } = await loadFolder({ dir: folder.dir, usdToEur: '1' });
  expect(faults?.map(({ object, field }) => [object, field])).toEqual([['Secret default/keys', 'stringData.spare']]);
  expect(JSON.stringify(faults)).not.toContain('canary');
});
