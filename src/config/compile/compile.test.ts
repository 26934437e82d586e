import { describe, expect, test } from 'vitest';
import { compile } from './compile.ts';
import { make, makeCore, sha256, snapshotOf, toSources, type TestResource } from '../testing/resources.ts';
import { acme, bot, key, base, credentials, term, only } from '../testing/compile-samples.ts';

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

  test('fields that are not given are absent', () => {
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
