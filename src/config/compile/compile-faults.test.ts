import { describe, expect, test } from 'vitest';
import { compile } from './compile.ts';
import { faultsOf, make, makeCore, sha256, toSources } from '../testing/resources.ts';
import { acme, bot, key, base, secretKeyRef, credentials, workloadPolicy, term } from '../testing/compile-samples.ts';

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

  test('with some sources unread, a missing object is not a fault, but a wrong one is', () => {
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
