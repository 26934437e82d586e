import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { termsOf } from '../tools/words.ts';

const ROOT = join(import.meta.dirname, '..');
const GLOSSARY = 'docs/internals/glossary.md';
const MOST_TERMS = 60;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const TERMS = termsOf(read(GLOSSARY));

test('the glossary has at most 60 terms, each once', () => {
  const names = TERMS.map(({ term }) => term);
  expect(names.length).toBeGreaterThan(30);
  expect(names.length).toBeLessThanOrEqual(MOST_TERMS);
  expect(new Set(names).size).toBe(names.length);
});

test('every term is used in code or documents', () => {
  const paths = globSync(['{src,docs}/**/*.{ts,md}', '*.md'], { cwd: ROOT });
  const texts = paths
    .filter((path) => path.replaceAll('\\', '/') !== GLOSSARY)
    .map(read)
    .join('\n')
    .toLowerCase()
    .replace(/[\s-]+/g, ' ');
  const isUsed = (words: string): boolean => texts.includes(words) || texts.includes(words.replaceAll(' ', ''));
  const unused = TERMS.flatMap(({ term }) => term.split(/, |: | or /)).filter(
    (part) => !isUsed(part.toLowerCase().replaceAll('-', ' ')),
  );
  expect(unused, 'remove the term, or use it').toEqual([]);
});

test('a word that is not used is not a term either', () => {
  const words = new Set(TERMS.flatMap(({ notUsed }) => notUsed));
  expect(TERMS.filter(({ term }) => words.has(term))).toEqual([]);
});
