import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Check } from 'typebox/schema';
import { compileSchema } from './compile-schema.ts';
import { Work } from './work.ts';

/** Schemas and values made up at random: another checker of JSON Schema says the same of them. */

const NAME = fc.constantFrom('a', 'b', 'ab', 'c');
const { value: VALUE } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, 1, 2, -1, 1.5, '', 'a', 'ab', 'b😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(NAME, tie('value'), { maxKeys: 3 }),
  ),
}));
const SMALL = fc.integer({ min: 0, max: 2 });
const { schema: SCHEMA } = fc.letrec<{ schema: unknown }>((tie) => {
  const schemas = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(NAME, tie('schema'), { maxKeys: 3 });
  const names = fc.uniqueArray(NAME, { maxLength: 2 });
  const branches = fc.tuple(tie('schema'), tie('schema'), tie('schema'));
  const conditional = branches.map((all) =>
    Object.fromEntries(['if', 'then', 'else'].map((name, at) => [name, all[at]])),
  );
  const ofObjects = fc.record(
    {
      properties: byName,
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$', '.'), tie('schema'), { maxKeys: 2 }),
      additionalProperties: tie('schema'),
      propertyNames: tie('schema'),
      required: names,
      dependentRequired: fc.dictionary(NAME, names, { maxKeys: 2 }),
      dependentSchemas: byName,
      minProperties: SMALL,
      maxProperties: SMALL,
    },
    { requiredKeys: [] },
  );
  const ofArrays = fc.record(
    {
      prefixItems: schemas,
      items: tie('schema'),
      contains: tie('schema'),
      minItems: SMALL,
      maxItems: SMALL,
      uniqueItems: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const ofScalars = fc.record(
    {
      type: fc.constantFrom('null', 'boolean', 'number', 'integer', 'string', 'array', 'object', ['string', 'number']),
      minimum: SMALL,
      exclusiveMaximum: SMALL,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      minLength: SMALL,
      maxLength: SMALL,
      pattern: fc.constantFrom('a', '^a?b', '^(a|b)+$'),
    },
    { requiredKeys: [] },
  );
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.boolean(),
      ofScalars,
      fc.record({ enum: fc.array(VALUE, { minLength: 1, maxLength: 3 }) }),
      ofObjects,
      ofArrays,
      fc.record({ allOf: schemas, anyOf: schemas, oneOf: schemas, not: tie('schema') }, { requiredKeys: [] }),
      conditional,
    ),
  };
});

test('values are kept and refused as another checker does', () => {
  let kept = 0;
  fc.assert(
    fc.property(SCHEMA, VALUE, (schema, value) => {
      const expected = Check(schema as Parameters<typeof Check>[0], value);
      if (expected) kept++;
      expect(compileSchema(schema)(value, undefined, new Work(1e6)) === undefined).toBe(expected);
    }),
    { numRuns: 5000 },
  );
  expect(kept).toBeGreaterThan(500);
});
