import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mintedId, toolIds } from './tool-ids.ts';

test.each([
  ['any', 'call_abc-123', 'call_abc-123'],
  ['any', 'x'.repeat(40), 'x'.repeat(40)],
  ['nine', 'a1B2c3D4e', 'a1B2c3D4e'],
] as const)('%s: %s stays', (rule, id, expected) => {
  expect(toolIds(rule)(id)).toBe(expected);
});

test.each([
  ['any', /^call_[a-z0-9]{24}$/, ['', 'x'.repeat(41), 'functions.weather:0', 'é']],
  ['nine', /^[a-z0-9]{9}$/, ['', 'call_abc', 'a1B2c3D4', 'a1B2c3D4ef', 'a1B2_3D4e']],
] as const)('%s: others become digests, one for each', (rule, shape, ids) => {
  const mapped = ids.map(toolIds(rule));
  for (const id of mapped) expect(id).toMatch(shape);
  expect(new Set(mapped).size).toBe(ids.length);
  expect(ids.map(toolIds(rule))).toEqual(mapped);
});

test('a mapped id is mapped to itself', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('any', 'nine'), (id, rule) => {
      const map = toolIds(rule);
      expect(map(map(id))).toBe(map(id));
    }),
  );
});

test('minted ids are ids that every model but the nine-letter ones takes', () => {
  expect(toolIds('any')(mintedId('0/1'))).toBe(mintedId('0/1'));
  expect(mintedId('0/1')).not.toBe(mintedId('0/2'));
});
