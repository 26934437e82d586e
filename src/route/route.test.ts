import { describe, expect, test } from 'vitest';
import { make, makeCore, sha256, snapshotOf, type TestResource } from '#/config/testing/resources.ts';
import { Stopped } from '#/call/facts.ts';
import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import type { Router, RouterVerdict } from '#/ports/local-models.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import { embeddingsCodec } from '#/wire/embeddings/codec.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { ocrCodec } from '#/wire/ocr/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { PLAIN_TOKENS } from './alias-order.ts';
import type { Target } from '#/call/target.ts';
import { routeCall, routePassthrough, type RoutingDeps } from './route.ts';
import { DEPS, questionOf } from '../../test/harness/routing-question.ts';

const SECRET = makeCore('Secret', 'keys', { stringData: { key: 'k' } });
const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'key' } }];

function keyOf(...resources: readonly TestResource[]): VirtualKeyConfig {
  const base = [make('Organization', 'acme', { priceBookRef: { name: 'prices' } }), make('Workload', 'bot'), SECRET];
  const prices = make('PriceBook', 'prices', {
    prices: [
      { model: 'a/dear', input: '9', output: '9' },
      { model: 'a/cheap', input: '1', output: '1' },
      { model: 'a/mid', input: '5', output: '5' },
    ],
  });
  return snapshotOf([
    ...base,
    ...(resources.some(({ kind }) => kind === 'PriceBook') ? [] : [prices]),
    make('VirtualKey', 'key', { hash: { value: sha256('key') } }),
    ...resources,
  ]).keys.get(sha256('key'))!;
}

const MODELS = [
  { id: 'dear' },
  { id: 'cheap' },
  { id: 'mid', vision: true, contextTokens: 100_000 },
  { id: 'blind', vision: false },
  { id: 'small', contextTokens: 100 },
  { id: 'unpriced' },
];
const A = make('Provider', 'a', { models: MODELS, onlyListedModels: true });
const policy = (defaults: object, more: object = {}) =>
  make('Policy', 'policy', { defaults, targetRefs: [{ kind: 'Workload', name: 'bot' }], ...more });
const alias = (spec: object) => make('ModelAlias', 'auto', { alias: 'gw/auto', ...spec });
const targets = (...models: string[]) => models.map((model, priority) => ({ model, priority }));
const auto = (models: readonly string[], routes: readonly object[] = [{ task: 'code', model: 'a/dear' }]) =>
  alias({ strategy: 'Auto', targets: targets(...models), auto: { routes } });

interface Routed {
  readonly ids: readonly string[];
  readonly targets: readonly Target[];
  readonly route: readonly string[];
  readonly shadow: readonly string[];
}

async function route(
  key: VirtualKeyConfig,
  body: object,
  codec: Codec = chatCodec,
  deps: RoutingDeps = DEPS,
): Promise<Routed> {
  const call = { ...questionOf(key, codec, body), signal: new AbortController().signal };
  const found = await routeCall(call, deps).catch((thrown: unknown) => {
    throw thrown instanceof Stopped ? thrown.cause : thrown;
  });
  return {
    ids: found.targets.map(({ provider, model }) => `${provider.config.slug}/${model}`),
    targets: found.targets,
    route: found.route,
    shadow: found.shadow.map(({ field, text }) => `${field}: ${text}`),
  };
}

const ask = (model: string, more: object = {}) => ({ model, messages: [{ role: 'user', content: 'Hello' }], ...more });
const TOOLS = { tools: [{ type: 'function', function: { name: 'mail', parameters: { type: 'object' } } }] };
const IMAGE = {
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }],
};
const SCHEMA = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } };

describe('what is written down', () => {
  test('of a pinned model: family, mode and place', async () => {
    expect((await route(keyOf(A), ask('a/cheap'))).route).toEqual(['a/cheap: selected: chat, verbatim, in EU']);
    const body = { ...ask('a/cheap'), max_tokens: 5 };
    expect((await route(keyOf(A), body, messagesCodec)).route).toEqual(['a/cheap: selected: chat, translated, in EU']);
  });

  test('of a refusal: who refused, in the row and to the client', async () => {
    const key = keyOf(A, policy({ allowedModels: ['a/mid'] }));
    const call = { ...questionOf(key, chatCodec, ask('a/cheap')), signal: new AbortController().signal };
    await expect(routeCall(call, DEPS)).rejects.toMatchObject({
      cause: {
        code: 'permission_denied',
        message: 'The model is not on the allow-list of Policy default/policy (workload).',
      },
      facts: { route: ['a/cheap: refused: not on the allow-list of Policy default/policy (workload)'] },
    });
  });

  test('of several: everything that was tried, policy before configuration', async () => {
    const abroad = make('Provider', 'us', { jurisdiction: 'US' });
    const key = keyOf(
      A,
      abroad,
      policy({ residency: { allowedJurisdictions: ['CH', 'FR'] } }),
      alias({ strategy: 'Failover', targets: targets('gone/x', 'us/m', 'a/cheap') }),
    );
    await expect(route(key, ask('gw/auto'))).rejects.toMatchObject({
      status: 403,
      code: 'residency_denied',
      message:
        'No allowed jurisdiction serves this request: us is in US, allowed are CH, FR (Policy default/policy (workload)). ' +
        'Tried: gone/x (no provider with this name is configured for the organization), ' +
        'us/m (in US, allowed are CH, FR (Policy default/policy (workload))), ' +
        'a/cheap (in EU, allowed are CH, FR (Policy default/policy (workload))).',
    });
  });

  test('a long list of what was tried is cut', async () => {
    const models = Array.from({ length: 12 }, (_, at) => `a/none-${at}`);
    const key = keyOf(A, alias({ strategy: 'Failover', targets: targets(...models) }));
    await expect(route(key, ask('gw/auto'))).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringMatching(/a\/none-7 \([^)]*\) and 4 more\.$/) as string,
    });
  });
});

describe('an automatic alias without a router', () => {
  const models = ['a/dear', 'a/mid', 'a/cheap', 'a/unpriced'];

  test('gives a plain request to the cheapest', async () => {
    const { ids, route: told } = await route(keyOf(A, auto(models)), ask('gw/auto'));
    expect(ids).toEqual(['a/cheap', 'a/mid', 'a/dear', 'a/unpriced']);
    expect(told[0]).toBe('gw/auto: automatic: a simple request, cheapest first');
  });

  test.each([
    ['tools', TOOLS, 'a request with tools, by priority'],
    ['an image', IMAGE, 'a request with images, by priority'],
    ['JSON mode', { response_format: { type: 'json_object' } }, 'a request with JSON, by priority'],
    ['a schema', SCHEMA, 'a request with a JSON schema, by priority'],
    [
      'a large prompt',
      { messages: [{ role: 'user', content: 'x'.repeat(4 * PLAIN_TOKENS) }] },
      'not a small request, by priority',
    ],
  ])('goes by priority for %s', async (_name, more, told) => {
    const { ids, route: lines } = await route(keyOf(A, auto(models)), ask('gw/auto', more));
    expect(ids).toEqual(models);
    expect(lines[0]).toBe(`gw/auto: automatic: ${told}`);
  });

  test('decides the same each time, equals in the order of the resource', async () => {
    const book = make('PriceBook', 'prices', { prices: [{ model: 'a/*', input: '1', output: '1' }] });
    const key = keyOf(A, book, auto(['a/mid', 'a/cheap', 'a/dear']));
    for (let times = 0; times < 5; times++) {
      expect((await route(key, ask('gw/auto'))).ids).toEqual(['a/mid', 'a/cheap', 'a/dear']);
    }
  });

  test('matches no route that only the router could match, but keeps its model as the last resort', async () => {
    const key = keyOf(
      A,
      auto(
        ['a/mid'],
        [
          { task: 'code', model: 'a/dear' },
          { maxComplexity: 3, model: 'a/cheap' },
        ],
      ),
    );
    expect((await route(key, ask('gw/auto'))).ids).toEqual(['a/mid', 'a/dear', 'a/cheap']);
    const open = keyOf(A, auto(['a/mid'], [{ model: 'a/dear' }]));
    expect((await route(open, ask('gw/auto'))).ids).toEqual(['a/dear', 'a/mid']);
  });

  test('is reached on every surface, also where bodies stream by', async () => {
    const key = keyOf(A, auto(['a/dear', 'a/cheap']));
    expect((await route(key, { model: 'gw/auto', input: 'Hello' }, responsesCodec)).ids).toHaveLength(2);
    expect((await route(key, { model: 'gw/auto', input: 'Hello' }, embeddingsCodec)).ids).toHaveLength(2);
    const call = { key, provider: undefined, ownKeyOnly: false, startedAt: 0 } as Parameters<
      typeof routePassthrough
    >[0];
    const { targets: found, route: lines } = routePassthrough(call, 'gw/auto', DEPS);
    expect(found[0].model).toBe('dear');
    expect(lines).toEqual([
      'gw/auto: automatic: not a small request, by priority',
      'a/dear: selected: passed on, in EU',
      'a/cheap: skipped: a body that streams can be sent only once',
    ]);
  });
});

describe('an automatic alias with a router', () => {
  const router = (verdict: RouterVerdict | undefined | Error, seen: string[] = []): RoutingDeps => ({
    ...DEPS,
    router: {
      judge: async ({ turns }) => {
        seen.push(JSON.stringify(turns));
        if (verdict instanceof Error) throw verdict;
        return verdict;
      },
    } satisfies Router,
  });
  const FAST = { route: 'fast', demand: 'low' } as const;
  const routes = [
    { task: 'code', maxComplexity: 1, model: 'a/cheap' },
    { task: 'code', model: 'a/dear' },
    { maxComplexity: 0, model: 'a/blind' },
  ];
  const key = keyOf(A, auto(['a/mid'], routes));

  test.each([
    [{ task: 'code', complexity: 1, ...FAST }, 'a/cheap'],
    [{ task: 'code', complexity: 2, ...FAST }, 'a/dear'],
    [{ task: 'writing', complexity: 0, ...FAST }, 'a/blind'],
    [{ task: 'writing', complexity: 1, ...FAST }, 'a/mid'],
    [undefined, 'a/mid'],
    [new Error('busy'), 'a/mid'],
  ])('%j leads to %s', async (verdict, first) => {
    expect((await route(key, ask('gw/auto'), chatCodec, router(verdict))).ids[0]).toBe(first);
  });

  test('is told what it decided', async () => {
    const { route: told } = await route(
      key,
      ask('gw/auto'),
      chatCodec,
      router({ task: 'code', complexity: 2, ...FAST }),
    );
    expect(told[0]).toBe(
      'gw/auto: automatic: the router reports code, complexity 2, fast; first the route to a/dear, then a simple request, cheapest first',
    );
  });

  test.each([
    ['fast', 'a/cheap'],
    ['balanced', 'a/dear'],
    ['reasoning', 'a/dear'],
  ] as const)('a small request that is %s goes to %s first', async (decided, first) => {
    const book = make('PriceBook', 'prices', {
      prices: [
        { model: 'a/dear', input: '9', output: '9' },
        { model: 'a/cheap', input: '1', output: '1' },
      ],
    });
    const both = keyOf(A, book, auto(['a/dear', 'a/cheap']));
    const verdict = { task: 'support', complexity: 1, route: decided, demand: 'low' } as const;
    expect((await route(both, ask('gw/auto'), chatCodec, router(verdict))).ids[0]).toBe(first);
  });

  test('is asked for automatic aliases only', async () => {
    const seen: string[] = [];
    await route(key, ask('a/mid'), chatCodec, router(undefined, seen));
    await route(
      keyOf(A, alias({ strategy: 'Weighted', targets: targets('a/mid') })),
      ask('gw/auto'),
      chatCodec,
      router(undefined, seen),
    );
    expect(seen).toEqual([]);
    await route(key, ask('gw/auto'), chatCodec, router(undefined, seen));
    expect(seen).toEqual([expect.stringContaining('Hello')]);
  });
});

test('gw/auto is there where the organization has it, and nowhere else', async () => {
  await expect(route(keyOf(A), ask('gw/auto'))).rejects.toMatchObject({ code: 'model_not_found', status: 404 });
});

test.each([
  ['gw/typed', chatCodec, ask('gw/typed')],
  ['gw/typed/router', chatCodec, ask('gw/typed/router')],
  ['gw/ocr', ocrCodec, { model: 'gw/ocr', document: { type: 'document_url', document_url: 'https://a.test/b.pdf' } }],
])("an organization's own %s goes before the local model of the name", async (name, codec, body) => {
  const own = make('ModelAlias', 'own', { alias: name, strategy: 'Failover', targets: targets('a/mid') });
  expect((await route(keyOf(A, own), body, codec)).ids).toEqual(['a/mid']);
});

describe('a model that can do less', () => {
  const failover = (...models: string[]) => alias({ strategy: 'Failover', targets: targets(...models) });

  test('is left out where another can do it, and says why', async () => {
    const { ids, route: told } = await route(keyOf(A, failover('a/blind', 'a/mid', 'a/cheap')), ask('gw/auto', IMAGE));
    expect(ids).toEqual(['a/mid', 'a/cheap']);
    expect(told).toEqual([
      'gw/auto: by priority',
      'a/blind: skipped: it takes no images, but another does',
      'a/mid: selected: chat, verbatim, in EU',
      'a/cheap: selected: chat, verbatim, in EU',
    ]);
  });

  test('stays for what it can do, where no other can, and where the other is not allowed', async () => {
    expect((await route(keyOf(A, failover('a/blind', 'a/mid')), ask('gw/auto'))).ids).toEqual(['a/blind', 'a/mid']);
    expect((await route(keyOf(A, failover('a/blind')), ask('gw/auto', IMAGE))).ids).toEqual(['a/blind']);
    const denied = policy({ allowedModels: ['a/blind', 'a/mid'] });
    const seeing = keyOf(A, denied, failover('a/blind', 'a/dear'));
    expect((await route(seeing, ask('gw/auto', IMAGE))).ids).toEqual(['a/blind']);
    expect((await route(keyOf(A), ask('a/blind', IMAGE))).ids).toEqual(['a/blind']);
  });

  test('is one whose context is too small', async () => {
    const key = keyOf(A, failover('a/small', 'a/mid'));
    expect((await route(key, ask('gw/auto'))).ids).toEqual(['a/small', 'a/mid']);
    const { ids, route: told } = await route(key, ask('gw/auto', { max_tokens: 90 }));
    expect(ids).toEqual(['a/mid']);
    expect(told[1]).toBe('a/small: skipped: it holds 100 tokens, but another does');
  });

  test('is one that lacks more than another, where all lack something', async () => {
    const both = keyOf(A, failover('a/blind', 'a/small'));
    const large = { ...IMAGE, max_tokens: 200 };
    expect((await route(both, ask('gw/auto', large))).ids).toEqual(['a/blind', 'a/small']);
  });
});

describe('residency', () => {
  const EU = { residency: { allowedJurisdictions: ['US'] } };
  const claude = make('Provider', 'anthropic', {
    protocol: undefined,
    endpoint: undefined,
    jurisdiction: 'US',
    credentials,
  });
  const body = { model: 'claude-opus-4-6', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] };

  test('knows that the messages vendor takes the place from the request', async () => {
    const key = keyOf(claude, policy(EU));
    for (const inference_geo of [undefined, null, 'us', 'US']) {
      expect((await route(key, { ...body, inference_geo }, messagesCodec)).ids).toEqual(['anthropic/claude-opus-4-6']);
    }
    for (const inference_geo of ['global', 'eu', 1, {}]) {
      await expect(route(key, { ...body, inference_geo }, messagesCodec)).rejects.toMatchObject({
        code: 'residency_denied',
      });
    }
    expect((await route(keyOf(claude), { ...body, inference_geo: 'global' }, messagesCodec)).ids).toHaveLength(1);
  });

  test('knows that a profile of a cloud leaves the region it is asked in', async () => {
    const secret = makeCore('Secret', 'aws', { stringData: { key: '{"accessKeyId":"a","secretAccessKey":"b"}' } });
    const aws = make('Provider', 'aws', {
      protocol: undefined,
      vendor: 'bedrock',
      endpoint: undefined,
      region: 'eu-central-1',
      jurisdiction: 'DE',
      credentials: [{ name: 'main', type: 'AWSSigV4', secretKeyRef: { name: 'aws', key: 'key' } }],
    });
    const key = keyOf(aws, secret, policy({ residency: { allowedJurisdictions: ['EU'] } }));
    expect((await route(key, ask('aws/amazon.nova-lite-v1:0'))).route).toEqual([
      'aws/amazon.nova-lite-v1:0: selected: converse, translated, in DE',
    ]);
    expect((await route(key, ask('aws/eu.amazon.nova-lite-v1:0'))).ids).toHaveLength(1);
    await expect(route(key, ask('aws/global.amazon.nova-lite-v1:0'))).rejects.toMatchObject({
      message: expect.stringContaining('aws is in GLOBAL, allowed are EU') as string,
    });
  });
});

describe('a policy in shadow mode', () => {
  const shadow = (defaults: object) =>
    make('Policy', 'next', { mode: 'Shadow', targetRefs: [{ kind: 'Workload', name: 'bot' }], defaults });

  test('says what it would have refused, and whose rule it is', async () => {
    const key = keyOf(A, shadow({ residency: { allowedJurisdictions: ['CH'] } }));
    const { ids, shadow: told } = await route(key, ask('a/mid'));
    expect(ids).toEqual(['a/mid']);
    expect(told).toEqual([
      'residency.allowedJurisdictions: a/mid would be refused: in EU, allowed are CH (Policy default/next (shadow workload))',
      'residency.allowedJurisdictions: the call would be refused',
    ]);
  });

  test('says what it would not have refused', async () => {
    const key = keyOf(A, policy({ allowedModels: ['a/mid'] }), shadow({ allowedModels: ['a/*'] }));
    const call = { ...questionOf(key, chatCodec, ask('a/cheap')), signal: new AbortController().signal };
    await expect(routeCall(call, DEPS)).rejects.toMatchObject({
      cause: { code: 'permission_denied' },
      facts: { shadow: [{ field: 'allowedModels', text: 'a/cheap would not be refused' }] },
    });
  });

  test('is silent where it agrees', async () => {
    const key = keyOf(A, shadow({ allowedModels: ['a/*'], residency: { allowedJurisdictions: ['EU'] } }));
    expect((await route(key, ask('a/mid'))).shadow).toEqual([]);
  });

  test('judges the same draw of a weighted alias', async () => {
    const weighted = alias({ strategy: 'Weighted', targets: targets('a/dear', 'a/mid', 'a/cheap') });
    const key = keyOf(A, weighted, shadow({ allowedModels: ['a/*'] }));
    for (let times = 0; times < 20; times++) expect((await route(key, ask('gw/auto'))).shadow).toEqual([]);
  });
});
