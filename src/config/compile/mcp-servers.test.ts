import { describe, expect, test } from 'vitest';
import type { CompiledSnapshot } from './compile.ts';
import { faultsOf, make, makeCore, snapshotOf } from '../testing/resources.ts';

const SECRET = makeCore('Secret', 'crm', { stringData: { token: 's3cret', broken: 'a\nb' } });
const secretKeyRef = { name: 'crm', key: 'token' };
const oauth = { type: 'ClientCredentials', tokenUrl: 'https://id.example/token', clientId: 'gw', secretKeyRef };
const bearer = { type: 'Bearer', secretKeyRef };

function serversOf(snapshot: CompiledSnapshot, workload: string): object {
  const servers = snapshot.workloads.get(workload)?.mcpServers.values() ?? [];
  return Object.fromEntries([...servers].map(({ name, id, prefix }) => [name, `${id} ${prefix}`]));
}

test('a workload reaches servers of its namespace, then those of its organization that name no workloads', () => {
  const snapshot = snapshotOf([
    make('Organization', 'home/acme', { workloadNamespaces: { from: 'All' } }),
    make('Workload', 'home/bot', { organizationRef: { name: 'acme' } }),
    make('Workload', 'team/bot', { organizationRef: { name: 'acme', namespace: 'home' } }),
    make('Workload', 'team/other', { organizationRef: { name: 'acme', namespace: 'home' } }),
    make('MCPServer', 'home/crm'),
    make('MCPServer', 'home/mail'),
    make('MCPServer', 'home/private', { workloads: ['bot'] }),
    make('MCPServer', 'team/crm', { workloads: ['bot'], prefix: 'mail' }),
  ]);
  expect(serversOf(snapshot, 'home/bot')).toEqual({
    crm: 'home/crm crm',
    mail: 'home/mail mail',
    private: 'home/private private',
  });
  // Its own server has the name of one of the organization's, and the prefix of the other.
  expect(serversOf(snapshot, 'team/bot')).toEqual({ crm: 'team/crm mail' });
  expect(serversOf(snapshot, 'team/other')).toEqual({ crm: 'home/crm crm', mail: 'home/mail mail' });
});

test('a prefix that is not given is the name, or the beginning of a longer one with a digest of it', () => {
  const names = ['exactly-16-chars', 'customer-records-of-europe', 'customer-records-of-asia', 'a.b', 'a-b', 'a.-b'];
  const { workloads } = snapshotOf([
    make('Organization', 'acme'),
    make('Workload', 'bot'),
    ...names.map((name) => make('MCPServer', name)),
  ]);
  const servers = [...workloads.get('default/bot')!.mcpServers.values()];
  expect(new Map(servers.map(({ name, prefix }) => [name, prefix]))).toEqual(
    new Map([
      ['exactly-16-chars', 'exactly-16-chars'],
      ['customer-records-of-europe', 'customer-47b435'],
      ['customer-records-of-asia', 'customer-4975a8'],
      ['a.b', 'a-b-2e7336'],
      ['a-b', 'a-b'],
      ['a.-b', 'a-b-cf3cd0'],
    ]),
  );
});

test('credentials become headers, or what access tokens are fetched with', () => {
  const header = { type: 'Header', header: 'X-Token', secretKeyRef };
  const { workloads } = snapshotOf([
    SECRET,
    make('Organization', 'acme'),
    make('Workload', 'bot'),
    make('MCPServer', 'one', { auth: bearer }),
    make('MCPServer', 'two', { auth: header }),
    make('MCPServer', 'three'),
    make('MCPServer', 'four', { auth: { ...oauth, scopes: ['crm.read'] } }),
  ]);
  const servers = workloads.get('default/bot')?.mcpServers;
  expect(servers?.get('one')?.auth).toEqual({ type: 'header', header: 'authorization', value: 'Bearer s3cret' });
  expect(servers?.get('two')?.auth).toEqual({ type: 'header', header: 'x-token', value: 's3cret' });
  expect(servers?.get('three')?.auth).toEqual({ type: 'none' });
  expect(servers?.get('four')?.auth).toEqual({
    type: 'client_credentials',
    tokenUrl: 'https://id.example/token',
    clientId: 'gw',
    clientSecret: 's3cret',
    scopes: ['crm.read'],
  });
});

describe('faults', () => {
  const url = (text: string) => ({ endpoint: { url: text } });
  test.each<readonly [string, readonly unknown[], readonly string[]]>([
    [
      'a prefix twice',
      [make('MCPServer', 'a', { prefix: 'x' }), make('MCPServer', 'b', { prefix: 'x' })],
      ['MCPServer default/b: spec.prefix: is already the prefix of MCPServer default/a: set another one'],
    ],
    [
      "another's default prefix",
      [make('MCPServer', 'customer-records-of-europe'), make('MCPServer', 'z', { prefix: 'customer-47b435' })],
      [
        'MCPServer default/z: spec.prefix: is already the prefix of MCPServer default/customer-records-of-europe: set another one',
      ],
    ],
    [
      'a metadata service',
      [make('MCPServer', 'a', url('http://169.254.169.254/mcp'))],
      ['MCPServer default/a: spec.endpoint.url: must not be a link-local address or a metadata service'],
    ],
    ...['http://127.0.0.1:8081/metrics', 'http://localhost:8080/v1/mcp', 'http://[::]:8090/', 'http://127.1:8081'].map(
      (own): readonly [string, readonly object[], readonly string[]] => [
        `a port of the gateway itself at ${own}`,
        [make('MCPServer', 'a', url(own))],
        [
          'MCPServer default/a: spec.endpoint.url: must not be a port of the gateway itself: give the server another port',
        ],
      ],
    ),
    [
      'a token endpoint at a port of the gateway itself',
      [SECRET, make('MCPServer', 'a', { auth: { ...oauth, tokenUrl: 'http://127.0.0.1:8081/token' } })],
      [
        'MCPServer default/a: spec.auth.tokenUrl: must not be a port of the gateway itself: give the server another port',
      ],
    ],
    [
      'a credential in clear',
      [SECRET, make('MCPServer', 'a', { ...url('http://tools.example/mcp'), auth: bearer })],
      ['MCPServer default/a: spec.endpoint.url: must start with https:// where the gateway sends a credential'],
    ],
    [
      'a token endpoint in clear',
      [SECRET, make('MCPServer', 'a', { auth: { ...oauth, tokenUrl: 'http://id.example/token' } })],
      ['MCPServer default/a: spec.auth.tokenUrl: must start with https:// where the gateway sends a credential'],
    ],
    [
      'a token endpoint on the machine',
      [SECRET, make('MCPServer', 'a', { auth: { ...oauth, tokenUrl: 'https://169.254.169.254/token' } })],
      ['MCPServer default/a: spec.auth.tokenUrl: must not be a link-local address or a metadata service'],
    ],
    [
      'a secret that no header can hold',
      [SECRET, make('MCPServer', 'a', { auth: { type: 'Bearer', secretKeyRef: { name: 'crm', key: 'broken' } } })],
      ['MCPServer default/a: spec.auth.secretKeyRef: must be printable ASCII characters, as a header needs'],
    ],
    [
      "a header of the protocol's own",
      [SECRET, make('MCPServer', 'a', { auth: { type: 'Header', header: 'Mcp-Session-Id', secretKeyRef } })],
      ["MCPServer default/a: spec.auth.header: must be the name of a header that is not the protocol's own"],
    ],
    [
      'rules that cannot be asked',
      [
        make('MCPServer', 'a', {
          rules: [
            { tools: ['x'], arguments: { properties: { 'a b': { maximun: 1 }, c: { pattern: '(?=s3cret)' } } } },
            { tools: ['x'], arguments: { properties: { c: { pattern: '(?=s3cret)' } } } },
          ],
        }),
      ],
      [
        expect.stringMatching(
          /^MCPServer default\/a: spec.rules\[0\].arguments.properties\["a b"\].maximun: is not a supported keyword: /,
        ) as string,
        'MCPServer default/a: spec.rules[1].arguments.properties.c.pattern: must have no look-arounds, backreferences, ' +
          'word boundaries or modifiers',
      ],
    ],
    [
      "the name of the gateway's own tools",
      [make('MCPServer', 'gw')],
      ['MCPServer default/gw: metadata.name: is taken: gw are the tools of the gateway itself'],
    ],
    [
      'their prefix',
      [make('MCPServer', 'a', { prefix: 'gw' })],
      ['MCPServer default/a: spec.prefix: is taken: gw are the tools of the gateway itself'],
    ],
    [
      'a Provider of the name',
      [make('Provider', 'mcp')],
      ['Provider default/mcp: spec.slug: is taken: price books name tools of MCP servers mcp/<server>/<tool>'],
    ],
  ])('%s', (_name, resources, faults) => {
    expect(faultsOf(resources)).toEqual(faults);
  });

  test.each(['http://localhost:3000/mcp', 'http://tools/mcp', 'http://tools.team.svc/mcp', 'http://127.0.0.1/mcp'])(
    'a credential goes to %s, which is near',
    (near) => {
      expect(faultsOf([SECRET, make('MCPServer', 'a', { ...url(near), auth: bearer })])).toEqual([]);
    },
  );
});

test('a gateway at other ports refuses these alone, and other machines have all ports', () => {
  const named = (address: string): readonly string[] =>
    faultsOf([make('Organization', 'acme'), make('MCPServer', 'a', { endpoint: { url: address } })], {
      ownPorts: new Set([3000]),
    });
  expect(named('http://127.0.0.1:3000/mcp')).toHaveLength(1);
  for (const taken of ['http://127.0.0.1:8081/mcp', 'http://127.0.0.1:3100/mcp', 'http://tools.example:3000/mcp'])
    expect(named(taken)).toEqual([]);
});
