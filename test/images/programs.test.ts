import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closure, type Lock } from '../../tools/images/lock.ts';
import { isUsed, PROGRAMS } from '../../tools/images/programs.ts';
import { reach } from '../../tools/images/reach.ts';
import { sbom } from '../../tools/images/sbom.ts';

const ROOT = join(import.meta.dirname, '../..');
const { packages: LOCK } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Lock;
};

const reached = (name: string): ReturnType<typeof reach> => reach(ROOT, PROGRAMS[name]!.entries, PROGRAMS[name]!.leave);

describe('what an image holds', () => {
  test('the gateway and the controller: threads too, and nothing of the document engine', () => {
    const { files, packages } = reached('gateway');
    expect(files).toEqual(
      expect.arrayContaining(['src/start.js', 'src/main.ts', 'operators/main.ts', 'src/cli/gwctl.ts']),
    );
    expect(files).toContain('src/inspect/search/detect-thread.ts');
    expect(files.filter((path) => path.startsWith('inference/'))).toEqual([]);
    expect(packages).toEqual(expect.arrayContaining(['fastify', 'pg', 'ioredis', '@kubernetes/client-node']));
    expect(packages).not.toContain('onnxruntime-node');
  });

  test('the engine: its threads, and no store', () => {
    const { files, packages } = reached('inference');
    expect(files).toEqual(expect.arrayContaining(['inference/jobs/worker.ts', 'inference/decide/model-thread.ts']));
    expect(packages).toEqual(expect.arrayContaining(['onnxruntime-node', 'sharp', 'pdfjs-dist']));
    for (const absent of ['pg', 'ioredis', '@kubernetes/client-node']) expect(packages).not.toContain(absent);
  });

  test.each(Object.keys(PROGRAMS))(
    '%s: no tests, and only packages that are installed without those for development',
    (name) => {
      const { files, packages } = reached(name);
      expect(files.filter((path) => path.endsWith('.test.ts'))).toEqual([]);
      const there = (folder: string): boolean => existsSync(join(ROOT, folder, 'package.json'));
      const folders = closure(LOCK, [...new Set([...packages, ...PROGRAMS[name]!.packages])], there);
      expect(folders.filter((folder) => (LOCK[folder] as { readonly dev?: boolean }).dev)).toEqual([]);
    },
  );

  test('a needed package that is missing is an error, an optional one is not', () => {
    const lock = { 'node_modules/a': { dependencies: { b: '1' }, optionalDependencies: { c: '1' } } };
    expect(() => closure(lock, ['a'], () => true)).toThrow('b is needed by node_modules/a');
    const nested = { ...lock, 'node_modules/a/node_modules/b': { dependencies: { a: '1' } }, 'node_modules/b': {} };
    expect(closure(nested, ['a'], () => true)).toEqual(['node_modules/a', 'node_modules/a/node_modules/b']);
  });

  test.each([
    ['fastify', 'lib/route.js', true],
    ['fastify', 'types/route.d.ts', false],
    ['fastify', 'lib/route.js.map', false],
    ['fastify', 'README.md', false],
    ['@cantoo/pdf-lib', 'LICENSE.md', true],
    ['onnxruntime-node', 'bin/napi-v6/win32/x64/onnxruntime.dll', false],
    ['onnxruntime-node', `bin/napi-v6/linux/${process.arch}/libonnxruntime.so.1`, true],
    ['@tesseract.js-data/eng', '4.0.0/eng.traineddata.gz', false],
  ])('of %s the file %s: %s', (name, path, used) => {
    expect(isUsed(name, path)).toBe(used);
  });
});

test('the bill of materials is the same for the same input, and names checksums and licences', () => {
  const twice = { version: '2.0.0', license: 'MIT', integrity: 'sha512-AAEC' };
  const input = {
    name: 'gatewarden',
    version: '1.2.3',
    epoch: 0,
    lock: { 'node_modules/@a/b': twice, 'node_modules/c/node_modules/@a/b': twice },
    folders: ['node_modules/@a/b', 'node_modules/c/node_modules/@a/b'],
    debian: [{ name: 'libc6', version: '2.36-9+deb12u1', architecture: 'amd64', distribution: 'debian' }],
  };
  const bill = sbom(input);
  expect(sbom(input)).toEqual(bill);
  expect(bill).toMatchObject({
    creationInfo: { created: '1970-01-01T00:00:00Z' },
    packages: [
      { name: 'gatewarden' },
      {
        name: '@a/b',
        licenseDeclared: 'MIT',
        checksums: [{ algorithm: 'SHA512', checksumValue: '000102' }],
        externalRefs: [{ referenceLocator: 'pkg:npm/%40a/b@2.0.0' }],
      },
      { name: 'libc6', externalRefs: [{ referenceLocator: 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u1?arch=amd64' }] },
    ],
  });
});
