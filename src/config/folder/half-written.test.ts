import { writeFileSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { loadFolder } from './folder-source.ts';
import { make, sha256 } from '../testing/resources.ts';
import { acme, bot, configFolder, key, provider, toYaml } from '../testing/config-folder.ts';

const folder = configFolder();

describe('half a state is never taken for a whole one', () => {
  test('when the folder changes between the reading of two files', async () => {
    // Keys and workload say which state they are of; a mixture of two states would be valid, and must not show.
    const publish = async (number: number) => {
      const version = join(folder.dir, `..v${number}`);
      await mkdir(version);
      const expiresAt = new Date(number * 1000).toISOString();
      const keys = Array.from({ length: 1500 }, (_, index) => make('VirtualKey', `k${index}`, { expiresAt }));
      await writeFile(join(version, 'a.yaml'), toYaml(acme, ...keys));
      await writeFile(
        join(version, 'z.yaml'),
        toYaml(make('Workload', 'bot', { limits: { requestsPerMinute: number } })),
      );
      return async () => {
        await symlink(version, join(folder.dir, '..next'));
        await rename(join(folder.dir, '..next'), join(folder.dir, '..data'));
      };
    };
    await (
      await publish(1)
    )();
    for (const file of ['a.yaml', 'z.yaml']) await symlink(`..data/${file}`, join(folder.dir, file));
    const { source } = await folder.start({ debounceMs: 2 ** 31 - 1, pollMs: 2 ** 31 - 1 });
    for (let number = 2; number <= 4; number++) {
      const swap = await publish(number);
      // a.yaml takes long enough to read that the swap falls before z.yaml is.
      await Promise.all([source.reload(), pause(20).then(swap)]);
      const states = [...source.current()!.keys.values()].flatMap((found) => [
        found.expiresAt! / 1000,
        found.workload.requestsPerMinute!,
      ]);
      expect([...new Set(states)]).toHaveLength(1);
      expect(source.readable()).toBe(true);
    }
  });

  test('when files change between their reading and that of secrets', async () => {
    await mkdir(join(folder.secretsDir, 'keys'), { recursive: true });
    const publish = (state: string): void => {
      writeFileSync(
        join(folder.dir, 'a.yaml'),
        toYaml(acme, { ...provider, spec: { ...(provider['spec'] as object), jurisdiction: state } }),
      );
      writeFileSync(join(folder.secretsDir, 'keys', 'main'), state);
    };
    publish('CH');
    let calls = 0;
    const extra = () => {
      if (calls++ === 0) publish('US');
      return [];
    };
    const { snapshot } = await loadFolder({ dir: folder.dir, secretsDir: folder.secretsDir, usdToEur: '1', extra });
    const found = snapshot?.organizations.get('default/acme')?.providers.get('vendor');
    expect([found?.jurisdiction, found?.credentials[0]?.secret]).toEqual(['US', 'US']);
  });

  test('a folder that never rests is at fault, and is read when it rests', async () => {
    await folder.write('a.yaml', acme, bot, key);
    let restless = false;
    let calls = 0;
    const extra = () => {
      if (restless) writeFileSync(join(folder.dir, 'b.yaml'), toYaml(make('VirtualKey', `b${calls++}`)));
      return [];
    };
    const { source, until } = await folder.start({ extra });
    restless = true;
    await source.reload();
    expect(source.faults()).toEqual([
      { file: 'config', object: '', field: '', message: 'keeps changing while it is being read' },
    ]);
    expect(source.current()?.keys.size).toBe(1);
    restless = false;
    await until(() => source.readable());
    expect(source.current()?.keys.has(sha256(`b${calls - 1}`))).toBe(true);
  });
});
