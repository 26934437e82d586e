import { expect, test } from 'vitest';
import { definitionDifferences } from './definition-differences.ts';

const BEFORE = {
  name: 'find',
  description: 'Finds an order',
  inputSchema: { properties: { limit: { maximum: 50 }, 'a.b': { enum: ['x', 'y'] } }, required: [] },
};

test('names each place that differs, in alphabetical order', () => {
  const after = {
    name: 'find',
    description: 'Finds an \u202eorder\n\u001b[2J',
    inputSchema: { properties: { limit: { maximum: 500, type: 'number' }, 'a.b': { enum: ['x'] } } },
  };
  expect(definitionDifferences(BEFORE, after)).toEqual([
    {
      path: 'description',
      before: '"Finds an order"',
      after: String.raw`"Finds an <U+202E>order\n\u001b[2J"`,
    },
    { path: 'inputSchema.properties["a.b"].enum[1]', before: '"y"' },
    { path: 'inputSchema.properties.limit.maximum', before: '50', after: '500' },
    { path: 'inputSchema.properties.limit.type', after: '"number"' },
    { path: 'inputSchema.required', before: '[]' },
  ]);
});

test('shows all of a definition that is new, and nothing where two are the same', () => {
  expect(definitionDifferences(undefined, BEFORE).map(({ path }) => path)).toEqual([
    'description',
    'inputSchema.properties["a.b"].enum[0]',
    'inputSchema.properties["a.b"].enum[1]',
    'inputSchema.properties.limit.maximum',
    'inputSchema.required',
    'name',
  ]);
  expect(definitionDifferences(BEFORE, structuredClone(BEFORE))).toEqual([]);
});

test('a list that becomes an object differs as a whole', () => {
  expect(definitionDifferences({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: 'a', before: '[1]', after: '{"0":1}' }]);
});

test('hidden characters in names are shown, and deep values are compared as a whole', () => {
  expect(definitionDifferences({ a: 1 }, { a: 1, 'k\u200b': 1 })).toEqual([{ path: '["k<U+200B>"]', after: '1' }]);
  let deep: unknown = 1;
  for (let depth = 0; depth < 1000; depth++) deep = { d: deep };
  const [difference, ...more] = definitionDifferences(undefined, deep);
  expect(more).toEqual([]);
  expect(difference!.path).toMatch(/^d(\.d){39}$/);
});
