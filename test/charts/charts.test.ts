import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { PRESENTATION } from '#/config/crds/presentation.ts';
import { readSettings as readInferenceSettings } from '../../inference/settings.ts';
import { readSettings } from '../../src/settings/gateway-settings.ts';
import { HAS_HELM, helm, install, manifests, template, type Manifest } from '../harness/helm.ts';
import { skipUnless } from '../harness/skip.ts';
import { restrictedFaults, workloadsOf } from './pods.ts';
import { containerOf, environment, pick, render, run, workload } from './rendered.ts';
import { INSTALLATIONS } from './values.ts';

const ROOT = join(import.meta.dirname, '../..');
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const OWN_VERSION = new RegExp(`(?<![\\d.])${VERSION.replaceAll('.', '\\.')}(?![\\d.])`, 'g');
const NAMES = Object.keys(INSTALLATIONS);
const plurals = Object.values(PRESENTATION).map(({ plural }) => plural);

describe('the charts', skipUnless(HAS_HELM, 'helm is not built: `make helm`'), () => {
  test.each(['gatewarden', 'gatewarden-crds'])('%s passes helm lint', (chart) => {
    const values = Object.entries({
      'redis.existingSecret': 'a',
      'database.existingSecret': 'b',
      'keys.existingSecret': 'c',
    });
    const given = chart === 'gatewarden' ? values.flatMap(([name, value]) => ['--set', `${name}=${value}`]) : [];
    const { status, out } = helm(['lint', '--strict', `charts/${chart}`, ...given]);
    expect(out).not.toMatch(/\[(?:ERROR|WARNING)\]/);
    expect(status).toBe(0);
  });

  test('gatewarden-crds renders the definitions as they are', () => {
    const rendered = manifests(template('gatewarden-crds'));
    expect(rendered.map((object) => object.metadata.name).sort()).toEqual(
      plurals.map((name) => `${name}.gatewarden.dev`).sort(),
    );
    for (const object of rendered) {
      const file = `charts/gatewarden-crds/templates/${object.metadata.name.split('.')[0]}.yaml`;
      expect(object).toEqual(parse(readFileSync(join(ROOT, file), 'utf8')));
    }
  });

  test('both are of the version of the program', () => {
    for (const chart of ['gatewarden', 'gatewarden-crds'])
      expect(parse(readFileSync(join(ROOT, 'charts', chart, 'Chart.yaml'), 'utf8'))).toMatchObject({
        version: VERSION,
        appVersion: VERSION,
      });
  });

  test.each(NAMES)('%s renders as it is written down', async (name) => {
    const { out, err } = run(name);
    expect(err).toBe('');
    // Without the version, so that a release changes no manifest.
    await expect(out.replaceAll(OWN_VERSION, 'VERSION')).toMatchFileSnapshot(`golden/${name}.yaml`);
  });

  test.each(NAMES)('%s: every pod is restricted', (name) => {
    const found = workloadsOf(render(name));
    expect(found.length).toBeGreaterThan(0);
    expect(found.flatMap((workload) => restrictedFaults(workload))).toEqual([]);
  });

  test.each(NAMES)('%s: services, budgets, scaling and policies are about pods that are there', (name) => {
    const objects = render(name);
    const pods = workloadsOf(objects).map(({ labels }) => labels);
    const matches = (selector: Readonly<Record<string, string>>): boolean =>
      pods.some((labels) => Object.entries(selector).every(([key, value]) => labels[key] === value));
    for (const { kind, metadata, spec } of objects) {
      const { selector, podSelector, scaleTargetRef } = (spec ?? {}) as Readonly<Record<string, Selector>>;
      if (kind === 'Service') expect(matches(selector as Readonly<Record<string, string>>), metadata.name).toBe(true);
      if (kind === 'PodDisruptionBudget' || kind === 'Deployment')
        expect(matches(selector?.matchLabels ?? {}), metadata.name).toBe(true);
      if (kind === 'NetworkPolicy') expect(matches(podSelector?.matchLabels ?? {}), metadata.name).toBe(true);
      if (kind === 'HorizontalPodAutoscaler') pick(objects, 'Deployment', scaleTargetRef?.name ?? '');
    }
  });

  test.each(NAMES)('%s: no two objects are of one name', (name) => {
    const ids = render(name).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test.each(NAMES)('%s: what is mounted is a volume, and every volume is mounted', (name) => {
    for (const { name: owner, pod } of workloadsOf(render(name))) {
      const mounted = [...pod.containers, ...(pod.initContainers ?? [])].flatMap(
        ({ volumeMounts = [] }) => volumeMounts,
      );
      expect([...new Set(mounted.map((mount) => mount.name))].sort(), owner).toEqual(
        (pod.volumes ?? []).map((volume) => volume.name).sort(),
      );
    }
  });

  test.each(NAMES)('%s: commands and variables are texts', (name) => {
    for (const { name: owner, pod } of workloadsOf(render(name))) {
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map(
          (probe) => container[probe] as Probe | undefined,
        );
        const words = [container['command'], ...probes.map((probe) => probe?.exec?.command)].flat();
        const values = (container.env ?? []).flatMap(({ value }) => value ?? []);
        for (const word of [...words, ...values].filter((each) => each !== undefined))
          expect(word, owner).toBeTypeOf('string');
      }
    }
  });

  test.each(NAMES)('%s: pods say nothing that a new version of the chart changes', (name) => {
    for (const { labels } of workloadsOf(render(name)))
      expect(
        Object.entries(labels).filter(([key, value]) => /version|chart/.test(key) || value.includes(VERSION)),
      ).toEqual([]);
  });

  test.each(['small', 'folder'])('%s: the notes tell how it is reached', (name) => {
    const { status, out, err } = install('gatewarden', INSTALLATIONS[name]);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toContain('http://gw-gatewarden.gateway.svc/v1\n');
    expect(out).toContain('let a pod end for 375 s');
    expect(out).toContain('helm test gw -n gateway');
  });

  test('a gateway takes the settings it is given', () => {
    const stores = { REDIS_URL: 'redis://r', DATABASE_URL: 'postgres://d', GW_CACHE_REDIS_URL: 'redis://c' };
    const read = readSettings(
      environment(containerOf(workload(render('folder'), 'gw-gatewarden-gateway'), 'gateway'), stores),
    );
    expect(read).toMatchObject({
      settings: {
        host: '0.0.0.0',
        redisUrl: 'redis://r',
        databaseUrl: 'postgres://d',
        configDir: '/etc/gatewarden/config',
        secretsDir: '/etc/gatewarden/secrets',
        dataDir: '/var/lib/gatewarden',
        checkpointKeyFile: '/etc/gatewarden/keys/checkpoint-key.pem',
        contentKeyFile: '/etc/gatewarden/keys/content-keys',
        drainSeconds: 300,
        inference: 'off',
      },
    });
    const everything = containerOf(workload(render('everything'), 'gw-gatewarden-gateway'), 'gateway');
    expect(readSettings(environment(everything, stores))).toMatchObject({
      settings: {
        redisCluster: true,
        cacheRedisUrl: 'redis://c',
        inference: { url: 'http://gw-gatewarden-inference:8090' },
        publicUrl: 'https://models.example',
        phoneRegions: ['DE', 'FR'],
      },
    });
  });

  test('an engine takes the settings it is given, and is reached where gateways look for it', () => {
    const objects = render('gpu');
    const container = containerOf(workload(objects, 'gw-gatewarden-inference'), 'inference');
    expect(readInferenceSettings(environment(container, {}))).toMatchObject({
      settings: { host: '0.0.0.0', port: 8090, workers: 2, maxRssMib: 4096, modelsDir: '/var/lib/gatewarden-models' },
    });
    expect(container.resources.limits).toMatchObject({ 'nvidia.com/mig-1g.10gb': 1, memory: '5Gi' });
    expect(pick(objects, 'Service', 'gw-gatewarden-inference')['spec']).toMatchObject({ clusterIP: 'None' });
    const sidecar = workload(render('sidecar'), 'gw-gatewarden-gateway');
    const [first] = sidecar.pod.initContainers ?? [];
    expect(first).toMatchObject({ name: 'inference', restartPolicy: 'Always' });
    expect(readInferenceSettings(environment(first!, {}))).toMatchObject({
      settings: { host: '127.0.0.1', port: 8090 },
    });
  });

  test.each([
    ['gpu', 'gw-gatewarden-inference', 'gw-gatewarden-gateway'],
    ['sidecar-gpu', 'gw-gatewarden-gateway', 'gw-gatewarden-controller'],
  ])('%s: pods with a GPU go where it is, and wait for none that a pod before them has', (name, owner, other) => {
    const objects = render(name);
    const rolling = (of: string): unknown => pick(objects, 'Deployment', of)['spec'];
    expect(workload(objects, owner).pod).toMatchObject({
      nodeSelector: { 'nvidia.com/gpu.present': 'true' },
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    });
    expect(rolling(owner)).toMatchObject({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } });
    expect(workload(objects, other).pod).not.toHaveProperty('nodeSelector');
    expect(rolling(other)).toMatchObject({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  });

  test('what a gateway is told of nodes goes before what a GPU is told', () => {
    const own = { nodeSelector: { 'nvidia.com/gpu.present': 'shared', zone: 'a' }, tolerations: [{ key: 'own' }] };
    const values = { ...INSTALLATIONS['sidecar-gpu'], gateway: own };
    const { pod } = workload(manifests(template('gatewarden', values)), 'gw-gatewarden-gateway');
    expect(pod).toMatchObject({
      nodeSelector: own.nodeSelector,
      tolerations: [{ key: 'own' }, { key: 'nvidia.com/gpu' }],
    });
  });

  test.each(['small', 'sidecar', 'everything'])('%s: a pod is given the time that its drain takes', (name) => {
    const { pod } = workload(render(name), 'gw-gatewarden-gateway');
    const { GW_LEAVE_SECONDS, GW_DRAIN_SECONDS } = environment(containerOf({ pod }, 'gateway'), {});
    expect(GW_DRAIN_SECONDS).toBe('300'); // spec 6.1.5
    // Then 10 s for calls that are told to end, 20 s to seal and settle them, and the stores are closed.
    const seconds = Number(GW_LEAVE_SECONDS) + Number(GW_DRAIN_SECONDS) + 10 + 20;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + 30);
  });

  test('nobody but the controller may ask the Kubernetes API', () => {
    for (const name of NAMES) {
      for (const { name: owner, pod } of workloadsOf(render(name))) {
        if (owner.endsWith('-controller')) expect(pod.serviceAccountName).toBe('gw-gatewarden-controller');
        else expect({ owner, automount: pod.automountServiceAccountToken }).toEqual({ owner, automount: false });
      }
    }
  });

  test('the controller may do what it does, and nothing else', () => {
    const rules = (objects: readonly Manifest[], kind: string): readonly (readonly [string, readonly Rule[]])[] =>
      objects
        .filter(
          (object) => object.kind === kind && object.metadata.labels?.['app.kubernetes.io/component'] === 'controller',
        )
        .map(({ metadata, rules: list }) => [`${metadata.namespace ?? '*'}/${metadata.name}`, list as readonly Rule[]]);
    const own = [
      { apiGroups: ['gatewarden.dev'], resources: plurals, verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: ['gatewarden.dev'], resources: plurals.map((name) => `${name}/status`), verbs: ['patch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
    ];
    const leader = [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['gatewarden-controller'],
        verbs: ['get', 'update'],
      },
    ];
    const reading = { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] };
    const few = render('namespaces');
    expect(rules(few, 'Role')).toEqual([
      ['gateway/gw-gatewarden-controller-leader', leader],
      ['team-a/gw-gatewarden-controller', own],
      ['team-b/gw-gatewarden-controller', own],
    ]);
    expect(rules(few, 'ClusterRole')).toEqual([
      ['*/gw-gatewarden-controller-gateway-namespaces', [{ ...reading, resourceNames: ['team-a', 'team-b'] }]],
    ]);
    const all = render('everything');
    expect(rules(all, 'ClusterRole')).toEqual([
      ['*/gw-gatewarden-controller-gateway-namespaces', [reading]],
      ['*/gw-gatewarden-controller-gateway', own],
    ]);
    expect(rules(all, 'Role')).toEqual([['gateway/gw-gatewarden-controller-leader', leader]]);
    for (const objects of [few, all]) {
      for (const binding of objects.filter(({ kind }) => kind.endsWith('Binding'))) {
        expect(binding['subjects']).toEqual([
          { kind: 'ServiceAccount', name: 'gw-gatewarden-controller', namespace: 'gateway' },
        ]);
        const { kind, name } = binding['roleRef'] as { readonly kind: string; readonly name: string };
        const bound = objects.filter((object) => object.kind === kind && object.metadata.name === name);
        expect(bound.map((object) => object.metadata.namespace)).toContain(binding.metadata.namespace);
      }
    }
  });

  test('teams may not change what binds them', () => {
    const objects = render('small');
    const edit = pick(objects, 'ClusterRole', 'gw-gatewarden-gateway-edit');
    const [rule] = edit['rules'] as readonly Rule[];
    expect(rule?.resources).not.toEqual(expect.arrayContaining(['organizations']));
    expect(plurals.filter((name) => !rule?.resources.includes(name))).toEqual([
      'organizations',
      'policies',
      'providers',
      'pricebooks',
    ]);
    expect(edit.metadata.labels).toMatchObject({ 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' });
  });

  test("the cluster's own roles write nothing that spends the platform's money, says what it costs or who is protected", () => {
    const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', '*']);
    for (const name of NAMES) {
      const aggregated = render(name).filter(({ kind, metadata }) => {
        const labels = Object.keys(metadata.labels ?? {});
        return kind === 'ClusterRole' && labels.some((label) => label.includes('aggregate-to-'));
      });
      const written = aggregated
        .flatMap((role) => role['rules'] as readonly Rule[])
        .filter(({ verbs }) => verbs.some((verb) => writes.has(verb)))
        .flatMap(({ resources }) => resources);
      const kept = ['organizations', 'policies', 'pricebooks', 'providers', '*'];
      expect(written.filter((resource) => kept.includes(resource))).toEqual([]);
    }
  });

  test('organizations are accepted from the namespace of the platform, or those that are named', () => {
    const told = (controller: object): string | undefined => {
      const objects = manifests(template('gatewarden', { ...INSTALLATIONS['small'], controller }));
      const container = containerOf(workload(objects, 'gw-gatewarden-controller'), 'controller');
      return environment(container, {})['GW_ORGANIZATION_NAMESPACES'];
    };
    expect(told({})).toBe('gateway');
    expect(told({ namespaces: ['a', 'b'], platformNamespace: 'b' })).toBe('b');
    expect(told({ organizationNamespaces: ['gateway', 'team-x'] })).toBe('gateway,team-x');
    expect(told({ organizationNamespaces: ['*'] })).toBe('*');
  });

  test.each<readonly [object, string]>([
    [{}, 'existingSecret'],
    [{ ...INSTALLATIONS['small'], redis: { existingSecret: '' } }, 'existingSecret'],
    [{ ...INSTALLATIONS['small'], gatway: {} }, 'gatway'],
    [{ ...INSTALLATIONS['small'], gateway: { drainSecond: 5 } }, 'drainSecond'],
    [{ ...INSTALLATIONS['small'], gateway: { env: [{ name: 'GW_DATA_DIR', value: '/' }] } }, 'env'],
    [{ ...INSTALLATIONS['small'], configuration: { source: 'Folder' } }, 'configMap'],
    [{ ...INSTALLATIONS['small'], inference: { mode: 'Off' } }, 'mode'],
    [{ ...INSTALLATIONS['small'], image: { digest: 'sha256:abc' } }, 'digest'],
    [{ ...INSTALLATIONS['small'], networkPolicy: { dns: { ports: [] } } }, 'ports'],
    [{ ...INSTALLATIONS['small'], gateway: { autoscaling: { minReplicas: 11 } } }, 'minReplicas (11) must be at most'],
    ...['4095Mi', '4.2G', 4e9].map((memory): readonly [object, string] => [
      { ...INSTALLATIONS['small'], inference: { resources: { limits: { memory } } } },
      'maxRssMiB (4096) must be at most resources.limits.memory',
    ]),
    [
      { ...INSTALLATIONS['namespaces'], controller: { namespaces: ['a'], platformNamespace: 'b' } },
      'platformNamespace (b)',
    ],
  ])('values that make no sense are refused: %j', (values, named) => {
    const { status, err } = template('gatewarden', values);
    expect(status).not.toBe(0);
    expect(err).toContain(named);
  });

  test.each<object>([
    { gateway: { autoscaling: { minReplicas: 10 } } },
    { gateway: { autoscaling: { enabled: false, minReplicas: 11 } } },
    ...['4096Mi', '4Gi', '4.3G', 4294967296].map((memory) => ({ inference: { resources: { limits: { memory } } } })),
    { inference: { resources: { limits: { memory: null } } } },
    { inference: { mode: 'Disabled', resources: { limits: { memory: '1Gi' } } } },
    { controller: { namespaces: ['a', 'b'], platformNamespace: 'b' } },
  ])('values at the edge of sense are taken: %j', (values) => {
    expect(template('gatewarden', { ...INSTALLATIONS['small'], ...values })).toMatchObject({ status: 0, err: '' });
  });

  test.each(NAMES)('%s: what is written on a node has a bound', (name) => {
    const folders = workloadsOf(render(name)).flatMap(({ pod }) =>
      (pod.volumes ?? []).flatMap(({ emptyDir }) => emptyDir ?? []),
    );
    expect(folders.length).toBeGreaterThan(0);
    for (const { sizeLimit } of folders) expect(sizeLimit).toMatch(/^\d+[MG]i$/);
  });

  test('managed providers are accepted from the namespace of the release, or the one that is named', () => {
    const told = (objects: readonly Manifest[]): string | undefined =>
      environment(containerOf(workload(objects, 'gw-gatewarden-controller'), 'controller'), {})[
        'GW_PLATFORM_NAMESPACE'
      ];
    expect(told(render('namespaces'))).toBe('gateway');
    const controller = { namespaces: ['a', 'b'], platformNamespace: 'b' };
    expect(told(manifests(template('gatewarden', { ...INSTALLATIONS['small'], controller })))).toBe('b');
  });

  test.each(['gateway', 'controller', 'inference'])('%s.env takes no variable that the chart sets', (component) => {
    const given = ['GW_PHONE_REGIONS'];
    const containers = NAMES.flatMap((name) => workloadsOf(render(name))).flatMap(({ pod }) => [
      ...pod.containers,
      ...(pod.initContainers ?? []),
    ]);
    const set = [...new Set(containers.flatMap(({ env = [] }) => env.map(({ name }) => name)))];
    const names = set.filter((name) => !given.includes(name)).sort();
    expect(names).toEqual(expect.arrayContaining(['GW_LEAVE_SECONDS', 'GW_MODELS_DIR', 'GW_WATCH_NAMESPACES']));
    const env = names.map((name) => ({ name, value: '1' }));
    const { err } = template('gatewarden', { ...INSTALLATIONS['small'], [component]: { env } });
    expect(
      names.filter((_, index) => !err.includes(`/${component}/env/${index}/name`)),
      err,
    ).toEqual([]);
  });
});

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly name?: string;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Probe {
  readonly exec?: { readonly command: readonly unknown[] };
}
