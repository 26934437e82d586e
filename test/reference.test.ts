import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FINDABLE_ENTITIES, toCategory } from '../src/values/entities.ts';
import { CATALOGUE } from '../src/errors/catalogue.ts';
import { createDetectors } from '../src/inspect/detectors/list.ts';
import { NAME_CATEGORIES } from '../src/inspect/names/detect-names.ts';
import { LOG_EVENTS } from '../src/telemetry/log-events.ts';
import { LISTED_GROUPS } from './harness/metric-groups.ts';
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
  const found = new Set<string>([...createDetectors().map(({ category }) => category), ...NAME_CATEGORIES]);
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

describe('metrics', () => {
  const declares = (text: string): readonly string[] =>
    [...text.matchAll(/\b(?:counter|total|gauge|histogram)\(\s*'(gw_\w+)'/g)].map(([, name]) => name!);
  const files = list('{src,inference,operators,bridge}/**/*.ts', ['**/*.test.ts', '**/node_modules/**']);
  const counting = files.filter((file) => declares(read(file)).length > 0);
  const listed = LISTED_GROUPS.flatMap(({ file, metrics }) =>
    Object.values(metrics).map(({ name }) => `${name} ${file}`),
  );

  test.each(counting)('what %s declares is listed', (file) => {
    for (const name of declares(read(file)))
      expect(listed, `${file} declares ${name}: list it in tools/reference/metrics.ts`).toContain(`${name} ${file}`);
  });

  test.each(LISTED_GROUPS)('what $file declares is counted there', ({ file, metrics }) => {
    const text = read(file);
    for (const [key, { name, help }] of Object.entries(metrics)) {
      expect(text, `${file} counts ${name} nowhere`).toMatch(new RegExp(`\\.${key}\\.(?:inc|add|from|observe)\\(`));
      expect(help, name).toMatch(/^[A-Z0-9].{5,}\.$/);
    }
  });

  test('names say what is counted, and in which unit', () => {
    const all = LISTED_GROUPS.flatMap(({ metrics }) => Object.values(metrics));
    expect(all.length).toBeGreaterThan(65);
    for (const { name, kind } of all) {
      expect(name).toMatch(/^gw(?:_[a-z]+)+$/);
      expect(name.endsWith('_total'), `${name}: counters, and they alone, end in _total`).toBe(
        kind === 'counter' || kind === 'total',
      );
    }
  });
});

describe('log events', () => {
  const sources = new Map(
    list('{src,inference,operators,bridge}/**/*.ts', [
      '**/*.test.ts',
      '**/node_modules/**',
      'src/telemetry/log-events.ts',
    ]).map((file) => [file, read(file)]),
  );

  test('whatever is written as an event is in the table', () => {
    for (const [file, text] of sources) {
      for (const [, name] of text.matchAll(/\bevent: '([a-z]+\.[\w.-]+)'/g))
        expect(Object.keys(LOG_EVENTS), `${file} logs ${name}: add it to src/telemetry/log-events.ts`).toContain(name);
    }
  });

  test.each(Object.entries(LOG_EVENTS))('%s is logged somewhere, and says what it means', (name, { meaning }) => {
    const isLogged = [...sources.values()].some((text) => text.includes(`'${name}'`));
    expect(isLogged, `nothing logs ${name}: remove it from src/telemetry/log-events.ts`).toBe(true);
    expect(name).toMatch(/^[a-z]+\.[a-z_]+$/);
    expect(meaning).toMatch(/^[A-Z].{10,}\.$/);
  });

  test('the table is sorted', () => {
    expect(Object.keys(LOG_EVENTS)).toEqual(Object.keys(LOG_EVENTS).toSorted());
  });
});
