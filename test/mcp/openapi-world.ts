import { hash } from 'node:crypto';
import { newKey, resource } from '../harness/gateway.ts';

/** An API for tests, as a resource has it. */
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});
const TEXT = { type: 'string' };

const OPERATIONS = [
  {
    name: 'getCustomer',
    description: 'Finds a customer',
    method: 'GET',
    path: '/customers/{id}',
    parameters: [
      { name: 'id', in: 'Path' },
      { name: 'fields', in: 'Query', style: 'Comma' },
      { name: 'tag', in: 'Query' },
      { name: 'X-Trace', in: 'Header', argument: 'trace' },
    ],
    inputSchema: object(
      { id: TEXT, fields: { type: 'array', items: TEXT }, tag: { type: 'array', items: TEXT }, trace: TEXT },
      ['id'],
    ),
  },
  {
    name: 'getFile',
    method: 'GET',
    path: '/files/{path}',
    parameters: [{ name: 'path', in: 'Path', slashes: 'Encode' }],
    inputSchema: object({ path: TEXT }, ['path']),
  },
  {
    name: 'createOrder',
    description: 'Creates an order',
    method: 'POST',
    path: '/orders',
    body: {},
    inputSchema: object({ body: object({ mail: TEXT, count: { type: 'integer', maximum: 9007199254740991 } }) }, [
      'body',
    ]),
  },
  { name: 'send', method: 'POST', path: '/raw', body: {}, inputSchema: object({ body: {} }) },
  {
    name: 'login',
    method: 'POST',
    path: '/form',
    body: { contentType: 'application/x-www-form-urlencoded' },
    inputSchema: object({ body: { type: 'object' } }),
  },
  {
    name: 'dropCustomer',
    method: 'DELETE',
    path: '/customers/{id}',
    parameters: [{ name: 'id', in: 'Path' }],
    inputSchema: object({ id: TEXT }, ['id']),
  },
] as const;

/** `spec` of an MCPServer with these operations. */
export function apiServer(url: string, more: object = {}) {
  return { url, type: 'OpenAPI', operations: OPERATIONS, ...more };
}

export function secret(name: string, stringData: object, namespace = 'default'): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData };
}

/** Another tenant with an API of the same name. */
export function otherTenant(url: string): { readonly key: string; readonly resources: readonly object[] } {
  const key = newKey();
  const of = (kind: string, name: string, spec: object): object => ({
    ...resource(kind, name, spec),
    metadata: { name, namespace: 'other' },
  });
  const resources = [
    of('Organization', 'other', { contact: { email: 'ops@other.example' } }),
    of('Workload', 'app', { organizationRef: { name: 'other' } }),
    of('VirtualKey', 'k', {
      workloadRef: { name: 'app' },
      hash: { algorithm: 'SHA256', value: hash('sha256', key, 'hex') },
    }),
    of('MCPServer', 'shop', {
      type: 'OpenAPI',
      endpoint: { url },
      jurisdiction: 'EU',
      operations: OPERATIONS.slice(0, 1),
      auth: { type: 'Bearer', secretKeyRef: { name: 'shop', key: 'token' } },
    }),
    secret('shop', { token: 'other-credential-5678' }, 'other'),
  ];
  return { key, resources };
}
