import { describe, expect, test } from 'vitest';
import type { PolicyFragment } from '../resources/policy-fragment.ts';
import type { ResolvedPolicy } from '../snapshot.ts';
import { mergePolicy, type PolicySubject } from './policy-merge.ts';

interface Layers {
  readonly overrides?: PolicyFragment;
  readonly workload?: PolicyFragment;
  readonly defaults?: PolicyFragment;
}

function merge(layers: Layers, workload: Partial<PolicySubject> = {}): ResolvedPolicy {
  const layer = (from: string, fragment: PolicyFragment | undefined) => {
    if (!fragment) return undefined;
    const terms = fragment.dlp?.customTerms?.map(({ label }) => ({ label, term: `term of ${label}` }));
    return { fragment, from, ...(terms && { customTerms: terms }) };
  };
  const overrides = layer('overrides', layers.overrides);
  const defaults = layer('defaults', layers.defaults);
  const own = layer('own', layers.workload);
  return mergePolicy(
    { id: 'acme/bot', answerTimeoutSeconds: 300, ...workload },
    { ...(overrides && { overrides }), ...(defaults && { defaults }) },
    own && { defaults: own },
  );
}

const term = (label: string) => ({ dlp: { customTerms: [{ label, secretKeyRef: { name: 'terms', key: label } }] } });
const keep = { contentRetention: 'Enabled' } as const;

/** Three values of each field, as a fragment says it and as it shows in the resolved policy. */
const FIELDS: Readonly<Record<string, readonly (readonly [PolicyFragment, unknown])[]>> = {
  'dlp.mode': [
    [{ dlp: { mode: 'Block' } }, 'block'],
    [{ dlp: { mode: 'AllowLog' } }, 'allow_log'],
    [{ dlp: { mode: 'Mask' } }, 'mask'],
  ],
  'dlp.documents': [
    [{ dlp: { documents: 'Refuse' } }, 'refuse'],
    [{ dlp: { documents: 'Off' } }, 'off'],
    [{ dlp: { documents: 'Anonymize' } }, 'anonymize'],
  ],
  'dlp.entities': [
    [{ dlp: { entities: ['email'] } }, new Set(['EMAIL'])],
    [{ dlp: { entities: ['person_name', 'iban'] } }, new Set(['PERSON_NAME', 'IBAN'])],
    [{ dlp: { entities: ['secret'] } }, new Set(['SECRET'])],
  ],
  'dlp.customTerms': [
    [term('one'), [{ label: 'one', term: 'term of one' }]],
    [term('two'), [{ label: 'two', term: 'term of two' }]],
    [term('three'), [{ label: 'three', term: 'term of three' }]],
  ],
  promptCache: [
    [{ caching: { promptCache: 'Enabled' } }, true],
    [{ caching: { promptCache: 'Disabled' } }, false],
    [{ caching: { promptCache: 'Enabled' } }, true],
  ],
  contentRetention: [
    [{ contentRetention: 'Enabled' }, true],
    [{ contentRetention: 'Disabled' }, false],
    [{ contentRetention: 'Enabled' }, true],
  ],
  contentRetentionDays: [
    [{ contentRetentionDays: 1 }, 1],
    [{ contentRetentionDays: 7 }, 7],
    [{ contentRetentionDays: 365 }, 365],
  ],
  responseCache: [
    [
      { ...keep, caching: { responseCache: { mode: 'Enabled', ttlSeconds: 1 } } },
      { enabled: true, ttlSeconds: 1 },
    ],
    [
      { ...keep, caching: { responseCache: { mode: 'Disabled', ttlSeconds: 2 } } },
      { enabled: false, ttlSeconds: 2 },
    ],
    [
      { ...keep, caching: { responseCache: { mode: 'Enabled', ttlSeconds: 3 } } },
      { enabled: true, ttlSeconds: 3 },
    ],
  ],
  scopeGuard: [
    [{ scopeGuard: { mode: 'Block', scope: 'tax' } }, { mode: 'block', scope: 'tax' }],
    [{ scopeGuard: { mode: 'Off', scope: 'ignored' } }, { mode: 'off' }],
    [{ scopeGuard: { mode: 'Monitor', scope: 'law' } }, { mode: 'monitor', scope: 'law' }],
  ],
  answerTimeoutSeconds: [
    [{ answerTimeoutSeconds: 10 }, 10],
    [{ answerTimeoutSeconds: 20 }, 20],
    [{ answerTimeoutSeconds: 30 }, 30],
  ],
};

function read(policy: ResolvedPolicy, field: string): unknown {
  return field.split('.').reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], policy);
}

describe('precedence', () => {
  const cases = Object.entries(FIELDS).flatMap(([field, values]) =>
    // Every assignment of the three values to the three layers, so that a layer cannot win by its value.
    [
      [0, 1, 2],
      [1, 2, 0],
      [2, 0, 1],
      [1, 0, 2],
    ].map((order) => [field, order.map((at) => values[at]!)] as const),
  );
  test.each(cases)('%s: overrides, then workload, then defaults (%j)', (field, [strong, middle, weak]) => {
    const overrides = strong![0];
    const workload = middle![0];
    const defaults = weak![0];
    expect(read(merge({ overrides, workload, defaults }), field)).toEqual(strong![1]);
    expect(read(merge({ workload, defaults }), field)).toEqual(middle![1]);
    expect(read(merge({ overrides, defaults }), field)).toEqual(strong![1]);
    expect(read(merge({ defaults }), field)).toEqual(weak![1]);
    expect(read(merge({ workload }), field)).toEqual(middle![1]);
  });

  test('fields are taken one by one: a layer that says one thing leaves the rest to the others', () => {
    const policy = merge({
      overrides: { dlp: { mode: 'Mask' } },
      workload: { dlp: { mode: 'AllowLog', documents: 'Refuse' }, caching: { promptCache: 'Enabled' } },
      defaults: { dlp: { documents: 'Anonymize', entities: ['email'] }, answerTimeoutSeconds: 60 },
    });
    expect(policy).toMatchObject({
      dlp: { mode: 'mask', documents: 'refuse', entities: new Set(['EMAIL']) },
      promptCache: true,
      answerTimeoutSeconds: 60,
    });
  });

  test('rules of restoring and hosts that may hold restored values merge separately, each list whole', () => {
    const policy = merge({
      overrides: { dlp: { restore: [{ tool: 'fetch', mode: 'Never' }] } },
      workload: { dlp: { restore: [{ tool: '*', mode: 'Always' }], restoreHosts: ['*.corp.example'] } },
      defaults: { dlp: { restoreHosts: ['evil.example'] } },
    });
    expect(policy.dlp.restore).toEqual({ tools: [{ tool: 'fetch', mode: 'never' }], hosts: ['*.corp.example'] });
    expect(policy.origins).toContainEqual(expect.objectContaining({ field: 'dlp.restore', value: 'fetch never' }));
  });

  test('a mode of the scope guard never meets the scope of another layer', () => {
    const overrides: PolicyFragment = { scopeGuard: { mode: 'Off' } };
    expect(merge({ overrides, workload: { scopeGuard: { mode: 'Block', scope: 'tax' } } }).scopeGuard).toEqual({
      mode: 'off',
    });
  });
});

test('without a policy, personal data is tokenized and every opt-in is off', () => {
  const { origins, ...policy } = merge({}, { answerTimeoutSeconds: 45 });
  expect(policy).toEqual({
    dlp: { mode: 'tokenize', documents: 'off', images: 'pass', customTerms: [] },
    toolDlp: { internal: 'tokenize', external: 'tokenize', results: 'allow_log' },
    allowedModels: [],
    allowedTools: [],
    toolsToApprove: [],
    providerSideTools: new Set(),
    passthrough: new Set(['fim', 'score', 'uploads']),
    promptCache: false,
    estimatesPrices: false,
    responseCache: { enabled: false, ttlSeconds: 3600 },
    contentRetention: false,
    contentRetentionDays: 30,
    scopeGuard: { mode: 'off' },
    answerTimeoutSeconds: 45,
  });
  expect(origins.map(({ field, value, from }) => `${field}: ${value} — ${from}`)).toEqual([
    'dlp.mode: tokenize — built-in',
    'dlp.documents: off — built-in',
    'dlp.images: pass — built-in',
    'dlp.entities: all — built-in',
    'dlp.customTerms: none — built-in',
    'dlp.restore: known_targets — built-in',
    'dlp.restoreHosts: none — built-in',
    'dlp.tools.internal: tokenize — built-in',
    'dlp.tools.external: tokenize — built-in',
    'dlp.tools.results: allow_log — built-in',
    'allowedModels: all — built-in',
    'allowedTools: all — built-in',
    'toolsToApprove: none — built-in',
    'residency.allowedJurisdictions: all — built-in',
    'contentRetention: Disabled — built-in',
    'providerSideTools: none — built-in',
    'passthrough: fim, score, uploads — built-in',
    'caching.promptCache: Disabled — built-in',
    'price: Known — built-in',
    'caching.responseCache.mode: Disabled — built-in',
    'caching.responseCache.ttlSeconds: 3600 — built-in',
    'contentRetentionDays: 30 — built-in',
    'scopeGuard.mode: off — built-in',
    'answerTimeoutSeconds: 45 — Workload acme/bot',
  ]);
});

describe('origins', () => {
  const originsOf = (policy: ResolvedPolicy, field: string): readonly string[] =>
    policy.origins.filter((origin) => origin.field === field).map(({ value, from }) => `${value} — ${from}`);

  test.each(Object.entries(FIELDS))('%s is listed with the layer that decided it', (field, [one, two, three]) => {
    const name = { promptCache: 'caching.promptCache', responseCache: 'caching.responseCache.mode' }[field] ?? field;
    const at = name === 'scopeGuard' ? 'scopeGuard.mode' : name;
    const layers = { overrides: one![0], workload: two![0], defaults: three![0] };
    const fromOf = (given: Layers): string => originsOf(merge(given), at)[0]!.split(' — ')[1]!;
    expect(fromOf(layers)).toBe('overrides');
    expect(fromOf({ workload: two![0], defaults: three![0] })).toBe('own');
    expect(fromOf({ defaults: three![0] })).toBe('defaults');
  });

  test('lists appear once per layer, since all of them hold', () => {
    const at = (place: string) => ({ residency: { allowedJurisdictions: [place] }, allowedModels: [`${place}/*`] });
    const policy = merge(
      { overrides: at('EU'), workload: at('DE'), defaults: at('FR') },
      { id: 'acme/bot', allowedModels: ['a/*', 'b/*'] },
    );
    expect(originsOf(policy, 'allowedModels')).toEqual([
      'a/*, b/* — Workload acme/bot',
      'EU/* — overrides',
      'DE/* — own',
      'FR/* — defaults',
    ]);
    expect(originsOf(policy, 'residency.allowedJurisdictions')).toEqual([
      'EU — overrides',
      'DE — own',
      'FR — defaults',
    ]);
  });

  test('terms appear by their labels, never as such', () => {
    const policy = merge({ workload: term('falcon') });
    expect(originsOf(policy, 'dlp.customTerms')).toEqual(['falcon — own']);
  });
});

test('an override that withdraws retention withdraws the response cache with it', () => {
  const workload: PolicyFragment = { ...keep, caching: { responseCache: { mode: 'Enabled' } } };
  expect(merge({ workload }).responseCache.enabled).toBe(true);
  expect(merge({ workload, overrides: { contentRetention: 'Disabled' } }).responseCache.enabled).toBe(false);
});

test('an empty list of entities does not switch detection off', () => {
  expect(merge({ workload: { dlp: { entities: [] } } }).dlp).not.toHaveProperty('entities');
});

test('tools of providers are those that every list has, and none without a list', () => {
  const mcp: PolicyFragment = { providerSideTools: ['mcp'] };
  const none: PolicyFragment = { providerSideTools: [] };
  expect([...merge({}).providerSideTools]).toEqual([]);
  expect([...merge({ workload: mcp }).providerSideTools]).toEqual(['mcp']);
  expect([...merge({ overrides: mcp, workload: mcp, defaults: mcp }).providerSideTools]).toEqual(['mcp']);
  for (const place of ['overrides', 'workload', 'defaults'] as const) {
    expect([...merge({ overrides: mcp, workload: mcp, defaults: mcp, [place]: none }).providerSideTools]).toEqual([]);
  }
  const told = merge({ overrides: none, workload: mcp }).origins.filter(({ field }) => field === 'providerSideTools');
  expect(told.map(({ value, from }) => `${value} — ${from}`)).toEqual(['none — overrides', 'mcp — own']);
});

test('paths that are passed on are those that every list has, and harmless ones without a list', () => {
  const passed = (layers: Layers): string => [...merge(layers).passthrough].join(' ');
  expect(passed({})).toBe('fim score uploads');
  expect(passed({ defaults: { passthrough: ['batches'] } })).toBe('batches');
  expect(passed({ overrides: { passthrough: ['batches', 'fim'] }, workload: { passthrough: ['fim', 'evals'] } })).toBe(
    'fim',
  );
  for (const place of ['overrides', 'workload', 'defaults'] as const) {
    const all = { overrides: { passthrough: ['fim'] }, workload: { passthrough: ['fim'] } };
    expect(passed({ ...all, [place]: { passthrough: [] } })).toBe('');
  }
});

test('every list of models applies, empty ones apart', () => {
  const workload = { allowedModels: ['a/*', 'b/*'] };
  const policy = merge(
    {
      overrides: { allowedModels: ['a/*'] },
      workload: { allowedModels: [] },
      defaults: { allowedModels: ['a/x', 'b/y'] },
    },
    workload,
  );
  expect(policy.allowedModels).toEqual([
    { models: ['a/*', 'b/*'], from: 'Workload acme/bot' },
    { models: ['a/*'], from: 'overrides' },
    { models: ['a/x', 'b/y'], from: 'defaults' },
  ]);
  expect(merge({ workload: { allowedModels: ['c/*'] } }, { allowedModels: [] }).allowedModels).toEqual([
    { models: ['c/*'], from: 'own' },
  ]);
});

describe('jurisdictions', () => {
  const at = (...allowedJurisdictions: string[]): PolicyFragment => ({ residency: { allowedJurisdictions } });

  test.each<readonly [Layers, readonly string[] | undefined]>([
    [{}, undefined],
    [{ defaults: at('EU', 'CH') }, ['EU', 'CH']],
    [{ overrides: at('EU', 'CH'), workload: at('CH', 'US') }, ['CH']],
    [{ overrides: at('EU', 'CH', 'DE'), workload: at('CH', 'US', 'DE'), defaults: at('DE') }, ['DE']],
    // Nothing in common allows nothing, and nothing is not "every".
    [{ overrides: at('EU'), workload: at('US') }, []],
    [{ overrides: at('EU'), workload: at('US'), defaults: at('EU') }, []],
    // A group has its members in common with them, whichever list says which.
    [{ overrides: at('EU'), workload: at('DE', 'US') }, ['DE']],
    [{ overrides: at('FR', 'CH'), workload: at('EU', 'APAC'), defaults: at('EU') }, ['FR']],
    [{ overrides: at('APAC', 'EU'), workload: at('JP', 'EU') }, ['JP', 'EU']],
    [{ overrides: at('DE'), workload: at('FR'), defaults: at('EU') }, []],
  ])('%j intersect to %j', (layers, allowed) => {
    expect(merge(layers).allowedJurisdictions).toEqual(allowed && new Set(allowed));
  });
});
