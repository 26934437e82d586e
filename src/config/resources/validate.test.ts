import { describe, expect, test } from 'vitest';
import { BROKEN_RESOURCES } from '../testing/broken-resources.ts';
import { make, makeCore, type TestResource } from '../testing/resources.ts';
import { KINDS, type KindName } from './kinds.ts';
import { validate } from './validate.ts';

interface SchemaNode {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

function check(resource: TestResource): readonly string[] {
  const found: string[] = [];
  validate(resource.kind as KindName, resource, (field, message) => found.push(`${field}: ${message}`));
  return found;
}

const secretKeyRef = { name: 'keys', key: 'main' };
const credential = { name: 'main', type: 'APIKey', secretKeyRef };

describe('rules', () => {
  test.each(BROKEN_RESOURCES)('%s, %s: %j', (kind, _cel, spec, fault) => {
    expect(check(make(kind, 'one', spec))).toEqual([fault]);
  });

  test('every rule that a file can break is broken by a case above', () => {
    const untested = Object.values(KINDS).flatMap(({ kind, rules }) =>
      rules.flatMap(({ at, rules: list }) =>
        list
          .filter((rule) => rule.check !== undefined)
          .filter(({ rule, fieldPath = '' }) => {
            const place = `${at.replace('[*]', '[1]')}${fieldPath}: `;
            return !BROKEN_RESOURCES.some(
              ([name, cel, , fault]) => name === kind && rule.includes(cel) && fault.startsWith(place),
            );
          })
          .map(({ rule }) => `${kind} ${at}: ${rule}`),
      ),
    );
    expect(untested).toEqual([]);
  });

  test('a rule without a check is about a change, and only such a rule', () => {
    for (const { rules } of Object.values(KINDS)) {
      for (const rule of rules.flatMap((place) => place.rules)) {
        expect(rule.check === undefined, rule.rule).toBe(rule.rule.includes('oldSelf'));
      }
    }
  });
});

describe('schemas', () => {
  test.each(Object.keys(KINDS))('the smallest %s is valid', (kind) => {
    const resource =
      kind === 'Secret' || kind === 'Namespace' ? makeCore(kind, 'one') : make(kind as 'Workload', 'one');
    expect(check(resource)).toEqual([]);
  });

  test.each<readonly [TestResource, readonly string[]]>([
    [make('Workload', 'one', { organisation: 'acme' }), ['spec.organisation: is not a known field']],
    [make('Workload', 'one', { limits: {} }), ['spec.limits: must not be empty']],
    [make('Workload', 'one', { organizationRef: {} }), ['spec.organizationRef.name: is required']],
    [
      make('Workload', 'one', { limits: { requestsPerMinute: 0 } }),
      ['spec.limits.requestsPerMinute: must be at least 1'],
    ],
    [
      make('Workload', 'one', { limits: { requestsPerMinute: 1.5 } }),
      ['spec.limits.requestsPerMinute: must be an integer'],
    ],
    [
      make('Workload', 'one', { limits: { tokensPerMinute: 2e9 + 1 } }),
      ['spec.limits.tokensPerMinute: must be at most 2000000000'],
    ],
    [make('Workload', 'one', { answerTimeoutSeconds: 9 }), ['spec.answerTimeoutSeconds: must be at least 10']],
    [make('Workload', 'one', { answerTimeoutSeconds: 601 }), ['spec.answerTimeoutSeconds: must be at most 600']],
    [make('Workload', 'one', { answerTimeoutSeconds: '60' }), ['spec.answerTimeoutSeconds: must be an integer']],
    [make('Workload', 'one', { answerTimeoutSeconds: null }), ['spec.answerTimeoutSeconds: must be an integer']],
    [make('Workload', 'one', { onHangUp: 'abort' }), ['spec.onHangUp: must be Abort or Drain; did you mean Abort?']],
    [
      make('Workload', 'one', { budget: { amount: '1', period: 'Weekly' } }),
      ['spec.budget.period: must be Total, Daily or Monthly'],
    ],
    [make('Workload', 'one', { budget: { amount: 1, period: 'Daily' } }), ['spec.budget.amount: must be a string']],
    [
      make('Workload', 'one', { budget: { amount: '1.0000000001', period: 'Daily' } }),
      ['spec.budget.amount: must be a decimal amount in quotes, at most nine digits after the point'],
    ],
    [
      make('Workload', 'one', { budget: { amount: '-1', period: 'Daily' } }),
      ['spec.budget.amount: must be a decimal amount in quotes, at most nine digits after the point'],
    ],
    [make('Workload', 'one', { allowedModels: ['gpt-4o'] }), ['spec.allowedModels[0]: must be <provider>/<model>']],
    [
      make('Policy', 'one', {
        defaults: {
          allowedTools: ['crm/prompts/mail', 'crm/resources/file:///*'],
          toolsToApprove: ['crm/*', '*/delete_*', 'crm/prompts/mail', 'crm/resources/file:///*'],
        },
      }),
      [2, 3].map(
        (at) =>
          `spec.defaults.toolsToApprove[${at}]: must be <server>/<tool>, such as crm/delete_* or orders/*: ` +
          'only calls of tools are approved, not prompts and resources',
      ),
    ],
    [
      make('Workload', 'one', { allowedModels: ['a/b', 'a/c', 'a/b'] }),
      ['spec.allowedModels[2]: is in the list twice'],
    ],
    [
      make('Organization', 'one', { contact: { email: 'no-address' } }),
      ['spec.contact.email: must be an e-mail address'],
    ],
    [
      make('Organization', 'one', { timeZone: '+01:00' }),
      ['spec.timeZone: must be the name of a time zone, such as Europe/Berlin'],
    ],
    [
      make('Organization', 'one', { displayName: 'x'.repeat(129) }),
      ['spec.displayName: must have at most 128 characters'],
    ],
    [
      make('Policy', 'one', { defaults: { scopeGuard: { mode: 'Block', scope: 'x'.repeat(1001) } } }),
      ['spec.defaults.scopeGuard.scope: must have at most 1000 characters'],
    ],
    [
      make('Organization', 'one', { workloadNamespaces: { from: 'Selector', selector: { matchLabels: { a: 1 } } } }),
      ['spec.workloadNamespaces.selector.matchLabels.a: must be a string'],
    ],
    [make('Policy', 'one', { targetRefs: [] }), ['spec.targetRefs: must not be empty']],
    [
      make('Policy', 'one', { targetRefs: [{ kind: 'Provider', name: 'a' }] }),
      ['spec.targetRefs[0].kind: must be Organization or Workload'],
    ],
    [make('Policy', 'one', { defaults: {} }), ['spec.defaults: must not be empty']],
    [
      make('Policy', 'one', { defaults: { dlp: { customTerms: [{ label: 'x'.repeat(33), secretKeyRef }] } } }),
      ['spec.defaults.dlp.customTerms[0].label: must have at most 32 characters'],
    ],
    [
      make('Policy', 'one', {
        defaults: {
          dlp: {
            customTerms: [
              { label: 'a', secretKeyRef },
              { label: 'a', secretKeyRef },
            ],
          },
        },
      }),
      ['spec.defaults.dlp.customTerms[1]: is in the list twice'],
    ],
    [
      make('Policy', 'one', { defaults: { residency: { allowedJurisdictions: ['eu'] } } }),
      [
        'spec.defaults.residency.allowedJurisdictions[0]: must be a country by its two letters (ISO 3166), EU, APAC, ' +
          'GLOBAL or LOCAL; did you mean EU?',
      ],
    ],
    [
      make('Provider', 'one', { endpoint: { url: 'ftp://a' } }),
      ['spec.endpoint.url: must start with https:// (or http://)'],
    ],
    [
      make('Provider', 'one', { credentials: [{ ...credential, secretKeyRef: { name: 'a', key: '../b' } }] }),
      ['spec.credentials[0].secretKeyRef.key: must be letters, digits, dashes, dots and underscores'],
    ],
    [
      make('Provider', 'one', { credentials: [{ ...credential, secretKeyRef: { name: '../a', key: 'b' } }] }),
      ['spec.credentials[0].secretKeyRef.name: must be lower-case letters, digits, dashes and dots'],
    ],
    [
      make('Provider', 'one', { credentials: [{ ...credential, secretKeyRef: { name: 'a', key: '..' } }] }),
      ['spec.credentials[0].secretKeyRef.key: must be letters, digits, dashes, dots and underscores'],
    ],
    [make('Provider', 'one', { credentials: [credential, credential] }), ['spec.credentials[1]: is in the list twice']],
    [make('Provider', 'one', { retry: { attempts: 6 } }), ['spec.retry.attempts: must be at most 5']],
    [
      make('Provider', 'one', { models: [{ id: 'a' }, { id: 'a', vision: true }] }),
      ['spec.models[1]: is in the list twice'],
    ],
    [
      make('PriceBook', 'one', {
        prices: [
          { model: 'a/b', input: '1' },
          { model: 'a/b', input: '2' },
        ],
      }),
      ['spec.prices[1]: is in the list twice'],
    ],
    [make('PriceBook', 'one', { prices: [] }), ['spec.prices: must not be empty']],
    [
      make('PriceBook', 'one', { effectiveFrom: '2026-02-30T00:00:00Z' }),
      ['spec.effectiveFrom: must be a date and time, such as 2026-01-31T12:00:00Z'],
    ],
    [make('VirtualKey', 'one', { hash: { value: 'AB' } }), ['spec.hash.value: must have at least 64 characters']],
    [
      make('VirtualKey', 'one', { hash: { value: 'A'.repeat(64) } }),
      ['spec.hash.value: must be a SHA-256 in lower-case hexadecimal'],
    ],
    [
      make('VirtualKey', 'one', { expiresAt: 'tomorrow' }),
      ['spec.expiresAt: must be a date and time, such as 2026-01-31T12:00:00Z'],
    ],
    [make('VirtualKey', 'one', { revoked: 'false' }), ['spec.revoked: must be a boolean']],
    [make('ModelAlias', 'one', { alias: 'fast' }), ['spec.alias: must be gw/ and a lower-case name']],
    [
      make('ModelAlias', 'one', { strategy: 'Auto', auto: { routes: [{ model: 'a/b', maxComplexity: 4 }] } }),
      ['spec.auto.routes[0].maxComplexity: must be at most 3'],
    ],
    [make('MCPServer', 'one', { transport: 'Stdio' }), ['spec.transport: must be StreamableHTTP or SSE']],
    [make('Workload', 'UPPER'), ['metadata.name: must be lower-case letters, digits, dashes and dots']],
    [make('Workload', 'one', {}, { label: {} }), ['metadata.label: is not a known field']],
    [makeCore('Secret', 'one', { stringData: { key: 5 } }), ['stringData.key: must be a string']],
    [makeCore('Secret', 'one', { stringdata: { key: 'x' } }), ['stringdata: is not a known field']],
    [makeCore('Namespace', 'one', {}, { labels: { team: 1 } }), ['metadata.labels.team: must be a string']],
  ])('%j', (resource, faults) => {
    expect(check(resource)).toEqual(faults);
  });

  test('every fault of a resource is found, however many', () => {
    const unknown = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`field${index}`, index]));
    expect(check(make('Workload', 'one', { ...unknown, answerTimeoutSeconds: 1 }))).toHaveLength(41);
  });

  test('defaults are filled in, in lists and in objects that are not there too, and the document is left alone', () => {
    const document = make('Provider', 'one', { models: [{ id: 'a' }], circuitBreaker: { openSeconds: 5 } });
    const before = structuredClone(document);
    const provider = validate('Provider', document, () => {});
    expect(provider?.spec).toMatchObject({
      keyOwnership: 'Organization',
      features: {},
      models: [{ id: 'a' }],
      retry: { attempts: 2 },
      circuitBreaker: { failureRatioPercent: 50, minRequests: 20, openSeconds: 5 },
    });
    expect(validate('Workload', make('Workload', 'one'), () => {})?.spec).toMatchObject({
      environment: 'Development',
      answerTimeoutSeconds: 300,
      onHangUp: 'Abort',
    });
    expect(validate('Organization', make('Organization', 'one'), () => {})?.spec).toMatchObject({
      state: 'Active',
      currency: 'EUR',
      timeZone: 'UTC',
      workloadNamespaces: { from: 'Same' },
    });
    expect(document).toEqual(before);
  });

  test('what only the API server writes is let through', () => {
    const metadata = {
      uid: 'u',
      generation: 3,
      managedFields: [{ manager: 'kubectl' }],
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    expect(check({ ...make('Workload', 'one', {}, metadata), status: { conditions: [] } })).toEqual([]);
  });

  test('members that are not plain fields do not pass as fields', () => {
    const spec = JSON.parse(
      '{"organizationRef": {"name": "acme"}, "__proto__": {"environment": "Production"}}',
    ) as object;
    expect(check({ ...make('Workload', 'one'), spec })).toEqual(['spec.__proto__: is not a known field']);
    expect(check(make('Workload', 'one', { constructor: {} }))).toEqual(['spec.constructor: is not a known field']);
  });

  test('a field name cannot forge a line of a report', () => {
    expect(check(make('Workload', 'one', { 'x\nall good': 1 }))).toEqual([
      'spec["x\\nall good"]: is not a known field',
    ]);
  });

  test('every field has a description for people', () => {
    const bare: string[] = [];
    const walk = (node: SchemaNode, path: string): void => {
      for (const [name, child] of Object.entries(node.properties ?? {})) {
        if (!child.description && !['group', 'name', 'key'].includes(name)) bare.push(`${path}.${name}`);
        walk(child, `${path}.${name}`);
      }
      if (node.items) walk(node.items, `${path}[]`);
    };
    for (const { kind, schema } of Object.values(KINDS).filter((entry) => entry.apiVersion !== 'v1')) {
      walk(schema.properties.spec as SchemaNode, kind);
    }
    expect(bare).toEqual([]);
  });
});
