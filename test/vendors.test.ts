import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, test } from 'vitest';
import { SPELLINGS } from '../src/config/resources/names.ts';
import { faultsOf } from '../src/config/testing/resources.ts';
import { embeddedResources } from '../src/embedded/resources.ts';
import { VENDOR_IDS, VENDORS } from '../src/vendors/list.ts';
import { homeOf, type Vendor } from '../src/vendors/vendor.ts';
import { filesOf, refusalOf } from '../tools/add-vendor.ts';
import { vendorSamples } from '../tools/reference/vendors.ts';
import { CHAT_VENDORS } from './matrix/kinds/chat-vendors.ts';
import { CLOUDS } from './matrix/kinds/clouds.ts';
import type { Kind } from './matrix/kinds/kind.ts';

/** A vendor is its file, a line of the list and a kind of the matrix: a part that is left out is named. */

const ROOT = join(import.meta.dirname, '..');
const KINDS = [...CHAT_VENDORS, ...CLOUDS];
const FILES = globSync('src/vendors/*.ts', { cwd: ROOT }).map((path) =>
  posix.basename(path.replaceAll('\\', '/'), '.ts'),
);
const LISTED: readonly Vendor[] = VENDOR_IDS.map((id) => VENDORS[id]);

interface World {
  /** Names of the files of src/vendors, without their ends. */
  readonly files: readonly string[];
  readonly vendors: readonly Vendor[];
  readonly kinds: readonly Pick<Kind, 'spec' | 'credential'>[];
}

/** What has been left out of a vendor, a line each. */
function leftOut({ files, vendors, kinds }: World): readonly string[] {
  const rooms = new Set(['vendor', 'list', 'rules', 'efforts']);
  const ids = new Set(vendors.map(({ id }) => id));
  const unlisted = files.filter((file) => !rooms.has(file) && !ids.has(file));
  return [
    ...unlisted.map((file) => `src/vendors/${file}.ts is not in src/vendors/list.ts`),
    ...vendors.flatMap((vendor) => {
      const own = kinds.filter(({ spec }) => spec['vendor'] === vendor.id);
      const types = own.map(({ credential }) => SPELLINGS.credentialType[credential.type as 'APIKey']);
      const file = `src/vendors/${vendor.id}.ts`;
      return [
        ...(own.length > 0 ? [] : [`test/matrix/kinds/chat-vendors.ts has no kind of the vendor ${vendor.id}`]),
        ...(types.every((type) => vendor.credentials.includes(type)) ? [] : [`${file} lacks a type of credentials`]),
        ...(/\.example\b/.test(vendor.address ?? '') ? [`${file} has the address of the skeleton still`] : []),
        ...(typeof vendor.hosts === 'object' && homeOf(vendor) === undefined
          ? [`${file}: hosts lacks its address`]
          : []),
      ];
    }),
  ];
}

const WHOLE: World = { files: FILES, vendors: LISTED, kinds: KINDS };
const { groq } = VENDORS;

describe('of every vendor', () => {
  test('nothing is left out', () => {
    expect(leftOut(WHOLE)).toEqual([]);
  });

  test.each<readonly [string, World, string]>([
    [
      'its line of the list',
      { ...WHOLE, vendors: LISTED.filter(({ id }) => id !== 'groq') },
      'src/vendors/groq.ts is not in src/vendors/list.ts',
    ],
    [
      'its kind in the matrix',
      { ...WHOLE, kinds: KINDS.filter(({ spec }) => spec['vendor'] !== 'groq') },
      'test/matrix/kinds/chat-vendors.ts has no kind of the vendor groq',
    ],
    [
      'its address',
      { ...WHOLE, vendors: [{ ...groq, address: 'https://api.groq.example/v1', hosts: { 'api.groq.example': 'US' } }] },
      'src/vendors/groq.ts has the address of the skeleton still',
    ],
    ['where it is', { ...WHOLE, vendors: [{ ...groq, hosts: {} }] }, 'src/vendors/groq.ts: hosts lacks its address'],
    [
      'a type of credentials',
      { ...WHOLE, vendors: [{ ...VENDORS.azure, credentials: ['api_key'] }] },
      'src/vendors/azure.ts lacks a type of credentials',
    ],
  ])('%s is missed where it is left out', (_what, world, line) => {
    expect(leftOut(world)).toContain(line);
  });
});

describe('resources that follow from vendors', () => {
  test.each([...vendorSamples()])('%s is without faults', (_file, text) => {
    expect(faultsOf(parseAllDocuments(text).map((document) => document.toJS() as unknown))).toEqual([]);
  });

  test('so are the providers that make run adds by environment variables', () => {
    const variables = LISTED.flatMap(({ environment }) => environment ?? []);
    expect(variables.filter((name) => !/^[A-Z]+_API_KEY$/.test(name))).toEqual([]);
    const vendorKeys = new Map(variables.map((name) => [name, 'key']));
    const added = embeddedResources({
      sandboxUrl: 'http://127.0.0.1:1',
      key: 'gw_test_1',
      vendorKeys,
      namespace: 'own',
    });
    expect(added.filter(({ value }) => (value as { kind: string }).kind === 'Provider')).toHaveLength(
      variables.length + 1,
    );
    expect(faultsOf(added.map(({ value }) => value))).toEqual([]);
  });
});

describe('make add-vendor', () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

  test.each([
    ['', 'say which vendor'],
    ['groq', "the vendor 'groq' exists: see src/vendors/groq.ts"],
    ['Acme', 'lower-case letters and digits'],
    ['my-vendor', 'lower-case letters and digits'],
    ['../acme', 'lower-case letters and digits'],
    ['4acme', 'a letter first'],
    ['list', 'is reserved'],
    ['class', 'is reserved'],
  ])('refuses %j', (name, words) => {
    expect(refusalOf(name)).toContain(words);
  });

  test.each(['aanewvendor', 'zznewvendor'])('writes the file of %s, its lines in the list and its kind', (name) => {
    expect(refusalOf(name)).toBeUndefined();
    const files = filesOf(name, read);
    expect([...files.keys()]).toEqual([
      `src/vendors/${name}.ts`,
      'src/vendors/list.ts',
      'test/matrix/kinds/chat-vendors.ts',
    ]);
    const added = [...files].slice(1).map(([path, text]) => {
      const before = new Set(read(path).split('\n'));
      return text.split('\n').filter((line) => !before.has(line));
    });
    expect(added).toEqual([
      [`import { ${name} } from './${name}.ts';`, `  ${name},`],
      [`  chatVendor('${name}', { model: '${name}-large' }),`],
    ]);
    const imports = files
      .get('src/vendors/list.ts')!
      .match(/^import .*$/gm)!
      .map((line) => line.split(' from ')[1]);
    expect(imports).toEqual(imports.toSorted((one, other) => ((one ?? '') < (other ?? '') ? -1 : 1)));
  });
});
