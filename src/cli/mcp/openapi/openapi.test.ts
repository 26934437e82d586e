import fc from 'fast-check';
import { stringify } from 'yaml';
import { expect, test } from 'vitest';
import { compileSchema } from '#/values/json-schema/compile-schema.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { ApiDocument, readApiDocument, Unusable } from './api-document.ts';
import { findOperations, type Wanted } from './find-operations.ts';
import { authOf } from './security.ts';
import { toOperation, type WrittenOperation } from './to-operation.ts';

/** Descriptions of APIs, honest and hostile, as operations of a resource. */

const document = (paths: JsonObject, more: JsonObject = {}): ApiDocument =>
  new ApiDocument({ openapi: '3.1.0', paths, ...more });

function written(api: ApiDocument, wanted: Wanted = {}): (WrittenOperation | string)[] {
  return findOperations(api, wanted).map((one) => {
    try {
      return toOperation(one, api);
    } catch (thrown) {
      if (thrown instanceof Unusable) return thrown.message;
      throw thrown;
    }
  });
}

/** The schema of the one argument of an operation with this body. */
function bodySchema(schema: Json, more: JsonObject = {}): { readonly schema: Json; readonly notes: readonly string[] } {
  const api = document({ '/x': { post: { requestBody: { content: { 'application/json': { schema } } } } } }, more);
  const [one] = written(api) as WrittenOperation[];
  const { inputSchema } = one!.operation as { readonly inputSchema: { readonly properties: { readonly body: Json } } };
  expect(() => compileSchema(inputSchema, ['format'])).not.toThrow();
  return { schema: inputSchema.properties.body, notes: one!.notes };
}

test.each([
  ['JSON', (value: JsonObject) => JSON.stringify(value)],
  ['YAML', (value: JsonObject) => stringify(value)],
])('reads %s, with numbers as names', async (_, write) => {
  const api = await readApiDocument(
    'a',
    write({ openapi: '3.0.3', paths: { '/x': { get: { responses: { 200: {} } } } } }),
  );
  expect(written(api)).toMatchObject([{ operation: { name: 'get_x', method: 'GET', path: '/x' } }]);
});

test.each([
  ['Swagger 2.0', '{"swagger":"2.0"}', 'a is Swagger 2.0: convert it to OpenAPI 3 first'],
  ['another version', 'openapi: 4.0.0', 'a is not OpenAPI 3.0 or 3.1'],
  ['a number', 'openapi: 3.1', 'a is not OpenAPI 3.0 or 3.1'],
  ['a list', '- openapi', 'a is no description of an API'],
  ['half of JSON', '{"openapi":', 'a is neither JSON nor YAML'],
  ['half of YAML', 'openapi: [', 'a is not readable: line'],
  [
    'aliases that grow',
    `a: &a [1,1]\n${'bcdefghijklmnopqrst'
      .split('')
      .map((name, at) => `${name}: &${name} [*${'abcdefghijklmnopqrst'[at]},*${'abcdefghijklmnopqrst'[at]}]`)
      .join('\n')}`,
    'a is not readable',
  ],
  ['deep nesting', `openapi: ${'['.repeat(5000)}`, 'a is not readable'],
])('%s is refused', async (_, text, message) => {
  await expect(readApiDocument('a', text)).rejects.toThrow(UsageError);
  await expect(readApiDocument('a', text)).rejects.toThrow(message);
});

test('names of tools are of the letters that models take, and unique', () => {
  const id = (operationId: string): JsonObject => ({ operationId });
  const api = document({
    '/a': { get: id('list users!'), post: id('list/users'), put: id('list_users_2') },
    '/b/{id}': { delete: id('ü'), patch: id('x'.repeat(100)) },
    '/c': { parameters: [], get: {} },
  });
  const names = findOperations(api, {}).map(({ name }) => name);
  expect(names).toEqual([
    'list_users',
    'list_users_2',
    'list_users_2_2',
    expect.stringMatching(/^x{57}_[0-9a-f]{6}$/),
    'delete_b_id',
    'get_c',
  ]);
  // The same names, whatever is chosen.
  expect(findOperations(api, { methods: ['put'] }).map(({ name }) => name)).toEqual(['list_users_2_2']);
  expect(findOperations(api, { only: ['list_*'], methods: ['get', 'post'] })).toHaveLength(2);
});

test('operations are chosen by tag', () => {
  const api = document({ '/a': { get: { tags: ['x', 1] }, post: { tags: ['y'] }, put: {} } });
  expect(findOperations(api, { tags: ['x', 'z'] }).map(({ method }) => method)).toEqual(['get']);
});

test('parameters go where the description has them, in the forms that can be sent', () => {
  const list = { type: 'array', items: { type: 'string' } };
  const parameters: Json = [
    { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'id', in: 'query', schema: list },
    { name: 'f[a]', in: 'query', schema: list, explode: false },
    { name: 's', in: 'query', schema: list, style: 'spaceDelimited' },
    { name: 'd', in: 'query', schema: { type: 'object' }, style: 'deepObject' },
    { name: 'j', in: 'query', content: { 'application/json': { schema: {} } } },
    { name: 'X-A', in: 'header', schema: { type: 'string' }, description: 'A\u202e' },
    { name: 'Authorization', in: 'header', required: true, schema: {} },
    { name: 'session', in: 'cookie', schema: {} },
  ];
  const api = document({
    '/x/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: { parameters },
    },
  });
  const [one] = written(api) as WrittenOperation[];
  expect(one!.operation['parameters']).toEqual([
    { name: 'id', in: 'Path' },
    { name: 'id', in: 'Query', argument: 'id_2' },
    { name: 'f[a]', in: 'Query', argument: 'f_a', style: 'Comma' },
    { name: 's', in: 'Query', style: 'Space' },
    { name: 'd', in: 'Query', style: 'Deep' },
    { name: 'j', in: 'Query', style: 'JSON' },
    { name: 'X-A', in: 'Header' },
  ]);
  expect(one!.operation['inputSchema']).toMatchObject({
    properties: { id: { type: 'string' }, 'X-A': { description: 'A<U+202E>' } },
    required: ['id'],
  });
  expect(one!.notes).toEqual([
    'the parameter session is left out: has a parameter in a cookie, which is not supported',
  ]);
});

test.each<readonly [string, JsonObject]>([
  ['does not say what {id} in its path is', {}],
  [
    'has a parameter in a cookie, which is not supported',
    { parameters: [{ name: 'c', in: 'cookie', required: true }] },
  ],
  ['has a parameter in a style that is not supported', { parameters: [{ name: 'id', in: 'path', style: 'matrix' }] }],
  ['has a server of its own', { servers: [{ url: 'https://evil.example' }] }],
  [
    'has a body of multipart/form-data, which is not supported',
    { parameters: [{ name: 'id', in: 'path' }], requestBody: { content: { 'multipart/form-data': {} } } },
  ],
  [
    'has a $ref that leads to another document, which is not fetched',
    { parameters: [{ $ref: 'http://127.0.0.1:9/x.yaml#/a' }] },
  ],
  ['has a $ref that leads nowhere', { parameters: [{ $ref: '#/components/__proto__' }] }],
  ['has a $ref that leads back to itself', { parameters: [{ $ref: '#/loop' }] }],
])('an operation that %s is left out', (message, operation) => {
  expect(written(document({ '/x/{id}': { post: operation } }, { loop: { $ref: '#/loop' } }))).toEqual([message]);
});

test('schemas that lead back to themselves end, and other documents are never read', () => {
  const components = {
    schemas: {
      Node: {
        type: 'object',
        properties: {
          next: { $ref: '#/components/schemas/Node' },
          far: { $ref: 'https://evil.example/schema.json' },
          id: { type: 'integer', readOnly: true },
        },
        required: ['next', 'id'],
      },
    },
  };
  const { schema, notes } = bodySchema({ $ref: '#/components/schemas/Node' }, { components });
  expect(schema).toEqual({
    type: 'object',
    properties: { next: { type: 'object' }, far: {} },
    required: ['next'],
  });
  expect(notes).toEqual(['its deeper parts are left out']);
});

test('schemas of 3.0 become JSON Schema, and what cannot be checked is left out', () => {
  const api = { openapi: '3.0.3' };
  const { schema, notes } = bodySchema(
    {
      type: 'object',
      properties: {
        a: { type: 'integer', minimum: 0, exclusiveMinimum: true, nullable: true },
        b: { type: 'string', enum: ['x'], nullable: true, example: 'x', 'x-internal': true },
        c: { type: 'string', pattern: '(a+)+(?=b)', format: 'uuid' },
        d: { enum: [2 ** 60] },
        __proto__x: { type: 'string' },
      },
      discriminator: { propertyName: 'a' },
    },
    api,
  );
  expect(schema).toEqual({
    type: 'object',
    properties: {
      a: { type: ['integer', 'null'], exclusiveMinimum: 0 },
      b: { type: ['string', 'null'], enum: ['x', null] },
      c: { type: 'string', format: 'uuid' },
      d: {},
      __proto__x: { type: 'string' },
    },
  });
  expect(notes).toHaveLength(2);
});

test('references that multiply end', () => {
  const schemas: Record<string, Json> = { S0: { type: 'string' } };
  for (let level = 1; level < 40; level++) {
    const ref = { $ref: `#/components/schemas/S${level - 1}` };
    schemas[`S${level}`] = {
      type: 'object',
      properties: Object.fromEntries('abcdefghij'.split('').map((name) => [name, ref])),
    };
  }
  const { schema } = bodySchema({ $ref: '#/components/schemas/S39' }, { components: { schemas } });
  expect(JSON.stringify(schema).length).toBeLessThan(16_384);
});

test('a schema of many members says less', () => {
  const properties = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`member_${at}`, { type: 'string' }]));
  const { schema, notes } = bodySchema({ type: 'object', properties });
  expect(JSON.stringify(schema).length).toBeLessThan(16_384);
  expect(notes).not.toEqual([]);
});

test('many operations of one name get names of their own', () => {
  const paths = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`/p${at}`, { get: { operationId: 'same' } }]),
  );
  const names = findOperations(document(paths), {}).map(({ name }) => name);
  expect(new Set(names).size).toBe(20_000);
});

test('the credential is that of the first scheme that an MCPServer has', () => {
  const secretKeyRef = { name: 's', key: 'k' };
  const schemes = {
    query: { type: 'apiKey', in: 'query', name: 'k' },
    basic: { type: 'http', scheme: 'Basic' },
    header: { type: 'apiKey', in: 'header', name: 'X-Key' },
    bearer: { type: 'http', scheme: 'bearer' },
    oauth: {
      type: 'oauth2',
      flows: { clientCredentials: { tokenUrl: 'https://id.example/t', scopes: { 'a.b': 'x' } } },
    },
    strange: { type: '\u001b[31m' },
  };
  const auth = (...names: readonly string[]) =>
    authOf(
      document({}, { components: { securitySchemes: schemes } }),
      [{ security: names.map((name) => ({ [name]: [] })) }],
      { secretKeyRef, clientId: 'me' },
    );
  expect(auth('query', 'header').auth).toEqual({ type: 'Header', header: 'X-Key', secretKeyRef });
  expect(auth('basic').auth).toEqual({ type: 'Header', header: 'Authorization', secretKeyRef });
  expect(auth('bearer', 'basic')).toMatchObject({ auth: { type: 'Bearer', secretKeyRef }, notes: { length: 2 } });
  expect(auth('oauth').auth).toEqual({
    type: 'ClientCredentials',
    tokenUrl: 'https://id.example/t',
    clientId: 'me',
    scopes: ['a.b'],
    secretKeyRef,
  });
  expect(auth().auth).toBeUndefined();
  expect(auth('strange', 'unknown', '__proto__').auth).toBeUndefined();
  expect(JSON.stringify(auth('strange'))).not.toContain('\\u001b');
});

/** Anything at all in the places of a description. */
const NAMES = [
  'toString',
  'valueOf',
  '$ref',
  'type',
  'properties',
  'items',
  'allOf',
  'enum',
  'required',
  'pattern',
  'nullable',
  'default',
  'minimum',
  'exclusiveMinimum',
  'additionalProperties',
  '__proto__',
  'not',
  'const',
];
const VALUES = [
  '#/components/schemas/A',
  '#/components/schemas/B',
  '#',
  '#/',
  '#/paths/~1x',
  'object',
  'string',
  '(a|b)*c',
  '\ud800',
  '\u202e',
  'http://evil.example/#/a',
];
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom<Json>(...VALUES, true, false, null, 0, -1, 1e308, 2 ** 60),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 })), tie('tree')), { maxLength: 6 })
      .map((members) => Object.fromEntries(members)),
  ),
}));

test('whatever a description holds, its operations are valid or left out', () => {
  const operation = fc.record(
    { parameters: tree, requestBody: tree, security: tree, tags: tree, description: tree },
    { requiredKeys: [] },
  );
  const body = tree.map((schema) => ({ requestBody: { content: { 'application/json': { schema } } } }));
  const parameter = fc
    .tuple(fc.constantFrom('path', 'query', 'header', 'cookie'), fc.string({ maxLength: 8 }), tree)
    .map(([place, name, schema]) => ({ parameters: [{ in: place, name, schema }, schema] }));
  fc.assert(
    fc.property(fc.oneof(operation, body, parameter), tree, tree, fc.boolean(), (one, A, B, isOld) => {
      const api = document(
        { '/x': { post: one as JsonObject } },
        { openapi: isOld ? '3.0.0' : '3.1.0', components: { schemas: { A, B } } },
      );
      for (const found of written(api)) {
        if (typeof found === 'string') continue;
        expect(() => compileSchema(found.operation['inputSchema'], ['format'])).not.toThrow();
        expect(JSON.stringify(found.operation['inputSchema']).length).toBeLessThanOrEqual(16_384);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['a format', { type: 'string', format: 'a\u2028b' }, { type: 'string' }],
  ['a default', { type: 'string', default: { a: ['a\u2028b'] } }, { type: 'string' }],
  ['a constant', { const: 'a\u0085b' }, {}],
  ['a pattern', { type: 'string', pattern: 'a\u2028b' }, { type: 'string' }],
  ['a required name', { type: 'object', required: ['a\u200bb'] }, { type: 'object' }],
  ['an enumeration', { enum: ['a', 'a\u202eb'] }, {}],
  ['a name', { properties: { 'a\u2028b': {}, c: {} } }, { properties: { c: {} } }],
  ['a name that merges maps', { properties: { '<<': {}, c: {} } }, { properties: { c: {} } }],
  ['a name within a name', { properties: { c: { const: { 'a\u2029b': 1 } } } }, { properties: { c: {} } }],
])('leaves out %s that is not read as it stands, and says so', (_, schema, left) => {
  const note = 'names and values that are not read as they stand, such as with hidden characters, are left out';
  expect(bodySchema(schema)).toEqual({ schema: left, notes: [note] });
});
