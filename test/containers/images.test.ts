import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { skipUnless } from '../harness/skip.ts';
import { local, once, podman, WANTED } from './podman.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIB = 1024 * 1024;
/** Bytes that an image may have, unpacked. */
const IMAGES = { gatewarden: 260 * MIB, 'gatewarden-inference': 400 * MIB };
const NAMES = Object.keys(IMAGES) as readonly (keyof typeof IMAGES)[];

interface Inspected {
  readonly Id: string;
  readonly Digest: string;
  readonly Size: number;
  readonly Config: { readonly User: string; readonly Cmd: readonly string[]; readonly Env: readonly string[] };
  readonly RootFS: { readonly Layers: readonly string[] };
}

async function inspect(name: string): Promise<Inspected> {
  return (JSON.parse(await podman('image', 'inspect', `localhost/${name}`)) as readonly [Inspected])[0];
}

/** Runs a script in a container of an image, without protecting its root file system. */
const inside = (name: string, script: string): Promise<string> => once(`localhost/${name}`, ['node', '-e', script]);

describe('the images', skipUnless(WANTED, 'wants images: `make test-containers`'), () => {
  beforeAll(async () => {
    await local('bases');
    for (const name of NAMES) await local('build', name);
  }, 1_800_000);

  test.each(NAMES)('%s is of a bounded size', async (name) => {
    expect((await inspect(name)).Size).toBeLessThan(IMAGES[name]);
  });

  test.each(NAMES)('%s runs as a numeric user that may change none of its files', async (name) => {
    expect((await inspect(name)).Config.User).toBe('65532:65532');
    const script = `const { accessSync, constants, globSync, statSync } = require('node:fs');
      const mine = globSync('/{app,etc,usr,bin,lib,lib64,opt,var}/**/*').filter((path) => {
        try { accessSync(path, constants.W_OK); return !path.startsWith('/var/lib/gatewarden') && (statSync(path).mode & 0o1000) === 0; } catch { return false; } });
      console.log(process.getuid(), process.getgid(), mine.length, mine.slice(0, 5).join());`;
    // Debian's temporary folders belong to everybody.
    expect(await inside(name, script)).toMatch(/^65532 65532 0 $/m);
  });

  test.each(NAMES)(
    '%s holds no shell, no package manager, no tests and nothing that only builds need',
    async (name) => {
      const script = `const { globSync, existsSync } = require('node:fs');
      console.log(JSON.stringify([
        ...['/bin/sh', '/bin/bash', '/usr/bin/apt-get', '/usr/bin/dpkg', '/usr/local/bin/npm'].filter((path) => existsSync(path)),
        ...globSync('/app/{src,operators,inference,test}/**/*.test.ts'),
        ...['/app/tools', '/app/test', '/app/charts', '/app/node_modules/typescript', '/app/node_modules/vitest'].filter((path) => existsSync(path)),
      ]));`;
      expect(JSON.parse(await inside(name, script))).toEqual([]);
    },
  );

  test.each(NAMES)('%s tells in SPDX what it holds: every package of npm and of Debian, and Node.js', async (name) => {
    const script = `const { globSync, readFileSync, readdirSync } = require('node:fs');
      const manifests = globSync('/app/node_modules/{*,@*/*,**/node_modules/*,**/node_modules/@*/*}/package.json');
      const found = manifests.map((path) => JSON.parse(readFileSync(path))).filter(({ name, version }) => name && version);
      const debian = readdirSync('/var/lib/dpkg/status.d').map((file) => readFileSync('/var/lib/dpkg/status.d/' + file, 'utf8'));
      console.log(JSON.stringify({ bill: JSON.parse(readFileSync('/usr/local/share/sbom/gatewarden.spdx.json')), node: process.versions.node,
        npm: found.map(({ name, version }) => name + '@' + version),
        debian: debian.map((text) => /^Package: (.*)/m.exec(text)[1] + '@' + /^Version: (.*)/m.exec(text)[1]) }));`;
    const held = JSON.parse(await inside(name, script)) as {
      readonly bill: {
        readonly spdxVersion: string;
        readonly packages: readonly { readonly name: string; readonly versionInfo: string; readonly SPDXID: string }[];
        readonly relationships: readonly { readonly relatedSpdxElement: string }[];
      };
      readonly node: string;
      readonly npm: readonly string[];
      readonly debian: readonly string[];
    };
    const { spdxVersion, packages, relationships } = held.bill;
    const told = new Set(packages.map((one) => `${one.name}@${one.versionInfo}`));
    expect(spdxVersion).toBe('SPDX-2.3');
    expect(held.npm.length).toBeGreaterThan(20);
    expect(held.debian.length).toBeGreaterThan(5);
    const node = `node-linux-${process.arch}@${held.node}`;
    expect([...held.npm, ...held.debian, node].filter((one) => !told.has(one))).toEqual([]);
    expect(new Set(packages.map(({ SPDXID }) => SPDXID)).size).toBe(packages.length);
    expect(relationships).toHaveLength(packages.length);
  });

  test('a base made again is the same to the byte', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatewarden-rootfs-'));
    try {
      const sums = ['one.tar', 'two.tar'].map((name) => {
        execFileSync(join(ROOT, 'tools/images/rootfs.sh'), [join(folder, name), 'libc6', 'ca-certificates', 'netbase']);
        return createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex');
      });
      expect(sums[0]).toBe(sums[1]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 300_000);

  test.each(NAMES)(
    '%s built again from nothing has the same digest',
    async (name) => {
      const before = await inspect(name);
      await local('build', name, '--no-cache', '--tag', `localhost/${name}:again`);
      const again = await inspect(`${name}:again`);
      await podman('untag', `localhost/${name}:again`);
      expect([again.Digest, again.Id, again.RootFS.Layers]).toEqual([before.Digest, before.Id, before.RootFS.Layers]);
    },
    1_800_000,
  );
});
