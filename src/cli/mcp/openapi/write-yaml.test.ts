import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { misleads, writeYaml } from './write-yaml.ts';

/** Resources as YAML: whatever their texts hold, every parser reads the same. */

const PYTHON = 'import json, sys, yaml; print(json.dumps([yaml.safe_load(one) for one in json.load(sys.stdin)]))';

/** What the parser of Python reads, which knows YAML 1.1; undefined: it is not installed. */
function readByPython(texts: readonly string[]): readonly Json[] | undefined {
  if (spawnSync('python3', ['-c', 'import yaml']).status !== 0) return undefined;
  const { status, stdout, stderr } = spawnSync('python3', ['-c', PYTHON], {
    input: JSON.stringify(texts),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as readonly Json[];
}

const BREAKS = ['\n', '\r', '\r\n', '\u0085', '\u2028', '\u2029', '\ufeff', '\u200b', '\u{e0041}', '\t', '\u0000'];
const WORDS = ['yes', 'y', 'n', 'off', 'null', '~', '=', '1:30', '0o7', '010', '2001-01-01', '.inf', '1_0', 'a: b'];
const SIGNS = [
  '- a',
  '# b',
  '*a',
  '&a',
  '!!str',
  '%TAG',
  '---',
  '...',
  '"',
  "'",
  '\\',
  ' ',
  'a ',
  'ä',
  '😀',
  '|',
  '>',
  '',
];

const hostile: readonly JsonObject[] = [
  ...BREAKS.flatMap((sign) => [
    { description: `Reads.${sign}injected: true`, name: { [`a${sign}b: 1`]: [`x${sign}- y`, sign] } },
    { description: `Reads.\n${sign}injected: true\n`, [sign]: sign },
  ]),
  ...[...WORDS, ...SIGNS].map((word) => ({ [word]: word, list: [word, `${word}\n${word}`, `a ${word.repeat(80)}`] })),
];

test('every parser reads the texts and names that were written', () => {
  const texts = hostile.map(writeYaml);
  expect(texts.map((text) => parse(text, { version: '1.1' }) as Json)).toEqual(hostile);
  expect(texts.map((text) => parse(text, { version: '1.2' }) as Json)).toEqual(hostile);
  expect(readByPython(texts) ?? hostile).toEqual(hostile);
});

test('any texts and names are read as they were written', () => {
  const part = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...BREAKS, ...WORDS, ...SIGNS, 'word '));
  const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''));
  const resources = fc.sample(fc.dictionary(text, fc.array(text, { maxLength: 3 }), { noNullPrototype: true }), 300);
  const all = resources.filter((one) => !Object.hasOwn(one, '__proto__'));
  const texts = all.map(writeYaml);
  expect(texts.map((one) => parse(one, { version: '1.1' }) as Json)).toEqual(all);
  expect(readByPython(texts) ?? all).toEqual(all);
});

test('lines end in line feeds alone, and nothing is hidden', () => {
  for (const resource of hostile) {
    const text = writeYaml(resource);
    expect(text).not.toMatch(/[\r\u0085\u2028\u2029\ufeff]/);
    expect(misleads(text)).toBe(false);
  }
});

test('a name that merges maps, and any text with hidden characters, misleads', () => {
  expect(misleads({ a: [{ '<<': {} }] })).toBe(true);
  expect(misleads({ a: [{ 'b\u2028': {} }] })).toBe(true);
  expect(misleads({ a: ['b\u2028'] })).toBe(true);
  expect(misleads({ a: ['<<'] })).toBe(true);
  expect(misleads({ a: ['< <', 'ä\n⚠️', 1, null] })).toBe(false);
});
