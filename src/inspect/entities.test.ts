import { expect, test } from 'vitest';
import { ENTITIES, FINDABLE_ENTITIES, toCategory } from '#/config/entities.ts';
import { createScanner } from './detectors/scanner.ts';
import { NAME_CATEGORIES } from './names/detect-names.ts';

test('what policies may name is what detectors and models find, no more and no less', () => {
  const found = [...createScanner().categories, ...NAME_CATEGORIES];
  expect(new Set(FINDABLE_ENTITIES.map(toCategory))).toEqual(new Set(found));
  expect(FINDABLE_ENTITIES.every((entity) => ENTITIES.includes(entity))).toBe(true);
});
