import { describe, expect, test } from 'vitest';
import { faultsOf, make, makeCore, snapshotOf, type TestResource } from '../testing/resources.ts';
import { key, base, workloadPolicy, older, newer, only } from '../testing/compile-samples.ts';

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
    // The workload's own policy is unchanged; fields that the shadow leaves out of the organization stay unset.
    expect(watched.shadow).toMatchObject({ dlp: { mode: 'block', documents: 'refuse' }, answerTimeoutSeconds: 300 });
    expect(watched.shadow?.origins[0]).toEqual({
      field: 'dlp.mode',
      value: 'block',
      from: 'Policy default/next (shadow override)',
    });
  });

  test('a shadow policy of a workload is evaluated together with the enforced policy of its organization', () => {
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
