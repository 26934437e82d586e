import { describe, expect, test } from 'vitest';
import { UNKNOWN_MODEL } from '#/wire/hub/traits.ts';
import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { Provider } from '#/ports/provider.ts';
import { make, sha256, snapshotOf, type TestResource } from '#/config/testing/resources.ts';
import type { CredentialConfig, VirtualKeyConfig } from '#/config/snapshot.ts';
import type { VendorId } from '#/vendors/list.ts';
import { reachableModel, reachableModels, type DiscoveryDeps } from './reachable.ts';
import { DEPS } from '../../test/harness/routing-question.ts';

const deps: DiscoveryDeps = { ...DEPS, at: Date.UTC(2026, 10, 21) };
const PRICED = ['a', 'b', 'mixed', 'abroad', 'open', 'shut'];

function keyOf(policy: object, ...more: readonly TestResource[]): VirtualKeyConfig {
  const snapshot = snapshotOf([
    make('Organization', 'acme', { priceBookRef: { name: 'prices' } }),
    make('PriceBook', 'prices', { prices: PRICED.map((slug) => ({ model: `${slug}/*`, input: '1' })) }),
    make('Workload', 'bot'),
    make('VirtualKey', 'key', { hash: { value: sha256('key') } }),
    make('Policy', 'policy', { defaults: policy }),
    ...more,
  ]);
  return snapshot.keys.get(sha256('key'))!;
}

const listed = (name: string, ids: readonly string[], more: object = {}): TestResource =>
  make('Provider', name, { models: ids.map((id) => ({ id })), ...more });

const ids = (policy: object, ...more: readonly TestResource[]): readonly string[] =>
  reachableModels(keyOf(policy, ...more), deps).map(({ id }) => id);

const SHUT = { onlyListedModels: true };
const ANY = { contentRetention: 'Enabled' };

describe('what a caller reaches', () => {
  test('is what its providers list, sorted', () => {
    const found = reachableModels(keyOf(ANY, listed('b', ['2', '1']), listed('a', ['org/x', 'z'])), deps);
    expect(found).toEqual([
      { id: 'a/org/x', ownedBy: 'a' },
      { id: 'a/z', ownedBy: 'a' },
      { id: 'b/1', ownedBy: 'b' },
      { id: 'b/2', ownedBy: 'b' },
    ]);
  });

  test('is no more than can be looked up at once, each provider has its share of it', () => {
    const names = Array.from({ length: 5000 }, (_, at) => `m${at}`);
    const lists = { of: () => ({ models: names, names: new Set(names) }) };
    const key = keyOf(ANY, listed('a', ['1']), listed('b', ['1']), listed('open', ['1']));
    const found = reachableModels(key, { ...deps, lists }).map(({ id }) => id);
    expect(found).toHaveLength(3 * 3333);
    expect(found).toEqual(expect.arrayContaining(['a/1', 'b/1', 'open/1', 'open/m3331']));
  });

  test('is bounded by every allow-list', () => {
    expect(ids({ allowedModels: ['a/*', 'b/1'] }, listed('a', ['1', '2']), listed('b', ['1', '2']))).toEqual([
      'a/1',
      'a/2',
      'b/1',
    ]);
  });

  test('is bounded by residency, of a model where it has its own', () => {
    const mixed = make('Provider', 'mixed', { models: [{ id: 'home' }, { id: 'away', jurisdiction: 'US' }] });
    const policy = { residency: { allowedJurisdictions: ['EU'] } };
    expect(ids(policy, mixed, listed('abroad', ['1'], { jurisdiction: 'US' }))).toEqual(['mixed/home']);
  });

  test('has what an allow-list names of a provider without a list', () => {
    const open = make('Provider', 'open');
    const policy = { allowedModels: ['open/named', 'open/*', 'shut/other', 'nobody/x'] };
    expect(ids(policy, open, listed('shut', ['1'], SHUT))).toEqual(['open/named']);
    expect(ids(ANY, open)).toEqual([]);
  });

  test('needs a price, for without one it is refused', () => {
    const unpriced = listed('unpriced', ['1']);
    const alias = make('ModelAlias', 'dear', { targets: [{ model: 'unpriced/1' }] });
    expect(ids(ANY, unpriced, alias, listed('a', ['1']))).toEqual(['a/1']);
  });

  test('needs credentials where the vendor does', () => {
    const key = keyOf(ANY, listed('a', ['1']));
    const reached = (vendor: VendorId, credentials: readonly CredentialConfig[]): number => {
      const { organization } = key.workload;
      const config = { ...organization.providers.get('a')!, vendor, credentials, onlyListedModels: true };
      const changed = { ...organization, providers: new Map([['a', config]]) };
      return reachableModels({ ...key, workload: { ...key.workload, organization: changed } }, deps).length;
    };
    const credential = { name: 'own', type: 'api_key', secret: 's', weight: 1 } as const;
    expect([reached('custom', []), reached('openai', []), reached('openai', [credential])]).toEqual([1, 0, 1]);
  });
});

describe('an alias', () => {
  const alias = make('ModelAlias', 'smart', { targets: [{ model: 'gone/x' }, { model: 'a/1' }] });

  test('is reached with one of its targets', () => {
    expect(reachableModels(keyOf(ANY, listed('a', ['1']), alias), deps)).toEqual([
      { id: 'a/1', ownedBy: 'a' },
      { id: 'gw/smart', ownedBy: 'gw' },
    ]);
    expect(ids(ANY, listed('a', ['2'], SHUT), alias)).toEqual(['a/2']);
    expect(ids(ANY, listed('a', ['2']), alias)).toEqual(['a/2', 'gw/smart']);
  });

  test('opens its targets where the allow-list names it', () => {
    expect(ids({ allowedModels: ['gw/smart'] }, listed('a', ['1']), alias)).toEqual(['gw/smart']);
    expect(ids({ allowedModels: ['b/*'] }, listed('a', ['1']), alias)).toEqual([]);
  });
});

test('one model is found where a call for it would be let through, listed or not', () => {
  const key = keyOf({ allowedModels: ['open/*', 'shut/*'] }, make('Provider', 'open'), listed('shut', ['1'], SHUT));
  const found = (id: string): string | undefined => reachableModel(id, key, deps)?.id;
  expect(found('open/anything')).toBe('open/anything');
  expect(found('shut/1')).toBe('shut/1');
  for (const id of ['shut/2', 'nobody/1', 'open/', '/x', 'open', '']) expect(found(id)).toBeUndefined();
});

test('what the gateway itself reads is listed while its engine answers, whatever the places allowed', () => {
  let answers = true;
  const unused = (): never => {
    throw new Error('nothing is asked here');
  };
  const local: Provider = {
    config: LOCAL_PROVIDER,
    answers: () => answers,
    families: (model) => (model === 'ocr' ? ['ocr'] : []),
    upstreamModel: (model) => model,
    jurisdiction: () => 'LOCAL',
    traits: () => UNKNOWN_MODEL,
    fit: unused,
    send: unused,
    readFailure: unused,
  };
  const providers: DiscoveryDeps['providers'] = (config) =>
    config === LOCAL_PROVIDER ? local : deps.providers(config);
  const list = (policy: object): readonly string[] =>
    reachableModels(keyOf(policy), { ...deps, providers }).map(({ id }) => id);
  expect(list({ residency: { allowedJurisdictions: ['EU'] } })).toEqual(['gw/ocr']);
  expect(list({ allowedModels: ['gw/*'] })).toEqual(['gw/ocr']);
  expect(list({ allowedModels: ['a/*'] })).toEqual([]);
  answers = false;
  expect(list(ANY)).toEqual([]);
});
