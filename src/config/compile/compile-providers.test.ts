import { describe, expect, test } from 'vitest';
import { faultsOf, make, makeCore, snapshotOf, type TestResource } from '../testing/resources.ts';
import type { ProviderConfig } from '../snapshot.ts';
import { base, credentials, older, newer, only } from '../testing/compile-samples.ts';

describe('providers', () => {
  const ids = (resources: readonly TestResource[]) =>
    [...only(snapshotOf([...base, ...resources])).organization.providers.values()].map((provider) => provider.id);
  const managed = {
    keyOwnership: 'Managed',
    allowedOrganizations: { from: 'List', organizations: [{ namespace: 'default', name: 'acme' }] },
  };

  test('an organization reaches its own, and the managed ones of others that let it in', () => {
    const resources = [
      make('Provider', 'platform/shared', managed),
      make('Provider', 'other/private'),
      make('Provider', 'own'),
      make('Provider', 'own-managed', managed),
    ];
    expect(ids(resources)).toEqual(['default/own', 'default/own-managed', 'platform/shared']);
  });

  test('its own holds the slug, however old the managed one', () => {
    const resources = [make('Provider', 'platform/vendor', managed, older), make('Provider', 'vendor', {}, newer)];
    expect(ids(resources)).toEqual(['default/vendor']);
  });

  test('managed ones stand in the namespace of the installation, where there is one', () => {
    const resources = [
      make('Provider', 'platform/shared', managed),
      make('Provider', 'team/shared', managed),
      make('Provider', 'team/own'),
    ];
    expect(faultsOf([...base, ...resources], { platformNamespace: 'platform' })).toEqual([
      'Provider team/shared: spec.keyOwnership: can be Managed only in platform, the namespace of the platform',
    ]);
    expect(ids([...resources])).toEqual(['platform/shared']);
  });

  test('of two managed ones the oldest holds the slug: a newcomer does not take over traffic', () => {
    const first = make('Provider', 'platform/vendor', managed, older);
    const second = make('Provider', 'attacker/vendor', managed, newer);
    expect(ids([second, first])).toEqual(['platform/vendor']);
    expect(ids([make('Provider', 'b/vendor', managed), make('Provider', 'a/vendor', managed)])).toEqual(['a/vendor']);
  });

  test('every field arrives, in the spelling of the snapshot', () => {
    const signing = '{"accessKeyId":"a","secretAccessKey":"b"}';
    const provider = make('Provider', 'vendor', {
      protocol: 'GenerateContent',
      endpoint: { url: 'http://vendor.svc:8080/v1//', allowInsecure: true },
      jurisdiction: 'DE',
      credentials: [{ ...credentials[0], type: 'AWSSigV4', weight: 7 }],
      vendor: 'vertex',
      region: 'europe-west3',
      project: 'acme-1',
      apiVersion: '2026-01-01',
      features: { promptCache: 'CachePoint', nativeFiles: true },
      models: [
        {
          id: 'one',
          upstreamId: 'profile/one',
          jurisdiction: 'EU',
          vision: true,
          reasoning: 'ThinkingBudget',
          contextTokens: 8,
          maxOutputTokens: 4,
          rejects: ['user'],
        },
        { id: 'two' },
      ],
      retry: { attempts: 3 },
      circuitBreaker: { failureRatioPercent: 10, minRequests: 5, openSeconds: 9 },
    });
    const secret = makeCore('Secret', 'keys', { stringData: { main: signing } });
    expect(only(snapshotOf([...base, provider, secret])).organization.providers.get('vendor')).toEqual({
      id: 'default/vendor',
      slug: 'vendor',
      vendor: 'vertex',
      protocol: 'generate_content',
      url: 'http://vendor.svc:8080/v1',
      jurisdiction: 'DE',
      region: 'europe-west3',
      project: 'acme-1',
      apiVersion: '2026-01-01',
      keyOwnership: 'organization',
      credentials: [{ name: 'main', type: 'aws_sigv4', secret: signing, weight: 7 }],
      models: new Map([
        [
          'one',
          {
            id: 'one',
            upstreamId: 'profile/one',
            jurisdiction: 'EU',
            vision: true,
            reasoning: 'thinking_budget',
            contextTokens: 8,
            maxOutputTokens: 4,
            rejects: ['user'],
          },
        ],
        ['two', { id: 'two' }],
      ]),
      attempts: 3,
      circuitBreaker: { failureRatioPercent: 10, minRequests: 5, openSeconds: 9 },
      promptCache: 'cache_point',
      nativeFiles: true,
    } satisfies ProviderConfig);
  });

  test('aliases are those of the namespace', () => {
    const routes = [{ task: 'code', maxComplexity: 2, model: 'vendor/big' }];
    const snapshot = snapshotOf([
      ...base,
      make('ModelAlias', 'auto', { strategy: 'Auto', auto: { routes } }),
      make('ModelAlias', 'other/fast'),
    ]);
    const targets = [{ model: 'vendor/one', weight: 1, priority: 0 }];
    const auto = { alias: 'gw/auto', strategy: 'auto', targets, routes };
    expect(only(snapshot).organization.aliases).toEqual(new Map([['gw/auto', auto]]));
  });
});

describe('vendors', () => {
  const secret = makeCore('Secret', 'keys', { stringData: { main: 'sk-1' } });
  const spec = { protocol: undefined, endpoint: undefined, credentials };
  const compiled = (slug: string, fields: Record<string, unknown>) => {
    const provider = make('Provider', slug, { ...spec, ...fields });
    return only(snapshotOf([...base, secret, provider])).organization.providers.get(slug)!;
  };

  test.each<readonly [string, Record<string, unknown>, Partial<ProviderConfig>]>([
    [
      'openai',
      { jurisdiction: 'US' },
      { vendor: 'openai', protocol: 'chat_completions', url: 'https://api.openai.com/v1' },
    ],
    ['anthropic', { jurisdiction: 'US' }, { vendor: 'anthropic', protocol: 'messages' }],
    [
      'claude',
      { vendor: 'anthropic', jurisdiction: 'GLOBAL' },
      { vendor: 'anthropic', url: 'https://api.anthropic.com/v1' },
    ],
    ['scaleway', { jurisdiction: 'EU' }, { vendor: 'scaleway', url: 'https://api.scaleway.ai/v1' }],
    ['mistral', { jurisdiction: 'FR' }, { vendor: 'mistral' }],
    [
      'aws',
      { protocol: 'Converse', region: 'eu-central-1', jurisdiction: 'DE' },
      { vendor: 'bedrock', protocol: 'converse', url: 'https://bedrock-runtime.eu-central-1.amazonaws.com' },
    ],
    [
      'bedrock',
      { region: 'cn-north-1', jurisdiction: 'CN' },
      { url: 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn' },
    ],
    [
      'bedrock',
      { region: 'eusc-de-east-1', jurisdiction: 'EU' },
      { url: 'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu' },
    ],
    [
      'vertex',
      { region: 'eu', project: 'p', jurisdiction: 'EU' },
      { vendor: 'vertex', protocol: 'generate_content', url: 'https://aiplatform.eu.rep.googleapis.com', project: 'p' },
    ],
    [
      'vertex',
      { region: 'global', project: 'p', jurisdiction: 'GLOBAL' },
      { url: 'https://aiplatform.googleapis.com' },
    ],
    [
      'vertex',
      { region: 'europe-west4', project: 'p', jurisdiction: 'NL' },
      { url: 'https://europe-west4-aiplatform.googleapis.com' },
    ],
    ['google', { protocol: 'GenerateContent', jurisdiction: 'US' }, { vendor: 'gemini' }],
    [
      'own',
      { protocol: 'Messages', credentials: [], endpoint: { url: 'https://gpu.acme.test' }, jurisdiction: 'CH' },
      { vendor: 'custom', protocol: 'messages', url: 'https://gpu.acme.test', jurisdiction: 'CH' },
    ],
    [
      'openai',
      { vendor: 'custom', endpoint: { url: 'https://gpu.acme.test' } },
      { vendor: 'custom', protocol: 'custom', url: 'https://gpu.acme.test' },
    ],
    [
      'nebius',
      { endpoint: { url: 'https://dedicated.eu-north1.nebius.test/v1' } },
      { vendor: 'nebius', url: 'https://dedicated.eu-north1.nebius.test/v1', jurisdiction: 'EU' },
    ],
    ['openai', { endpoint: { url: 'https://eu.api.openai.com/v1' } }, { vendor: 'openai', jurisdiction: 'EU' }],
  ])('%s %j', (slug, fields, expected) => {
    expect(compiled(slug, fields)).toMatchObject(expected);
  });

  const falsehoods: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['openai', {}, 'in US'],
    ['openai', { endpoint: { url: 'https://us.api.openai.com/v1' } }, 'in US'],
    ['openai', { endpoint: { url: 'https://eu.api.openai.com/v1' }, jurisdiction: 'US' }, 'in EU'],
    ['anthropic', {}, 'in US'],
    ['deepseek', {}, 'in CN'],
    ['groq', {}, 'in US'],
    ['nebius', {}, 'anywhere'],
    ['nebius', { jurisdiction: 'FI' }, 'anywhere'],
    ['ionos', { jurisdiction: 'FR' }, 'in DE'],
    ['bedrock', { region: 'us-east-1' }, 'in US'],
    ['bedrock', { region: 'eu-west-2' }, 'in GB'],
    ['bedrock', { region: 'eu-west-1', endpoint: { url: 'https://bedrock-runtime.us-east-1.amazonaws.com' } }, 'in US'],
    ['vertex', { region: 'global', project: 'p' }, 'anywhere'],
    ['vertex', { region: 'us', project: 'p' }, 'in US'],
    ['vertex', { region: 'europe-west6', project: 'p' }, 'in CH'],
  ];

  test.each(['http://169.254.169.254/v1', 'http://[fe80::1]:8080', 'http://metadata.google.internal'])(
    'a provider at %s, which tells machines about themselves',
    (url) => {
      const endpoint = { url, allowInsecure: true };
      expect(faultsOf([secret, make('Provider', 'custom', { ...spec, endpoint })])).toContainEqual(
        expect.stringContaining('spec.endpoint.url: must not be a link-local address'),
      );
    },
  );

  test.each(falsehoods)('a jurisdiction that is plainly false: %s %j', (slug, fields, where) => {
    expect(faultsOf([secret, make('Provider', slug, { ...spec, ...fields })])).toEqual([
      `Provider default/${slug}: spec.jurisdiction: is not where this address is served: it processes data ${where}`,
    ]);
  });

  test.each([
    ['AzureAD', '{"tenantId":"t","clientId":"c"}', 'tenantId, clientId, clientSecret'],
    ['AWSSigV4', 'AKIA-canary', 'accessKeyId, secretAccessKey'],
    ['AWSSigV4', '{"accessKeyId":"a","secretAccessKey":""}', 'accessKeyId, secretAccessKey'],
    ['GCPServiceAccount', 'null', 'client_email, private_key'],
  ])('a secret that cannot be what its type says: %s %s', (type, main, members) => {
    const own = { jurisdiction: 'US', credentials: [{ ...credentials[0], type }] };
    const sources = [
      makeCore('Secret', 'keys', { stringData: { main } }),
      make('Provider', 'groq', { ...spec, ...own }),
    ];
    expect(faultsOf(sources)).toEqual([
      `Provider default/groq: spec.credentials[0].secretKeyRef: must be a JSON object with ${members}`,
    ]);
  });

  test("a model's own jurisdiction is held to the same", () => {
    const models = [{ id: 'a' }, { id: 'b', jurisdiction: 'EU' }];
    expect(faultsOf([secret, make('Provider', 'openai', { ...spec, jurisdiction: 'US', models })])).toEqual([
      'Provider default/openai: spec.models[1].jurisdiction: is not where this address is served: it processes data in US',
    ]);
  });
});
