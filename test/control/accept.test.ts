import { describe, expect, test } from 'vitest';
import { accept } from '../../operators/resources/accept.ts';
import { make, makeCore, snapshotOf, type TestResource } from '../../src/config/testing/resources.ts';

const acme = make('Organization', 'default/acme');
const bot = make('Workload', 'default/bot');
const other = make('Workload', 'default/other');
const onWorkloads = (...names: string[]) => ({ targetRefs: names.map((name) => ({ kind: 'Workload', name })) });
const terms = { dlp: { customTerms: [{ label: 'p', secretKeyRef: { name: 'terms', key: 'p' } }] } };

function names(
  resources: readonly TestResource[],
  options: { lastGood?: readonly TestResource[]; secret?: string; organizationNamespaces?: readonly string[] } = {},
) {
  const byName = (list: readonly TestResource[]) =>
    new Map(
      list.map((one) => {
        const { namespace, name } = one.metadata as { namespace?: string; name: string };
        return [`${one.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`, one] as const;
      }),
    );
  const accepted = accept(byName(resources), {
    usdToEur: '0.9',
    platformNamespace: 'platform',
    organizationNamespaces: options.organizationNamespaces,
    secret: () => options.secret,
    lastGood: byName(options.lastGood ?? []),
    checked: new WeakMap(),
  });
  return { ...accepted, published: [...accepted.documents.keys()].sort(), faulty: [...accepted.faults.keys()].sort() };
}

test('one resource at fault does not keep the others', () => {
  const broken = make('Workload', 'default/broken', { organizationRef: { name: 'nobody' } });
  const { published, faulty, faults } = names([acme, bot, broken]);
  expect(published).toEqual(['Organization default/acme', 'Workload default/bot']);
  expect(faulty).toEqual(['Workload default/broken']);
  expect(faults.get('Workload default/broken')![0]).toMatchObject({ reason: 'TargetNotFound' });
});

test('a resource at fault stands as it last was good', () => {
  const good = make('Workload', 'default/bot', { limits: { requestsPerMinute: 5 } });
  const bad = make('Workload', 'default/bot', { limits: { requestsPerMinute: -5 } });
  const { documents, earlier, faulty } = names([acme, bad], { lastGood: [good] });
  expect(documents.get('Workload default/bot')).toBe(good);
  expect([...earlier]).toEqual(['Workload default/bot']);
  expect(faulty).toEqual(['Workload default/bot']);
});

test('what refers to something that is left out is told so', () => {
  const broken = make('Organization', 'default/acme', { priceBookRef: { name: 'gone' } });
  const { published, faults } = names([broken, bot]);
  expect(published).toEqual([]);
  expect(faults.get('Workload default/bot')![0]!.message).toBe('Organization default/acme is not accepted');
});

describe('nobody is served without the protection that was asked for', () => {
  const strict = make('Policy', 'default/strict', { ...onWorkloads('bot'), defaults: terms });

  test('the targets of a policy that cannot be enforced are withheld', () => {
    const { published, faults } = names([acme, bot, other, strict]);
    expect(published).toEqual(['Organization default/acme', 'Workload default/other']);
    expect(faults.get('Policy default/strict')![0]).toMatchObject({ reason: 'SecretNotFound' });
    expect(faults.get('Workload default/bot')![0]!.message).toBe(
      'is withheld: Policy default/strict cannot be enforced',
    );
    expect(names([acme, bot, other, strict], { secret: 'Heron' }).faulty).toEqual([]);
  });

  test('even where they were good before', () => {
    const { published } = names([acme, bot, strict], { lastGood: [acme, bot, strict] });
    expect(published).toEqual(['Organization default/acme']);
  });

  test('of an organization, all that is its', () => {
    const ofAll = make('Policy', 'default/strict', {
      targetRefs: [{ kind: 'Organization', name: 'acme' }],
      overrides: terms,
    });
    expect(names([acme, bot, other, ofAll]).published).toEqual([]);
  });

  test('a policy that is changed to something bad stays in force as it was', () => {
    const before = make('Policy', 'default/strict', { ...onWorkloads('bot'), defaults: { dlp: { mode: 'Block' } } });
    const { documents, published } = names([acme, bot, strict], { lastGood: [before] });
    expect(documents.get('Policy default/strict')).toBe(before);
    expect(published).toContain('Workload default/bot');
  });

  test('a policy in shadow mode protects nobody', () => {
    const shadow = make('Policy', 'default/strict', { mode: 'Shadow', ...onWorkloads('bot'), defaults: terms });
    expect(names([acme, bot, shadow]).published).toContain('Workload default/bot');
  });
});

test('targets that are gone, or that an older policy has, do not count; the rest of the policy does', () => {
  const at = (creationTimestamp: string) => ({ creationTimestamp });
  const older = make(
    'Policy',
    'default/b',
    { ...onWorkloads('bot'), defaults: { dlp: { mode: 'Mask' } } },
    at('2026-01-01T00:00:00Z'),
  );
  const newer = make(
    'Policy',
    'default/a',
    { ...onWorkloads('bot', 'other', 'gone'), defaults: { dlp: { mode: 'Block' } } },
    at('2026-02-01T00:00:00Z'),
  );
  const { documents, published, faults } = names([acme, bot, other, older, newer]);
  expect(published).toHaveLength(5);
  expect(documents.get('Policy default/a')!.spec).toMatchObject({ targetRefs: [{ name: 'other' }] });
  expect(faults.get('Policy default/a')!.map(({ reason }) => reason)).toEqual(
    expect.arrayContaining(['Conflicted', 'TargetNotFound']),
  );
});

test('secrets are those that what is published uses', () => {
  const namespaces = makeCore('Namespace', 'default', {}, {});
  const strict = make('Policy', 'default/strict', { ...onWorkloads('bot'), defaults: terms });
  const { secrets } = names([namespaces, acme, bot, strict], { secret: 'Heron' });
  expect(secrets).toEqual([[{ namespace: 'default', name: 'terms', key: 'p' }, 'Heron']]);
});

test('a provider speaks for every organization from the namespace of the installation only', () => {
  const vendor = make('Organization', 'default/acme');
  const shared = make('Provider', 'platform/vendor', { keyOwnership: 'Managed' });
  const foreign = make('Provider', 'team-x/vendor', { keyOwnership: 'Managed' });
  const own = make('Provider', 'team-x/vendor');
  const first = names([vendor, shared, foreign]);
  expect(first.published).toEqual(['Organization default/acme', 'Provider platform/vendor']);
  expect(first.faults.get('Provider team-x/vendor')).toMatchObject([
    { field: 'spec.keyOwnership', reason: 'NamespaceNotPermitted' },
  ]);
  // Neither stands one that was published before.
  expect(names([vendor, shared, foreign], { lastGood: [foreign] }).published).toEqual(first.published);
  const before = names([vendor, shared, foreign], { lastGood: [own] });
  expect(before.documents.get('Provider team-x/vendor')).toBe(own);
  const slower = make('Provider', 'team-x/vendor', { keyOwnership: 'Managed', retry: { attempts: 1 } });
  expect(names([vendor, shared, foreign], { lastGood: [slower] }).published).toEqual(first.published);
});

describe("the platform's account is not everybody's", () => {
  // What the built-in role admin of one namespace could write, if it were let.
  const mine = make('Organization', 'team-x/mine', { priceBookRef: { name: 'free' } });
  const free = make('PriceBook', 'team-x/free', { prices: [{ model: 'shared/*', input: '0' }] });
  const app = make('Workload', 'team-x/app', { organizationRef: { name: 'mine' } });
  const shared = make('Provider', 'platform/shared', { keyOwnership: 'Managed' });
  const foreign = [mine, free, app, shared];

  test('an organization of a namespace that is not permitted is not accepted, and its workloads with it', () => {
    const { published, faults } = names(foreign, { organizationNamespaces: ['platform'] });
    expect(published).toEqual(['PriceBook team-x/free', 'Provider platform/shared']);
    expect(faults.get('Organization team-x/mine')).toMatchObject([
      { field: 'metadata.namespace', reason: 'NamespaceNotPermitted' },
    ]);
    expect(faults.get('Workload team-x/app')![0]!.message).toBe('Organization team-x/mine is not accepted');
  });

  test('nor does one stand that was published before', () => {
    const before = make('Organization', 'team-x/mine', {});
    const { published } = names(foreign, { organizationNamespaces: ['platform'], lastGood: [before, app] });
    expect(published).not.toContain('Organization team-x/mine');
    expect(published).not.toContain('Workload team-x/app');
  });

  test('in a namespace that is permitted it reaches no managed provider that does not let it in', () => {
    const { documents, published } = names(foreign, { organizationNamespaces: ['platform', 'team-x'] });
    expect(published).toHaveLength(4);
    const { organizations } = snapshotOf([...documents.values()], { platformNamespace: 'platform' });
    expect([...organizations.get('team-x/mine')!.providers]).toEqual([]);
  });
});
