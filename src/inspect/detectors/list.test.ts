import { basename } from 'node:path';
import { globSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FINDABLE_ENTITIES, toCategory } from '#/values/entities.ts';
import { marked } from '../../../test/harness/marked-text.ts';
import { NAME_CATEGORIES } from '../names/detect-names.ts';
import type { Detector } from './detector.ts';
import { createDetectors } from './list.ts';
import { scannerOf } from './scanner.ts';

const FILES = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['*.test.ts', 'list.ts', 'scanner.ts'] }).sort();
const LISTED = createDetectors();

/** The detectors that a file exports; a function that makes one is called as the list does. */
async function exportedBy(file: string): Promise<readonly Detector[]> {
  const all = Object.values((await import(/* @vite-ignore */ `./${file}`)) as Readonly<Record<string, unknown>>);
  return all.filter(isDetector);
}

function isDetector(value: unknown): value is Detector {
  return typeof value === 'object' && value !== null && 'category' in value && 'detect' in value;
}

const EXPORTED = new Map<Detector, string>();
for (const file of FILES) for (const detector of await exportedBy(file)) EXPORTED.set(detector, file);

/** Where a detector is written, as the test names it. */
function fileOf(detector: Detector): string {
  return EXPORTED.get(detector) ?? `the detector of ${detector.category}`;
}

test.each([...EXPORTED])('the list has what a file exports: %#', (detector, file) => {
  expect(LISTED.includes(detector), `src/inspect/detectors/${file} is not in src/inspect/detectors/list.ts`).toBe(true);
});

test.each(FINDABLE_ENTITIES)('%s of src/values/entities.ts is found by a detector or the model of names', (entity) => {
  const category = toCategory(entity);
  const isFound = NAME_CATEGORIES.has(category) || LISTED.some((detector) => detector.category === category);
  expect(isFound, `${entity} stands in src/values/entities.ts, but no detector of the list finds it`).toBe(true);
});

describe.each(LISTED.map((detector) => [basename(fileOf(detector)), detector] as const))('%s', (file, detector) => {
  const { category, meaning, examples, ignores } = detector;
  const scanner = scannerOf([detector]);

  test('says what it finds, in a sentence, with examples and texts that it ignores', () => {
    expect(meaning, `meaning of ${file}`).toMatch(/^[A-Z].{10,}\.$/s);
    expect(examples.length, `examples of ${file}`).toBeGreaterThan(0);
    expect(ignores.length, `ignores of ${file}`).toBeGreaterThan(0);
  });

  test.each(examples)('finds exactly what is marked: %s', (example) => {
    const { text, spans } = marked(example.replaceAll('‹', `‹${category}:`));
    expect(spans.length, `nothing is marked in an example of ${file}`).toBeGreaterThan(0);
    expect(scanner.find(text), file).toEqual(spans);
  });

  test.each(ignores)('finds nothing in: %s', (text) => {
    expect(scanner.find(text), file).toEqual([]);
  });

  test('gives away what it finds by its triggers alone', () => {
    for (const example of examples) {
      const text = example.replaceAll(/[‹›]/g, '');
      const isTriggered = Array.from(text).some((character) => detector.triggers.includes(character));
      expect(isTriggered, `no trigger of ${file} is in: ${text}`).toBe(true);
    }
  });
});
