import { describe, expect, test } from 'vitest';
import { parseYaml } from './yaml-documents.ts';

async function read(text: string) {
  const { documents, faults } = await parseYaml('a.yaml', text);
  return {
    values: documents.map(({ value }) => value),
    indexes: documents.map(({ index }) => index),
    faults: faults.map(({ object, field, message }) => `${object}: ${field}: ${message}`),
  };
}

test('documents in order; empty ones are left out but keep their number', async () => {
  const found = await read('# only a comment\n---\na: 1\n---\n---\nb: [x, "y"]\n...\n');
  expect(found).toEqual({ values: [{ a: 1 }, { b: ['x', 'y'] }], indexes: [0, 2], faults: [] });
  expect(await read('')).toMatchObject({ values: [], faults: [] });
  expect(await read('---\n---\n# nothing\n')).toMatchObject({ values: [], faults: [] });
});

test('YAML 1.2: words and dates stay words, merge keys are plain keys', async () => {
  const text = '%YAML 1.1\n---\na: yes\nb: 2026-01-01\nc: 0o17\nd: true\ne: null\nf: 1.50\n<<: {g: 1}\n';
  expect((await read(text)).values).toEqual([
    { a: 'yes', b: '2026-01-01', c: 15, d: true, e: null, f: 1.5, '<<': { g: 1 } },
  ]);
});

test('aliases repeat earlier nodes of the same document', async () => {
  expect((await read('a: &x {n: 1}\nb: *x\nc: [*x]')).values).toEqual([{ a: { n: 1 }, b: { n: 1 }, c: [{ n: 1 }] }]);
  expect((await read('a: &x 1\n---\nb: *x')).faults).toEqual([
    'document 2: line 3: has an alias without an anchor before it',
  ]);
});

describe('invalid YAML', () => {
  const laughs = ['l0: &l0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level++) laughs.push(`l${level}: &l${level} [${`*l${level - 1}, `.repeat(9)}x]`);

  test.each<readonly [string, string, string]>([
    ['a key twice', 'a: 1\nb:\n  c: 1\n  "c": 2\n', 'line 4: has the key c twice'],
    ['a key twice in a flow mapping', '{a: 1, b: 2, a: 3}', 'line 1: has the key a twice'],
    ['a bomb of aliases', laughs.join('\n'), 'line 2: expands too much through aliases'],
    ['many aliases', `a: &a 1\nb: [${'*a, '.repeat(20_000)}]`, 'line 1: expands too much through aliases'],
    ['an alias inside its anchor', 'a: &a\n  b: *a\n', 'line 2: is nested too deeply'],
    ['a tower of brackets', '['.repeat(50_000), 'line 1: is nested too deeply'],
    [
      'a tower of mappings',
      Array.from({ length: 100 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
      'line 66: is nested too deeply',
    ],
    ['a tab', 'a:\n\tb: 1\n', 'line 2: is indented with a tab: use spaces'],
    ['two colons', 'a: b: c', 'line 1: has two colons: put the value in quotes'],
    ['an open bracket', 'a: [1\nb: 2\n', 'line 2: has wrong indentation, or an unclosed bracket'],
    ['an open quote', 'a: "b', 'line 1: is missing a character, such as a closing quote'],
    ['an unknown escape', 'a: "\\x"', 'line 1: has an escape that YAML does not know'],
    ['an unknown tag', 'a: !secret x', 'line 1: has a tag that is not supported'],
    ['a key that is a list', '? [a]\n: 1', 'line 1: has a key that is not a string'],
  ])('%s', async (_name, text, fault) => {
    expect(await read(text)).toMatchObject({ values: [], faults: [`document 1: ${fault}`] });
  });

  test('does not hide the documents around it', async () => {
    const { values, faults } = await read('a: 1\n---\nb: [\n---\nc: 1\n---\nd: 1\nd: 2\n');
    expect(values).toEqual([{ a: 1 }, { c: 1 }]);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(['document 2', 'document 4']);
  });

  test('never shows what it says', async () => {
    for (const text of [
      'a: "canary \\x"',
      'a: canary: canary',
      'a: canary\na: canary',
      '!canary x',
      '@canary',
      'a: *canary',
      '- canary\ncanary: x',
      '"canary',
      '? {canary: 1}\n: 2',
      '%CANARY canary\n---\na: 1',
      'a: |canary\n b',
    ]) {
      const { faults } = await read(text);
      expect(faults, text).not.toEqual([]);
      expect(faults.join().toLowerCase(), text).not.toContain('canary');
    }
  });

  test('many keys are compared in linear time', async () => {
    const { values, faults } = await read(Array.from({ length: 50_000 }, (_, index) => `k${index}: 1`).join('\n'));
    expect(faults).toEqual([]);
    expect(Object.keys(values[0] as object)).toHaveLength(50_000);
  });

  test('more documents than a file may have', async () => {
    expect((await read('---\n'.repeat(100_002))).faults).toEqual([
      'document 100001: line 100001: is not read: the file has too many documents',
    ]);
  });
});

test('other work goes on while a large file is read', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await read('a: {b: [1, 2, 3]}\n---\n'.repeat(5000));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
});
