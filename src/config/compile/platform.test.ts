import { describe, expect, test } from 'vitest';
import { faultsOf, make, makeCore, snapshotOf, type TestResource } from '../testing/resources.ts';

/** Rights in one namespace must not be enough to spend the platform's accounts or to set their prices. */

const PLATFORM = { platformNamespace: 'platform', organizationNamespaces: ['platform', 'team-x'] };
const managed = (more: object = {}) => make('Provider', 'platform/shared', { keyOwnership: 'Managed', ...more });
const tenant = (book?: string) =>
  make('Organization', 'team-x/mine', book === undefined ? {} : { priceBookRef: { name: book } });
const free = make('PriceBook', 'team-x/free', {
  prices: ['shared/*', 'shared/m', 'own/*', 'gw/ocr'].map((model) => ({ model, input: '0' })),
});
const list = { from: 'List', organizations: [{ namespace: 'team-x', name: 'mine' }] };

function organization(id: string, resources: readonly TestResource[]) {
  return snapshotOf(resources, PLATFORM).organizations.get(id)!;
}

describe('who may call a managed provider', () => {
  const reaches = (...resources: TestResource[]) => [...organization('team-x/mine', resources).providers.keys()];

  test('no organization of another namespace, unless it says so', () => {
    expect(reaches(managed(), tenant())).toEqual([]);
    expect(reaches(managed({ allowedOrganizations: {} }), tenant())).toEqual([]);
    expect(reaches(managed({ allowedOrganizations: list }), tenant())).toEqual(['shared']);
    const other = { from: 'List', organizations: [{ namespace: 'team-y', name: 'mine' }] };
    expect(reaches(managed({ allowedOrganizations: other }), tenant())).toEqual([]);
  });

  test('organizations of its own namespace always', () => {
    const own = make('Organization', 'platform/internal');
    expect([...organization('platform/internal', [managed(), own]).providers.keys()]).toEqual(['shared']);
  });

  test('organizations of namespaces with certain labels, which the organization itself cannot set', () => {
    const gold = managed({ allowedOrganizations: { from: 'Selector', selector: { matchLabels: { tier: 'gold' } } } });
    const labelled = make('Organization', 'team-x/mine', {}, { labels: { tier: 'gold' } });
    const namespace = (tier: string) => makeCore('Namespace', 'team-x', {}, { labels: { tier } });
    expect(reaches(gold, labelled, namespace('lead'))).toEqual([]);
    expect(reaches(gold, labelled)).toEqual([]);
    expect(reaches(gold, labelled, namespace('gold'))).toEqual(['shared']);
  });

  test('one that an organization may not call does not hide another of the same slug', () => {
    const closed = make('Provider', 'platform/a', { slug: 'shared', keyOwnership: 'Managed' });
    const open = make('Provider', 'services/b', {
      slug: 'shared',
      keyOwnership: 'Managed',
      allowedOrganizations: list,
    });
    const found = snapshotOf([closed, open, tenant()]).organizations.get('team-x/mine')!.providers;
    expect([...found.values()].map(({ id }) => id)).toEqual(['services/b']);
  });
});

describe('what a managed provider costs', () => {
  const allowed = managed({ allowedOrganizations: list });
  const patterns = (resources: readonly TestResource[]) =>
    [...organization('team-x/mine', resources).prices].map(
      ([model, rows]) => `${model} ${rows[0]?.input} ${rows[0]?.book}`,
    );

  test("is not for the organization's own PriceBook to say, nor what the gateway's own models cost", () => {
    expect(patterns([allowed, free, tenant('free')])).toEqual(['own/* 0 team-x/free']);
  });

  test('is what the PriceBook of the platform says, and that prices nothing else', () => {
    const book = make('PriceBook', 'platform/list', {
      prices: ['shared/m', 'own/*', 'other/m'].map((model) => ({ model, input: '3' })),
    });
    const priced = managed({ allowedOrganizations: list, priceBookRef: { name: 'list' } });
    expect(patterns([priced, book, free, tenant('free')])).toEqual([
      'own/* 0 team-x/free',
      'shared/m 3000000000 platform/list',
    ]);
    expect(faultsOf([priced], PLATFORM)).toEqual([
      'Provider platform/shared: spec.priceBookRef: there is no PriceBook platform/list',
    ]);
  });

  test("is the organization's to say where the account of that slug is its own", () => {
    const own = make('Provider', 'team-x/shared');
    expect(patterns([allowed, own, free, tenant('free')])).toEqual([
      'shared/* 0 team-x/free',
      'shared/m 0 team-x/free',
      'own/* 0 team-x/free',
    ]);
  });

  test('is said in one place for the namespace of the platform, too', () => {
    const book = make('PriceBook', 'platform/own', { prices: [{ model: 'shared/*', input: '1' }] });
    const internal = make('Organization', 'platform/internal', { priceBookRef: { name: 'own' } });
    expect(organization('platform/internal', [managed(), book, internal]).prices.get('shared/*')).toHaveLength(1);
  });
});

test('organizations are accepted from permitted namespaces only', () => {
  const stranger = make('Organization', 'team-z/mine');
  expect(faultsOf([stranger, tenant(), managed()], PLATFORM)).toEqual([
    'Organization team-z/mine: metadata.namespace: organizations are accepted only in platform, team-x',
  ]);
  expect(faultsOf([stranger], { platformNamespace: 'platform' })).toEqual([]);
});
