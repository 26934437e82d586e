import { describe, expect, test } from 'vitest';
import { compile, type CompiledSnapshot } from './compile.ts';
import { faultsOf, make, makeCore, sha256, snapshotOf, toSources, type TestResource } from './testing/resources.ts';
import type { ProviderConfig } from './snapshot.ts';

const acme = make('Organization', 'acme');
const bot = make('Workload', 'bot');
const key = make('VirtualKey', 'key');
const base = [acme, bot, key];

const secretKeyRef = { name: 'keys', key: 'main' };
const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef }];
const workloadPolicy = { targetRefs: [{ kind: 'Workload', name: 'bot' }] };
const term = (ref = secretKeyRef) => ({ dlp: { customTerms: [{ label: 'project', secretKeyRef: ref }] } });
const older = { creationTimestamp: '2026-01-01T00:00:00Z' };
const newer = { creationTimestamp: '2026-02-01T00:00:00Z' };

function only(snapshot: CompiledSnapshot) {
  const [virtualKey] = snapshot.keys.values();
  return virtualKey!.workload;
}

describe('what a snapshot holds', () => {
  test('a key leads to its workload, and the workload to its organization', () => {
    const snapshot = snapshotOf([
      make('Organization', 'acme', {
        timeZone: 'Europe/Berlin',
        cap: { amount: '500', period: 'Monthly' },
        messagesDefaultProvider: 'anthropic',
      }),
      make('Workload', 'bot', {
        limits: { requestsPerMinute: 60, tokensPerMinute: 9000 },
        budget: { amount: '12.5', period: 'Daily' },
        allowedModels: ['vendor/*'],
        onHangUp: 'Drain',
        answerTimeoutSeconds: 30,
      }),
      make('VirtualKey', 'key', { expiresAt: '2027-01-01T00:00:00+01:00', revoked: true }),
    ]);
    const found = snapshot.keys.get(sha256('key'));
    expect(found).toMatchObject({ id: 'default/key', revoked: true, expiresAt: Date.UTC(2026, 11, 31, 23) });
    expect(found?.workload).toMatchObject({
      id: 'default/bot',
      requestsPerMinute: 60,
      tokensPerMinute: 9000,
      budget: { amount: 12_500_000_000n, period: 'daily' },
      onHangUp: 'drain',
      policy: { answerTimeoutSeconds: 30, allowedModels: [{ models: ['vendor/*'], from: 'Workload default/bot' }] },
    });
    expect(found?.workload.organization).toBe(snapshot.organizations.get('default/acme'));
    expect(found?.workload.organization).toMatchObject({
      suspended: false,
      timeZone: 'Europe/Berlin',
      cap: { amount: 500_000_000_000n, period: 'monthly' },
      messagesDefaultProvider: 'anthropic',
    });
  });

  test('what is not given is absent', () => {
    const workload = only(snapshotOf(base));
    expect(workload).not.toHaveProperty('budget');
    expect(workload).not.toHaveProperty('requestsPerMinute');
    expect(workload.policy).not.toHaveProperty('allowedJurisdictions');
    expect(workload.organization).not.toHaveProperty('cap');
    expect(snapshotOf(base).keys.get(sha256('key'))).not.toHaveProperty('expiresAt');
  });

  test('a suspended organization stays, and says so', () => {
    expect(
      only(snapshotOf([make('Organization', 'acme', { state: 'Suspended' }), bot, key])).organization.suspended,
    ).toBe(true);
  });

  test('without a plan an organization is postpaid; a plan keeps its instants', () => {
    const planOf = (plan?: Readonly<Record<string, unknown>>) =>
      only(snapshotOf([make('Organization', 'acme', { ...(plan && { plan }) }), bot, key])).organization.plan;
    expect(planOf()).toBeUndefined();
    expect(planOf({})).toEqual({ type: 'postpaid' });
    expect(planOf({ type: 'Prepaid', activeFrom: '2026-01-01T01:00:00+01:00' })).toEqual({
      type: 'prepaid',
      activeFrom: Date.UTC(2026, 0, 1),
    });
    expect(planOf({ type: 'None' })).toEqual({ type: 'none' });
  });

  type Alerts = Readonly<Record<string, unknown>>;

  test('alerts: 80 and 100 per cent, else what the organization says, else what the workload says, ascending', () => {
    const percents = (organization: Alerts, workload: Alerts): readonly (readonly number[])[] => {
      const found = only(
        snapshotOf([make('Organization', 'acme', organization), make('Workload', 'bot', workload), key]),
      );
      return [found.organization.alertPercent, found.alertPercent];
    };
    const alerts = (...percent: number[]): Alerts => ({ alerts: { percent } });
    expect(percents({}, {})).toEqual([
      [80, 100],
      [80, 100],
    ]);
    expect(percents(alerts(90, 50), {})).toEqual([
      [50, 90],
      [50, 90],
    ]);
    expect(percents(alerts(90, 50), alerts())).toEqual([[50, 90], []]);
  });

  test('configurations are frozen', () => {
    const workload = only(snapshotOf([...base, make('Provider', 'vendor', { models: [{ id: 'one' }] })]));
    const { organization } = workload;
    const provider = organization.providers.get('vendor')!;
    for (const part of [
      workload,
      workload.policy,
      workload.policy.dlp,
      organization,
      provider,
      provider.models.get('one'),
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test('sources are not changed', () => {
    const sources = toSources([...base, make('Provider', 'vendor', { models: [{ id: 'one' }] })]);
    const before = structuredClone(sources);
    compile(sources, { usdToEur: '1' });
    expect(sources).toEqual(before);
  });
});

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

describe('secrets', () => {
  const provider = make('Provider', 'vendor', { protocol: 'Messages', credentials });
  const secretOf = (
    resources: readonly TestResource[],
    secretFile?: (namespace: string, name: string, key: string) => string | undefined,
  ) =>
    only(snapshotOf([...base, provider, ...resources], secretFile && { secretFile })).organization.providers.get(
      'vendor',
    )!.credentials[0]!.secret;
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test.each<readonly [string, Record<string, unknown>]>([
    ['stringData', { stringData: { main: 'sk-1' } }],
    ['data', { data: { main: base64('sk-1') } }],
    ['stringData before data', { data: { main: base64('old') }, stringData: { main: 'sk-1' } }],
    ['a line end at the end', { data: { main: base64('sk-1\n') } }],
    ['folded base64', { data: { main: `${base64('sk-1')}\n` } }],
  ])('%s', (_name, parts) => {
    expect(secretOf([makeCore('Secret', 'keys', parts)])).toBe('sk-1');
  });

  test('a Secret of the namespace comes before a file, a file before nothing', () => {
    const secret = makeCore('Secret', 'keys', { stringData: { main: 'sk-1' } });
    const file = (_namespace: string, name: string, key: string) => `file ${name} ${key}\n`;
    expect(secretOf([secret], file)).toBe('sk-1');
    expect(secretOf([], file)).toBe('file keys main');
    expect(secretOf([makeCore('Secret', 'other/keys', { stringData: { main: 'theirs' } })], file)).toBe(
      'file keys main',
    );
  });

  test('terms of policies are read too', () => {
    const secret = makeCore('Secret', 'keys', { stringData: { main: 'Project Heron' } });
    const policy = make('Policy', 'one', { defaults: term() });
    const { customTerms } = only(snapshotOf([...base, policy, secret])).policy.dlp;
    expect(customTerms).toEqual([{ label: 'project', term: 'Project Heron' }]);
  });
});

describe('prices', () => {
  const pricesOf = (book: TestResource, rate = '0.9') =>
    only(
      snapshotOf([make('Organization', 'acme', { priceBookRef: { name: 'book' } }), bot, key, book], {
        usdToEur: rate,
      }),
    ).organization.prices;
  const prices = [
    { model: 'vendor/*', input: '1', output: '3', cacheRead: '0.1', cacheWritePremium: '0.25' },
    { model: 'vendor/one', input: '0.000000001' },
    { model: 'vendor/one', unit: 'Page', input: '0.002' },
  ];

  test('rows by model as written, with every unit', () => {
    const found = pricesOf(make('PriceBook', 'book', { prices, effectiveFrom: '2026-01-01T00:00:00Z' }));
    const common = { book: 'default/book', effectiveFrom: Date.UTC(2026, 0, 1) };
    expect(found.get('vendor/*')).toEqual([
      {
        ...common,
        unit: 'million_tokens',
        input: 1_000_000_000n,
        output: 3_000_000_000n,
        cacheRead: 100_000_000n,
        cacheWritePremium: 250_000_000n,
      },
    ]);
    expect(found.get('vendor/one')).toEqual([
      { ...common, unit: 'million_tokens', input: 1n },
      { ...common, unit: 'page', input: 2_000_000n },
    ]);
  });

  test('dollars are converted, and rounded up', () => {
    const found = pricesOf(make('PriceBook', 'book', { prices, currency: 'USD' }), '0.8613');
    expect(found.get('vendor/*')?.[0]).toMatchObject({ input: 861_300_000n, output: 2_583_900_000n, effectiveFrom: 0 });
    expect(found.get('vendor/one')?.[0]?.input).toBe(1n);
  });

  test('dollars are converted by each rate from its date', () => {
    const dollars = (effectiveFrom: string) =>
      pricesOf(
        make('PriceBook', 'book', { prices: [{ model: 'a/b', input: '1' }], currency: 'USD', effectiveFrom }),
        '0.9,2026-12-01=0.8,2027-01-01=0.7',
      )
        .get('a/b')
        ?.map(({ effectiveFrom: from, input, usdToEur }) => [
          new Date(from).toISOString().slice(0, 10),
          input,
          usdToEur,
        ]);
    expect(dollars('2026-01-01T00:00:00Z')).toEqual([
      ['2026-01-01', 900_000_000n, '0.9'],
      ['2026-12-01', 800_000_000n, '0.8'],
      ['2027-01-01', 700_000_000n, '0.7'],
    ]);
    expect(dollars('2026-12-24T00:00:00Z')).toEqual([
      ['2026-12-24', 800_000_000n, '0.8'],
      ['2027-01-01', 700_000_000n, '0.7'],
    ]);
  });

  test('rows by service tier and size of input, beside the row that they deviate from', () => {
    const tiers = [
      { model: 'a/b', input: '1', output: '3', cacheWrite1h: '2', inputAudio: '5', outputImage: '7' },
      { model: 'a/b', input: '2', aboveInputTokens: 200_000 },
      { model: 'a/b', input: '0.5', serviceTier: 'Flex' },
      { model: 'a/b', input: '0.7', serviceTier: 'Flex', aboveInputTokens: 200_000 },
      { model: 'a/b', unit: 'Second', input: '0.001' },
    ];
    const common = { book: 'default/book', effectiveFrom: 0, unit: 'million_tokens' };
    expect(pricesOf(make('PriceBook', 'book', { prices: tiers })).get('a/b')).toEqual([
      {
        ...common,
        input: 1_000_000_000n,
        output: 3_000_000_000n,
        cacheWrite1h: 2_000_000_000n,
        inputAudio: 5_000_000_000n,
        outputImage: 7_000_000_000n,
      },
      { ...common, aboveInputTokens: 200_000, input: 2_000_000_000n },
      { ...common, serviceTier: 'flex', input: 500_000_000n },
      { ...common, serviceTier: 'flex', aboveInputTokens: 200_000, input: 700_000_000n },
      { ...common, unit: 'second', input: 1_000_000n },
    ]);
  });

  test.each([
    [
      [{ model: 'a/b', input: '1', serviceTier: 'Flex' }],
      'spec.prices[0]: needs a row for a/b without serviceTier and aboveInputTokens',
    ],
    [
      [
        { model: 'a/b', input: '1' },
        { model: 'a/b', input: '1', serviceTier: 'Priority', aboveInputTokens: 9 },
      ],
      'spec.prices[1]: needs a row for a/b with serviceTier Priority and without aboveInputTokens',
    ],
  ])('a tier without what it deviates from is a fault: %j', (rows, fault) => {
    expect(faultsOf([...base, make('PriceBook', 'book', { prices: rows })])).toEqual([
      `PriceBook default/book: ${fault}`,
    ]);
  });

  test('a book is of the namespace of the organization, and without one there are no prices', () => {
    expect(
      faultsOf([make('Organization', 'acme', { priceBookRef: { name: 'book' } }), make('PriceBook', 'other/book')]),
    ).toEqual(['Organization default/acme: spec.priceBookRef: there is no PriceBook default/book']);
    expect(only(snapshotOf([...base, make('PriceBook', 'book')])).organization.prices.size).toBe(0);
  });

  test('budgets of a dollar organization are converted, and rounded down', () => {
    const organization = make('Organization', 'acme', { currency: 'USD', cap: { amount: '10', period: 'Total' } });
    const workload = make('Workload', 'bot', { budget: { amount: '0.000000003', period: 'Daily' } });
    const found = only(snapshotOf([organization, workload, key], { usdToEur: '0.5' }));
    expect(found.organization.cap?.amount).toBe(5_000_000_000n);
    expect(found.budget?.amount).toBe(1n);
  });
});

describe('policies', () => {
  test('those of the organization and of the workload apply, across namespaces', () => {
    const organization = make('Organization', 'platform/acme', { workloadNamespaces: { from: 'All' } });
    const snapshot = snapshotOf([
      organization,
      make('Workload', 'bot', { organizationRef: { name: 'acme', namespace: 'platform' }, allowedModels: ['a/*'] }),
      key,
      make('Policy', 'platform/floor', {
        overrides: { dlp: { mode: 'Mask' }, residency: { allowedJurisdictions: ['EU', 'CH'] } },
        defaults: { answerTimeoutSeconds: 60, caching: { promptCache: 'Enabled' } },
      }),
      make('Policy', 'bot', {
        ...workloadPolicy,
        defaults: {
          dlp: { mode: 'AllowLog' },
          answerTimeoutSeconds: 90,
          residency: { allowedJurisdictions: ['CH', 'US'] },
          allowedModels: ['a/one'],
        },
      }),
    ]);
    expect(only(snapshot).policy).toMatchObject({
      dlp: { mode: 'mask' },
      allowedJurisdictions: new Set(['CH']),
      allowedModels: [{ models: ['a/*'] }, { models: ['a/one'] }],
      promptCache: true,
      answerTimeoutSeconds: 90,
    });
    const told = (field: string) =>
      only(snapshot)
        .policy.origins.filter((origin) => origin.field === field)
        .map(({ value, from }) => `${value} — ${from}`);
    expect(told('dlp.mode')).toEqual(['mask — Policy platform/floor (override)']);
    expect(told('caching.promptCache')).toEqual(['Enabled — Policy platform/floor (default)']);
    expect(told('answerTimeoutSeconds')).toEqual(['90 — Policy default/bot (workload)']);
    expect(told('allowedModels')).toEqual(['a/* — Workload default/bot', 'a/one — Policy default/bot (workload)']);
  });

  test('a shadow policy stands in for the enforced one of its target, in the shadow only', () => {
    const enforced = make('Policy', 'floor', { overrides: { dlp: { mode: 'Mask' }, answerTimeoutSeconds: 60 } });
    const own = make('Policy', 'own', {
      ...workloadPolicy,
      defaults: { dlp: { mode: 'AllowLog', documents: 'Refuse' } },
    });
    const shadow = make('Policy', 'next', { mode: 'Shadow', overrides: { dlp: { mode: 'Block' } } });
    const plain = only(snapshotOf([...base, enforced, own]));
    expect(plain).not.toHaveProperty('shadow');
    const watched = only(snapshotOf([...base, enforced, own, shadow]));
    expect(watched.policy).toEqual(plain.policy);
    // The workload's own policy is as it was; what the shadow does not say of the organization nobody says.
    expect(watched.shadow).toMatchObject({ dlp: { mode: 'block', documents: 'refuse' }, answerTimeoutSeconds: 300 });
    expect(watched.shadow?.origins[0]).toEqual({
      field: 'dlp.mode',
      value: 'block',
      from: 'Policy default/next (shadow override)',
    });
  });

  test('a shadow policy of a workload is watched beside the organization that is enforced', () => {
    const shadow = make('Policy', 'next', {
      ...workloadPolicy,
      mode: 'Shadow',
      defaults: { dlp: { mode: 'AllowLog' } },
    });
    const floor = make('Policy', 'floor', { overrides: { answerTimeoutSeconds: 60 } });
    const watched = only(snapshotOf([...base, floor, shadow]));
    expect(watched.shadow).toMatchObject({ dlp: { mode: 'allow_log' }, answerTimeoutSeconds: 60 });
    expect(watched.policy).toMatchObject({ dlp: { mode: 'tokenize' }, answerTimeoutSeconds: 60 });
  });

  test('of two shadows on one target the older holds too', () => {
    const shadow = (name: string) =>
      make('Policy', name, { mode: 'Shadow', defaults: { contentRetention: 'Enabled' } });
    expect(faultsOf([...base, shadow('b'), shadow('a')])).toEqual([
      'Policy default/b: spec.targetRefs[0]: Organization default/acme already has shadow Policy default/a',
    ]);
  });

  test('a policy applies in its namespace only', () => {
    const foreign = make('Policy', 'other/floor', { overrides: { dlp: { mode: 'Block' } } });
    expect(only(snapshotOf([...base, foreign, make('Organization', 'other/acme')])).policy.dlp.mode).toBe('tokenize');
  });

  test('of two on one target the older holds, then the one that sorts first', () => {
    const fault = (loser: string, winner: string) => [
      `Policy default/${loser}: spec.targetRefs[0]: Organization default/acme already has Policy default/${winner}`,
    ];
    expect(faultsOf([...base, make('Policy', 'a', {}, newer), make('Policy', 'b', {}, older)])).toEqual(
      fault('a', 'b'),
    );
    expect(faultsOf([...base, make('Policy', 'a'), make('Policy', 'b', {}, newer)])).toEqual(fault('a', 'b'));
    expect(faultsOf([...base, make('Policy', 'b', {}, older), make('Policy', 'a', {}, older)])).toEqual(
      fault('b', 'a'),
    );
  });

  test('one policy may have many targets, and targets of the same name but other kind do not meet', () => {
    const targetRefs = [
      { kind: 'Workload', name: 'bot' },
      { kind: 'Workload', name: 'acme' },
    ];
    const policies = [make('Policy', 'a'), make('Policy', 'b', { targetRefs })];
    expect(faultsOf([...base, make('Workload', 'acme'), ...policies])).toEqual([]);
  });
});

describe('namespaces of workloads', () => {
  const organization = (workloadNamespaces: unknown) => make('Organization', 'platform/acme', { workloadNamespaces });
  const workload = (namespace: string) =>
    make('Workload', `${namespace}/bot`, { organizationRef: { name: 'acme', namespace: 'platform' } });
  const selector = (matchLabels: Record<string, string>) =>
    organization({ from: 'Selector', selector: { matchLabels } });
  const team = makeCore('Namespace', 'team', {}, { labels: { tier: 'gold', unit: 'x' } });
  const fault = [
    'Workload team/bot: spec.organizationRef: Organization platform/acme does not accept workloads of namespace team',
  ];

  test.each<readonly [string, readonly TestResource[], readonly string[]]>([
    ['Same, same', [organization({}), workload('platform')], []],
    ['Same, other', [organization({}), workload('team')], fault],
    ['All', [organization({ from: 'All' }), workload('team')], []],
    ['Selector, matching', [selector({ tier: 'gold' }), workload('team'), team], []],
    ['Selector, one label of two', [selector({ tier: 'gold', unit: 'y' }), workload('team'), team], fault],
    ['Selector, namespace unknown', [selector({ tier: 'gold' }), workload('team')], fault],
    ['Selector by name', [selector({ 'kubernetes.io/metadata.name': 'team' }), workload('team')], []],
    ['Selector by another name', [selector({ 'kubernetes.io/metadata.name': 'other' }), workload('team')], fault],
    ['Selector, a label that every object inherits', [selector({ constructor: 'x' }), workload('team'), team], fault],
  ])('%s', (_name, resources, faults) => {
    expect(faultsOf(resources)).toEqual(faults);
  });

  test('a label cannot claim another name', () => {
    const liar = makeCore('Namespace', 'team', {}, { labels: { 'kubernetes.io/metadata.name': 'platform' } });
    expect(faultsOf([selector({ 'kubernetes.io/metadata.name': 'platform' }), workload('team'), liar])).toEqual(fault);
  });
});

describe('faults', () => {
  const missing = 'there is no Secret with this name and key';
  const secret = (parts: Record<string, unknown>) => makeCore('Secret', 'keys', parts);
  const provider = make('Provider', 'vendor', { credentials });

  test.each<readonly [string, readonly unknown[], readonly string[]]>([
    ['organizationRef', [bot], ['Workload default/bot: spec.organizationRef: there is no Organization default/acme']],
    ['workloadRef', [acme, key], ['VirtualKey default/key: spec.workloadRef: there is no Workload default/bot']],
    [
      'targetRefs',
      [make('Policy', 'a')],
      ['Policy default/a: spec.targetRefs[0]: there is no Organization default/acme'],
    ],
    [
      'targetRefs, workload',
      [make('Policy', 'a', workloadPolicy)],
      ['Policy default/a: spec.targetRefs[0]: there is no Workload default/bot'],
    ],
    ['secretKeyRef, no Secret', [provider], [`Provider default/vendor: spec.credentials[0].secretKeyRef: ${missing}`]],
    [
      'secretKeyRef, no key',
      [provider, secret({ stringData: { other: 'x' } })],
      [`Provider default/vendor: spec.credentials[0].secretKeyRef: ${missing}`],
    ],
    [
      'secretKeyRef, key that every object inherits',
      [
        make('Provider', 'vendor', {
          credentials: [{ ...credentials[0], secretKeyRef: { name: 'keys', key: 'constructor' } }],
        }),
        secret({ stringData: { a: 'x' } }),
      ],
      [`Provider default/vendor: spec.credentials[0].secretKeyRef: ${missing}`],
    ],
    [
      'secretKeyRef, empty',
      [provider, secret({ stringData: { main: '\n' } })],
      ['Provider default/vendor: spec.credentials[0].secretKeyRef: the secret is empty'],
    ],
    [
      'secretKeyRef of terms',
      [acme, make('Policy', 'a', { overrides: term() })],
      [`Policy default/a: spec.overrides.dlp.customTerms[0].secretKeyRef: ${missing}`],
    ],
    [
      'secretKeyRef of a tool server',
      [make('MCPServer', 'a', { auth: { type: 'Bearer', secretKeyRef } })],
      [`MCPServer default/a: spec.auth.secretKeyRef: ${missing}`],
    ],
    [
      'workloads of a tool server',
      [make('MCPServer', 'a', { workloads: ['bot'] })],
      ['MCPServer default/a: spec.workloads[0]: there is no Workload default/bot'],
    ],
    [
      'not base64',
      [secret({ data: { main: 'sk-1' } }), makeCore('Secret', 'b', { data: { x: 'gA==' } })],
      [
        'Secret default/keys: data["main"]: must be text in base64',
        'Secret default/b: data["x"]: must be text in base64',
      ],
    ],
    [
      'two of one name',
      [acme, make('Organization', 'default/acme')],
      ['Organization default/acme: : is defined twice, first in all.yaml'],
    ],
    [
      'two keys of one hash',
      [...base, make('VirtualKey', 'again', { hash: { value: sha256('key') } })],
      ['VirtualKey default/again: spec.hash.value: is already the hash of VirtualKey default/key'],
    ],
    [
      'two providers of one slug',
      [make('Provider', 'b', { slug: 's' }), make('Provider', 'a', { slug: 's' })],
      ['Provider default/b: spec.slug: is already the slug of Provider default/a'],
    ],
    [
      'two aliases of one id',
      [make('ModelAlias', 'a'), make('ModelAlias', 'b', { alias: 'gw/a' })],
      ['ModelAlias default/b: spec.alias: is already the alias of ModelAlias default/a'],
    ],
    [
      'a date that no clock shows',
      [...base.slice(0, 2), make('VirtualKey', 'key', { expiresAt: '2026-12-31T23:59:60Z' })],
      ['VirtualKey default/key: spec.expiresAt: must be a date and time, such as 2026-01-31T12:00:00Z'],
    ],
    [
      'a date with more after it',
      [...base.slice(0, 2), make('VirtualKey', 'key', { expiresAt: '2026-12-31T23:59:59Z[Europe/Berlin]' })],
      ['VirtualKey default/key: spec.expiresAt: must be a date and time, such as 2026-01-31T12:00:00Z'],
    ],
    [
      'a date in a price book',
      [make('PriceBook', 'a', { effectiveFrom: '2016-12-31T23:59:60Z' })],
      ['PriceBook default/a: spec.effectiveFrom: must be a date and time, such as 2026-01-31T12:00:00Z'],
    ],
    [
      'not an object',
      ['text', null, []],
      ['document 1: : is not an object', 'document 2: : is not an object', 'document 3: : is not an object'],
    ],
    [
      'an unknown kind',
      [
        { ...acme, kind: 'Organisation' },
        { ...acme, kind: 'toString' },
      ],
      [
        'document 1: kind: is not a kind that Gatewarden knows',
        'document 2: kind: is not a kind that Gatewarden knows',
      ],
    ],
    [
      'another version',
      [{ ...acme, apiVersion: 'gatewarden.dev/v2' }, bot],
      ['Organization default/acme: apiVersion: must be gatewarden.dev/v1alpha1'],
    ],
    ['no name', [{ ...acme, metadata: {} }], ['Organization (document 1): metadata.name: is required']],
    ['no metadata', [{ ...acme, metadata: undefined }], ['Organization (document 1): metadata: is required']],
    [
      'a name with a line end',
      [make('Workload', 'a\nb')],
      ['Workload (document 1): metadata.name: must be lower-case letters, digits, dashes and dots'],
    ],
    [
      'nesting without end',
      [{ ...acme, spec: nested(100_000) }],
      [
        'Organization default/acme: spec.contact.email: is required',
        'Organization default/acme: spec.contact.contact: is not a known field',
      ],
    ],
    [
      'a field that holds itself',
      [{ ...acme, spec: circular() }],
      [
        'Organization default/acme: spec.contact.email: is required',
        'Organization default/acme: spec.contact.contact: is not a known field',
      ],
    ],
  ])('%s', (_name, resources, faults) => {
    expect(faultsOf(resources)).toEqual(faults);
  });

  test('all of them at once, by file and in the order of the files', () => {
    const files = [
      ...toSources([make('Workload', 'bot', { answerTimeoutSeconds: 1, nope: 1 }), key], 'a.yaml'),
      ...toSources([make('Organization', 'acme', { priceBookRef: { name: 'book' } })], 'b.yaml'),
      ...toSources(
        [
          make('Provider', 'vendor', { credentials, slug: 'gw' }),
          make('VirtualKey', 'lost', { workloadRef: { name: 'x' } }),
        ],
        'c.yaml',
      ),
      ...toSources([make('Organization', 'acme', { state: 'Gone' })], 'd.yaml'),
    ];
    const { faults } = compile(files, { usdToEur: '0' });
    expect(faults?.map(({ file, object, field }) => [file, object, field])).toEqual([
      ['settings', '', 'usdToEur'],
      ['a.yaml', 'Workload default/bot', 'spec.nope'],
      ['a.yaml', 'Workload default/bot', 'spec.answerTimeoutSeconds'],
      ['b.yaml', 'Organization default/acme', 'spec.priceBookRef'],
      ['c.yaml', 'Provider default/vendor', 'spec.slug'],
      ['c.yaml', 'VirtualKey default/lost', 'spec.workloadRef'],
      ['d.yaml', 'Organization default/acme', ''],
      ['d.yaml', 'Organization default/acme', 'spec.state'],
    ]);
  });

  test('a reference to a resource that is itself at fault does not dangle', () => {
    const faulty = make('Organization', 'acme', { state: 'Gone' });
    expect(faultsOf([faulty, bot, key, make('Policy', 'a')])).toHaveLength(1);
    expect(faultsOf([acme, make('Workload', 'bot', { nope: 1 }), key])).toHaveLength(1);
  });

  test('with some sources unread, what is not there is no fault, but what is wrong is', () => {
    expect(faultsOf([bot, key, provider, make('VirtualKey', 'bad', { nope: 1 })], { incomplete: true })).toEqual([
      'VirtualKey default/bad: spec.nope: is not a known field',
    ]);
  });

  test('no fault holds a value, wherever a secret was put by mistake', () => {
    const canary = 'sk-canary-0123456789';
    const results = [
      make('Provider', 'vendor', {
        credentials: [{ name: canary, type: canary, secretKeyRef: canary, weight: canary }],
      }),
      make('Provider', 'vendor2', {
        credentials: [{ ...credentials[0], secretKeyRef: { name: canary, key: canary } }],
      }),
      make('Provider', 'vendor3', {
        slug: `${canary}!`,
        endpoint: { url: `https://${canary}@api.test` },
        jurisdiction: canary,
      }),
      make('VirtualKey', 'key', { hash: { value: canary, algorithm: canary }, hint: canary, expiresAt: canary }),
      make('Organization', 'acme', { contact: { email: canary }, timeZone: canary, currency: canary }),
      make('Organization', 'acme2', { timeZone: canary }),
      make('Policy', 'a', {
        defaults: { dlp: { customTerms: [{ label: 'x', secretKeyRef: { name: 'x', key: canary } }] } },
      }),
      makeCore('Secret', 'keys', { stringData: canary, data: { a: canary } }),
      makeCore('Secret', 'keys2', { stringData: { a: [canary] }, type: 5 }),
      makeCore('Secret', 'keys3', { data: { a: `${canary}!` } }),
      { apiVersion: canary, kind: 'Workload', metadata: { name: 'bot' } },
      { apiVersion: canary, kind: canary },
      canary,
    ];
    for (const resource of results) {
      const faults = faultsOf([resource], { secretFile: () => undefined });
      expect(faults.length).toBeGreaterThan(0);
      expect(JSON.stringify(faults)).not.toContain('canary');
    }
  });
});

describe('revision', () => {
  const provider = make('Provider', 'vendor', { credentials });
  const secret = (main: string, rest = {}) => makeCore('Secret', 'keys', { stringData: { main, ...rest } });
  const all = [...base, provider, secret('sk-1')];
  const revision = snapshotOf(all).revision;

  test('is a SHA-256, the same for the same resources in any order and any writing', () => {
    expect(revision).toMatch(/^[0-9a-f]{64}$/);
    expect(snapshotOf(all.toReversed()).revision).toBe(revision);
    const spelledOut = make(
      'Workload',
      'default/bot',
      { answerTimeoutSeconds: 300, onHangUp: 'Abort' },
      { labels: { a: 'b' } },
    );
    expect(snapshotOf([acme, spelledOut, key, provider, secret('sk-1')]).revision).toBe(revision);
    const otherWay = Object.fromEntries(Object.entries(provider['spec'] as object).toReversed());
    expect(snapshotOf([...base, { ...provider, spec: otherWay }, secret('sk-1', { unused: 'x' })]).revision).toBe(
      revision,
    );
  });

  test.each<readonly [string, readonly TestResource[], string]>([
    ['a field', [acme, make('Workload', 'bot', { onHangUp: 'Drain' }), key, provider, secret('sk-1')], '0.9'],
    ['a secret', [...base, provider, secret('sk-2')], '0.9'],
    ['a resource more', [...all, make('VirtualKey', 'two')], '0.9'],
    ['a resource less', [acme, bot, provider, secret('sk-1')], '0.9'],
    [
      'a name',
      [acme, bot, make('VirtualKey', 'renamed', { hash: { value: sha256('key') } }), provider, secret('sk-1')],
      '0.9',
    ],
    ['the rate', all, '0.91'],
  ])('changes with %s', (_name, resources, usdToEur) => {
    expect(snapshotOf(resources, { usdToEur }).revision).not.toBe(revision);
  });
});

test('counts what it compiled', () => {
  const result = compile(toSources([...base, make('VirtualKey', 'two')]), { usdToEur: '1' });
  expect(result.counts).toMatchObject({ Organization: 1, Workload: 1, VirtualKey: 2, Provider: 0 });
});

test('ten thousand keys in a thousand workloads compile, each to its own workload', () => {
  const workloads = Array.from({ length: 1000 }, (_, index) => make('Workload', `w${index}`));
  const keys = Array.from({ length: 10_000 }, (_, index) =>
    make('VirtualKey', `k${index}`, { workloadRef: { name: `w${index % 1000}` } }),
  );
  const snapshot = snapshotOf([acme, ...workloads, ...keys]);
  expect(snapshot.keys.size).toBe(10_000);
  expect(snapshot.keys.get(sha256('k4321'))?.workload.id).toBe('default/w321');
});

function circular(): unknown {
  const value: Record<string, unknown> = {};
  value['contact'] = value;
  return value;
}

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < depth; level++) value = { contact: value };
  return value;
}
