import fc from 'fast-check';
import { expect, test } from 'vitest';
import { validate } from '../resources/validate.ts';
import { faultsOf, make, sha256, snapshotOf } from '../testing/resources.ts';

/** A key can do what its workload can, and nothing in the VirtualKey adds to that: who mints one gives away no more. */

const base = [
  make('Organization', 'one/acme'),
  make('Organization', 'two/acme', { workloadNamespaces: { from: 'All' } }),
  make('Workload', 'one/small', { allowedModels: ['a/b'], limits: { requestsPerMinute: 1 } }),
  make('Workload', 'one/large'),
  make('Workload', 'two/large'),
];

test('a minted key is no more than its workload, whatever its resource says', () => {
  const specs = fc.record(
    {
      displayName: fc.string({ maxLength: 128 }),
      hint: fc.constant('gw_live_abcd'),
      expiresAt: fc
        .date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true })
        .map((at) => at.toISOString()),
      revoked: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const places = fc.constantFrom('one/small', 'one/large', 'two/large');
  fc.assert(
    fc.property(specs, places, (spec, workload) => {
      const [namespace, name] = workload.split('/') as [string, string];
      const key = make('VirtualKey', `${namespace}/key`, { ...spec, workloadRef: { name } });
      const snapshot = snapshotOf([...base, key]);
      const minted = snapshot.keys.get(sha256('key'))!;
      expect(minted.workload).toBe(snapshot.workloads.get(workload));
      expect(new Set(Object.keys(minted))).toEqual(
        new Set(['id', 'revoked', 'workload', ...(spec.expiresAt === undefined ? [] : ['expiresAt'])]),
      );
    }),
  );
});

test.each([
  { workloadRef: { name: 'large', namespace: 'two' } },
  { organizationRef: { name: 'acme' } },
  { budget: { amount: '1', period: 'Daily' } },
  { limits: { requestsPerMinute: 1_000_000 } },
  { allowedModels: ['*/*'] },
  { policy: { dlp: { mode: 'AllowLog' } } },
  { scopes: ['admin'] },
])('a key cannot say %j', (more) => {
  const found: string[] = [];
  validate('VirtualKey', make('VirtualKey', 'one/key', { workloadRef: { name: 'small' }, ...more }), (field) =>
    found.push(field),
  );
  expect(found).not.toEqual([]);
});

test('a key is of a workload of its own namespace: one of the same name in another is not there', () => {
  const key = make('VirtualKey', 'two/key', { workloadRef: { name: 'small' } });
  expect(faultsOf([...base, key])).toEqual(['VirtualKey two/key: spec.workloadRef: there is no Workload two/small']);
});

test('a copy of the hash of a key takes nothing over from the older one', () => {
  const at = (year: number) => ({ creationTimestamp: `${year}-01-01T00:00:00Z` });
  const first = make(
    'VirtualKey',
    'one/key',
    { workloadRef: { name: 'small' }, hash: { value: sha256('k') } },
    at(2020),
  );
  const copy = make(
    'VirtualKey',
    'two/copy',
    { workloadRef: { name: 'large' }, hash: { value: sha256('k') } },
    at(2021),
  );
  for (const order of [
    [first, copy],
    [copy, first],
  ]) {
    const faults = faultsOf([...base, ...order]);
    expect(faults).toEqual(['VirtualKey two/copy: spec.hash.value: is already the hash of VirtualKey one/key']);
  }
});
