import { describe, expect, test } from 'vitest';
import { compileSchema, SchemaFault } from './compile-schema.ts';
import { TooMuchWork, Work } from './work.ts';

function refusalOf(schema: unknown, value: unknown): string | undefined {
  const refusal = compileSchema(schema)(value, undefined, new Work(100_000));
  return refusal && `${refusal.pointer} must ${refusal.must}`;
}

/** Schema, values that keep it, values that do not, and the refusal. */
test.each<[unknown, readonly unknown[], readonly unknown[], string]>([
  [{ type: 'integer' }, [1, -0, 1e21], [1.5, '1', null, [], {}], ' must be of the type integer'],
  [{ type: ['string', 'null'] }, ['', null], [0, {}], ' must be of the type string or null'],
  [
    { enum: [1, 'a', { x: [1], y: 2 }] },
    [1, 'a', { y: 2, x: [1] }],
    ['1', 'b'.repeat(99), { x: [1] }],
    ' must be one of 1, "a", {"x":[1],"y":2}',
  ],
  [{ const: 9007199254740991 }, [9007199254740991], [9007199254740990], ' must be 9007199254740991'],
  [{ const: 0 }, [0, -0], ['0', null, false], ' must be 0'],
  [{ minimum: 1 }, [1, '0', Infinity], [0.9], ' must be at least 1'],
  [{ exclusiveMaximum: 1 }, [0.9], [1, Infinity], ' must be less than 1'],
  [{ multipleOf: 0.1 }, [0.3, 7, 1e3], [0.35], ' must be a multiple of 0.1'],
  [{ multipleOf: 0.01 }, [1e14, 0.07, 1e-1], [0.125, 1e-300], ' must be a multiple of 0.01'],
  [{ multipleOf: 7 }, [0, -14], [0.5, 8], ' must be a multiple of 7'],
  [{ minLength: 2 }, ['ab', '😀😀', 3], ['a', '😀', ''], ' must have at least 2 characters'],
  [{ maxLength: 2 }, ['ab', '😀😀'], ['abc', '😀😀😀', 'a'.repeat(99)], ' must have at most 2 characters'],
  [{ pattern: '^a+$' }, ['aa', 1], ['ab'], ' must match the pattern ^a+$'],
  [{ minItems: 1 }, [[1], 'x'], [[]], ' must have at least 1 items'],
  [{ maxProperties: 1 }, [{}, []], [{ a: 1, b: 1 }], ' must have at most 1 members'],
  [
    { uniqueItems: true },
    [[1, '1', { a: 1 }]],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [0, -0],
    ],
    ' must have no item twice',
  ],
  [
    { required: ['a', '__proto__'] },
    [JSON.parse('{"a":1,"__proto__":1}')],
    [{ a: 1 }],
    ' must have the member "__proto__"',
  ],
  [{ properties: { 'a/b': { maximum: 1 } } }, [{}, { 'a/b': 1 }, 7], [{ 'a/b': 2 }], '/a~1b must be at most 1'],
  [{ properties: { toString: false } }, [{}], [{ toString: 1 }], '/toString must be absent'],
  [
    { patternProperties: { '^x': { type: 'string' } } },
    [{ a: 1, x: '' }],
    [{ xyz: 1 }],
    '/* must be of the type string',
  ],
  [
    { properties: { a: {} }, patternProperties: { '^x': {} }, additionalProperties: false },
    [{ a: 1, xx: 1 }],
    [{ b: 1 }, JSON.parse('{"__proto__":1}')],
    ' must have no members but "a", "^x"',
  ],
  [{ additionalProperties: { minimum: 3 } }, [{ a: 3 }], [{ secret: 1 }], '/* must be at least 3'],
  [
    { propertyNames: { pattern: '^a' } },
    [{ ab: 1 }],
    [{ ab: 1, secret: 1 }],
    ' must have only members whose names match the pattern ^a',
  ],
  [{ dependentRequired: { a: ['b'] } }, [{ b: 1 }, { a: 1, b: 1 }], [{ a: 1 }], ' must have "b" together with "a"'],
  [{ dependentSchemas: { a: { maxProperties: 1 } } }, [{ a: 1 }], [{ a: 1, b: 1 }], ' must have at most 1 members'],
  [{ prefixItems: [{ const: 1 }], items: { const: 2 } }, [[1, 2, 2], [1], []], [[1, 3]], '/1 must be 2'],
  [{ prefixItems: [{ const: 1 }] }, [[1, 'x']], [[2]], '/0 must be 1'],
  [
    { contains: { const: 1 }, maxContains: 1 },
    [[1, 2]],
    [[], [1, 1]],
    ' must have at least 1 and at most 1 items that contains describes',
  ],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [3], ' must be at most 2'],
  [{ anyOf: [{ const: 1 }, { const: 2 }] }, [1, 2], [3], ' must keep one of the schemas of anyOf'],
  [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, [1], [0, 2], ' must keep exactly one of the schemas of oneOf'],
  [{ not: { const: 1 } }, [2], [1], ' must not keep the schema of not'],
  [
    JSON.parse('{"if":{"type":"string"},"then":{"maxLength":1},"else":{"const":1}}'),
    ['a', 1],
    ['ab'],
    ' must have at most 1 characters',
  ],
  [{ items: { properties: { a: { items: false } } } }, [[{ a: [] }]], [[{}, { a: [1] }]], '/1/a/0 must be absent'],
])('%j', (schema, kept, broken, told) => {
  for (const value of kept) expect(refusalOf(schema, value)).toBeUndefined();
  for (const value of broken) expect(refusalOf(schema, value)).toBe(told);
});

function nested(depth: number): unknown {
  return depth === 0 ? {} : { items: nested(depth - 1) };
}

test('a value of a schema that is nested as deep as a cluster allows is a fault, not a stack that ends', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(8000)}${']'.repeat(8000)}`);
  for (const schema of [{ const: deep }, { enum: [deep] }, { default: deep }])
    expect(() => compileSchema(schema)).toThrow(SchemaFault);
});

/** Schema, the faulty place, and the message. */
describe('a schema is refused', () => {
  test.each<[unknown, string, RegExp]>([
    [{ properties: { a: { maximun: 3 } } }, 'properties.a.maximun', /^is not a supported keyword: type, enum, /],
    [{ $ref: '#/x' }, '$ref', /^is not supported: write the schema in place$/],
    [{ format: 'email' }, 'format', /^is not checked: use pattern$/],
    [{ unevaluatedProperties: false }, 'unevaluatedProperties', /use additionalProperties/],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '$schema', /^must be https:/],
    [{ items: [{}] }, 'items', /prefixItems/],
    [{ type: 'int' }, 'type', /^must be one or several of null, /],
    [{ enum: [] }, 'enum', /list of values/],
    [{ const: { id: 9007199254740992 } }, 'const', /no number beyond 2\^53/],
    [{ enum: [Infinity] }, 'enum', /no number beyond/],
    [{ maximum: '3' }, 'maximum', /^must be a number$/],
    [{ multipleOf: 0 }, 'multipleOf', /more than 0/],
    [{ maxLength: 1.5 }, 'maxLength', /whole number/],
    [{ required: 'a' }, 'required', /list of strings/],
    [{ properties: [] }, 'properties', /object of schemas/],
    [{ allOf: [] }, 'allOf', /list of schemas/],
    [{ not: 3 }, 'not', /must be a schema/],
    [JSON.parse('{"then":{}}'), 'then', /needs if/],
    [{ pattern: '(?=a)' }, 'pattern', /look-arounds/],
    [{ patternProperties: { '(': {} } }, 'patternProperties', /regular expression/],
    [nested(16), Array(16).fill('items').join('.'), /nested deeper than 16/],
    [{ allOf: Array(500).fill(true) }, 'allOf.499', /one more than the 500/],
    [{ description: 'x'.repeat(16_384) }, '', /at most 16384 characters/],
  ])('%j', (schema, path, message) => {
    let thrown: unknown;
    try {
      compileSchema(schema);
    } catch (fault) {
      thrown = fault;
    }
    expect(thrown).toBeInstanceOf(SchemaFault);
    expect((thrown as SchemaFault).path.join('.')).toBe(path);
    expect((thrown as SchemaFault).message).toMatch(message);
  });
});

test.each<[unknown, unknown]>([
  [{ items: { anyOf: [{ const: 1 }, { const: 3 }, { enum: [4] }, true] } }, Array(20_000).fill(2)],
  [{ uniqueItems: true }, Array.from({ length: 200_000 }, (_one, index) => index)],
  [{ additionalProperties: { type: 'integer' } }, Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [i, 1]))],
  [{ pattern: '^(?:[a-z]+)+$' }, 'a'.repeat(100_000)],
  [{ propertyNames: { pattern: '^(?:[a-z]+)+$' } }, { ['a'.repeat(100_000)]: 1 }],
  [{ const: { a: 1 } }, { a: 'x'.repeat(4_000_000) }],
  [{ minLength: 3_000_000 }, 'x'.repeat(4_000_000)],
])('too many steps: %j', (schema, value) => {
  expect(() => compileSchema(schema)(value, undefined, new Work(100_000))).toThrow(TooMuchWork);
});

const VAGUE: readonly (readonly [object, string])[] = [
  [{ multipleOf: 10 }, '9007199254740993'],
  [{ multipleOf: 0.1 }, '1e999'],
  [{ const: 5 }, '9007199254740993'],
  [{ enum: ['a', { n: 1 }] }, '{"n":-9007199254740993}'],
  [{ uniqueItems: true }, '[9007199254740992,9007199254740993]'],
];

test.each(VAGUE)('%j is not kept by %s, whatever is made of it', (schema, value) => {
  const surrounded = [
    schema,
    { not: schema },
    { not: { not: schema } },
    { anyOf: [schema, true] },
    // oxlint-disable-next-line no-thenable -- a keyword of JSON Schema
    { if: schema, then: true, else: true },
    { oneOf: [schema, { not: schema }] },
  ];
  for (const one of surrounded) {
    const refusal = compileSchema({ properties: { a: one } })(
      { a: JSON.parse(value) as unknown },
      undefined,
      new Work(1000),
    );
    expect(refusal?.must, JSON.stringify(one)).toBe('have no number beyond 2^53, which JSON readers take for others');
    expect(refusal?.pointer).toBe('/a');
  }
});

test('a vague number that nothing compares is kept', () => {
  for (const schema of [{ enum: ['a', 5] }, { const: 'a' }, { type: 'integer' }, { uniqueItems: true }]) {
    const anyOf = [{ not: { enum: ['a'] } }, schema];
    expect(compileSchema({ anyOf })(JSON.parse('9007199254740993'), undefined, new Work(1000))).toBeUndefined();
  }
});
