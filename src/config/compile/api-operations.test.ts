import { expect, test } from 'vitest';
import { faultsOf, make, makeCore, snapshotOf } from '../testing/resources.ts';

const TEXT = { type: 'string' };
const OPERATION = {
  name: 'find',
  method: 'GET',
  path: '/customers/{id}',
  parameters: [{ name: 'id', in: 'Path' }],
  inputSchema: { type: 'object', properties: { id: TEXT }, required: ['id'] },
};
const server = (operation: object, more: object = {}) =>
  make('MCPServer', 'a', { type: 'OpenAPI', operations: [{ ...OPERATION, ...operation }], ...more });
const query = (name: string, more: object = {}) => ({
  path: '/find',
  parameters: [{ name, in: 'Query', ...more }],
  inputSchema: { type: 'object', properties: { [name]: TEXT } },
});
const header = (name: string) => ({ ...query(name), parameters: [{ name, in: 'Header' }] });

test('operations become tools whose definition says what they do', () => {
  const snapshot = snapshotOf([
    make('Organization', 'acme'),
    make('Workload', 'bot'),
    server({ description: 'Finds', body: undefined, readOnly: false, destructive: false }),
  ]);
  const { api } = snapshot.workloads.get('default/bot')!.mcpServers.get('a')!;
  expect(api!.operations.get('find')).toMatchObject({
    method: 'GET',
    parameters: [{ name: 'id', place: 'path', argument: 'id', style: 'repeated', slashes: false }],
    body: undefined,
    definition: {
      name: 'find',
      description: 'Finds',
      inputSchema: OPERATION.inputSchema,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    },
  });
});

test.each<readonly [string, object, string]>([
  [
    'a step upwards',
    { path: '/a/../{id}' },
    'path: must have no empty or nested {}, no steps such as .., and no encoded slashes',
  ],
  ['an encoded step', { path: '/a/%2E%2e/{id}' }, 'path: must have no empty'],
  ['a brace that is open', { path: '/{id' }, 'path: must have no empty'],
  ['a parameter that the path lacks', { path: '/a' }, 'path: must have {id}, which is a parameter in the path'],
  ['a path whose parameter is nowhere', { path: '/{id}/{x}' }, 'parameters: must have the parameter x of the path'],
  [
    'a path argument that may be absent',
    { inputSchema: { type: 'object', properties: { id: TEXT } } },
    'inputSchema.required: must have id',
  ],
  [
    'an argument without a schema',
    { ...query('q'), inputSchema: { type: 'object' } },
    'parameters[0]: sends the argument q, which is not in',
  ],
  [
    'a property that is sent nowhere',
    { ...query('q'), parameters: [] },
    'inputSchema.properties: has q, which is sent nowhere',
  ],
  [
    'an argument sent twice',
    {
      ...query('q'),
      parameters: [
        { name: 'q', in: 'Query' },
        { name: 'r', in: 'Query', argument: 'q' },
      ],
    },
    'parameters[1]: must not send the argument q',
  ],
  [
    'a body of GET',
    { ...query('q'), body: { argument: 'q' }, parameters: [] },
    'body: must not be set: GET has no body',
  ],
  [
    'a schema that is no object',
    { ...query('q'), inputSchema: { type: 'string' } },
    'inputSchema: must have the type object',
  ],
  [
    'a keyword that is not checked',
    { ...query('q'), inputSchema: { type: 'object', properties: { q: { $ref: '#/x' } } } },
    'inputSchema.properties.q.$ref: is not supported',
  ],
  [
    'the header of the host',
    header('Host'),
    'parameters[0].name: must be the name of a header that the gateway does not set itself',
  ],
  ['a header of the framing', header('Transfer-Encoding'), 'parameters[0].name: must be the name of a header'],
  ['a name that is no header', header('a:b'), 'parameters[0].name: must be the name of a header'],
])('%s is a fault', (_, operation, fault) => {
  expect(faultsOf([server(operation)])).toEqual([
    expect.stringContaining(`MCPServer default/a: spec.operations[0].${fault}`) as string,
  ]);
});

test('the header of the credential is not for arguments', () => {
  const secretKeyRef = { name: 's', key: 'k' };
  const auth = { type: 'Header', header: 'X-Key', secretKeyRef };
  const secret = makeCore('Secret', 's', { stringData: { k: 'value' } });
  expect(faultsOf([secret, server(header('x-kEY'), { auth })])).toHaveLength(1);
});

test('clients learn of format, and it is no fault', () => {
  const inputSchema = { type: 'object', properties: { q: { type: 'string', format: 'date-time' } } };
  expect(faultsOf([server({ ...query('q'), inputSchema })])).toEqual([]);
});

test('definitions that are too large together are a fault', () => {
  const operations = Array.from({ length: 200 }, (_, index) => ({
    ...OPERATION,
    ...query('q'),
    name: `find_${index}`,
    description: 'x'.repeat(4000),
  }));
  expect(faultsOf([make('MCPServer', 'a', { type: 'OpenAPI', operations })])).toEqual([
    'MCPServer default/a: spec.operations: must have at most 786432 characters as JSON: leave some out',
  ]);
});
