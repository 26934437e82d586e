import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FINDABLE_ENTITIES, toCategory } from '../src/config/entities.ts';
import { CATALOGUE } from '../src/errors/catalogue.ts';
import { createExaminers } from '../src/inspect/detectors/list.ts';
import { NAME_CATEGORIES } from '../src/inspect/names/detect-names.ts';
import { REFERENCE, referencePages, WRITTEN_BY_HAND, writtenSources } from '../tools/reference.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const list = (pattern: string, exclude: readonly string[] = []): readonly string[] =>
  globSync(pattern, { cwd: ROOT, exclude }).map((path) => path.replaceAll('\\', '/'));

const PAGES = await referencePages();

describe('generated references', () => {
  test.each([...PAGES, ...writtenSources()])('%s is what the code says now', (path, text) => {
    const there = list(path).length > 0 ? read(path) : '';
    expect(there, `${path} is out of date: run make docs`).toBe(text);
  });

  test('docs/reference has no page that nothing writes', () => {
    const byHand = WRITTEN_BY_HAND.map(({ file }) => `${REFERENCE}/${file}`);
    const written = [...PAGES.keys(), ...byHand].sort();
    expect(list(`${REFERENCE}/**/*.md`).toSorted(), 'remove the page, or list it in tools/reference.ts').toEqual(
      written,
    );
  });
});

test('every kind that policies may name is found by a detector or by the model of names', () => {
  const found = new Set<string>([...createExaminers().map(({ category }) => category), ...NAME_CATEGORIES]);
  expect(FINDABLE_ENTITIES.filter((entity) => !found.has(toCategory(entity)))).toEqual([]);
});

describe('error codes', () => {
  const sources = list('src/**/*.ts', ['**/*.test.ts', 'src/errors/catalogue.ts']).map(read);

  test.each(Object.keys(CATALOGUE))('%s is thrown somewhere', (code) => {
    const thrown = sources.some((text) => text.includes(`'${code}'`));
    expect(thrown, `no file of src/ names '${code}': throw it, or remove it from src/errors/catalogue.ts`).toBe(true);
  });

  test.each(Object.entries(CATALOGUE))('%s says what it means and what to do', (code, { meaning, remedy }) => {
    for (const text of [meaning, remedy]) expect(text, code).toMatch(/^[A-Z`].{10,}\.$/s);
    expect(PAGES.get(`${REFERENCE}/errors.md`)).toContain(`\`${code}\``);
  });
});
