import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { INSTALLATIONS } from '../charts/values.ts';
import { HAS_CLUSTER, startCluster, type Cluster } from '../harness/cluster.ts';
import { HAS_HELM, helm, manifests, type HelmRun } from '../harness/helm.ts';
import { skipUnless } from '../harness/skip.ts';

const NAMES = Object.keys(INSTALLATIONS);
const RESTRICTED = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
const STORES = ['redis', 'database', 'keys'].flatMap((name) => ['--set', `${name}.existingSecret=${name}`]);
const BUILT = HAS_CLUSTER && HAS_HELM;

describe('the charts on an API server', skipUnless(BUILT, 'no control plane is built: `make test-cluster`'), () => {
  let cluster: Cluster;
  const run = (...args: readonly string[]): HelmRun => helm([...args, '--kubeconfig', cluster.kubeconfig]);
  const names = (kind: string, ...where: readonly string[]): string =>
    cluster.kubectl(['get', kind, ...where, '-l', 'app.kubernetes.io/part-of=gatewarden', '-o', 'name']).out;

  beforeAll(async () => {
    cluster = await startCluster();
    for (const namespace of ['gateway', 'team-a', 'team-b']) {
      cluster.kubectl(['create', 'namespace', namespace]);
      cluster.kubectl(['label', 'namespace', namespace, ...RESTRICTED]);
    }
  }, 120_000);
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test.each(NAMES)('%s is taken, field by field, without a warning', (name) => {
    const text = readFileSync(join(import.meta.dirname, `../charts/golden/${name}.yaml`), 'utf8');
    // Prometheus' operator is not there.
    const known = manifests({ status: 0, out: text, err: '' }).filter(
      ({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'),
    );
    const input = known.map((object) => JSON.stringify(object)).join('\n');
    const { status, err } = cluster.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], input);
    expect({ status, err }).toEqual({ status: 0, err: '' });
  });

  test('are installed, upgraded and removed; the definitions stay', () => {
    // Without a controller manager nothing runs: hooks would wait for ever.
    for (const [release, chart, more] of [
      ['crds', 'gatewarden-crds', []],
      ['gw', 'gatewarden', STORES],
    ] as const) {
      for (const verb of ['install', 'upgrade']) {
        const done = run(verb, release, `charts/${chart}`, '--namespace', 'gateway', '--no-hooks', ...more);
        expect(done.status, done.err).toBe(0);
      }
    }
    expect(names('deployments', '-n', 'gateway').trim().split('\n').sort()).toEqual(
      ['controller', 'gateway', 'inference'].map((name) => `deployment.apps/gw-gatewarden-${name}`),
    );
    const scaled = run(
      'upgrade',
      'gw',
      'charts/gatewarden',
      '-n',
      'gateway',
      '--no-hooks',
      '--set',
      'inference.mode=Disabled',
      ...STORES,
    );
    expect(scaled.status, scaled.err).toBe(0);
    expect(names('deployments', '-n', 'gateway')).not.toContain('inference');
    for (const release of ['gw', 'crds']) {
      const removed = run('uninstall', release, '--namespace', 'gateway', '--no-hooks');
      expect(removed.status, removed.err).toBe(0);
    }
    expect(names('deployments', '-n', 'gateway')).toBe('');
    expect(names('clusterroles')).toBe('');
    expect(names('crds').trim().split('\n')).toHaveLength(8);
  });
});
