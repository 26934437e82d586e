import { describe, expect, test } from 'vitest';
import { HAS_HELM, manifests, template, type Manifest } from '../harness/helm.ts';
import { skipUnless } from '../harness/skip.ts';
import { workloadsOf } from './pods.ts';
import { pick, render } from './rendered.ts';
import { INSTALLATIONS } from './values.ts';

type Labels = Readonly<Record<string, string>>;

interface Peer {
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly namespaceSelector?: object;
  readonly ipBlock?: { readonly cidr: string };
}

interface Rule {
  readonly to?: readonly Peer[];
  readonly from?: readonly Peer[];
  readonly ports: readonly { readonly protocol: string; readonly port: number }[];
}

interface Policy {
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}

const ANY_POD = [{ namespaceSelector: {} }];
const small = (networkPolicy: object, more: object = {}): readonly Manifest[] =>
  manifests(template('gatewarden', { ...INSTALLATIONS['small'], ...more, networkPolicy }));
const policy = (objects: readonly Manifest[], component: string): Policy =>
  pick(objects, 'NetworkPolicy', `gw-gatewarden-${component}`)['spec'] as Policy;
const tcp = (port: number): object => ({ protocol: 'TCP', port });
const egressTo = ({ egress = [] }: Policy, port: number): readonly Rule[] =>
  egress.filter(({ ports }) => ports.some((each) => each.protocol === 'TCP' && each.port === port));

/** Whether the pods of one component may connect to a port of another's, as both their policies say. */
function admitted(objects: readonly Manifest[], from: string, to: string, port: number): boolean {
  const labels = workloadsOf(objects).find(({ name }) => name === `gw-gatewarden-${from}`)?.labels ?? {};
  return (policy(objects, to).ingress ?? [])
    .filter(({ ports }) => ports.some((each) => each.port === port))
    .some(
      (rule) =>
        rule.from === undefined ||
        rule.from.some(
          ({ podSelector, namespaceSelector }) =>
            !namespaceSelector &&
            Object.entries(podSelector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value),
        ),
    );
}

describe('network policies', skipUnless(HAS_HELM, 'helm is not built: `make helm`'), () => {
  test.each([
    ['small', ANY_POD, [53]],
    ['everything', [{ ipBlock: { cidr: '169.254.20.10/32' } }, ...ANY_POD], [53, 5353]],
  ])('%s: whoever asks anybody resolves names where it is said', (name, to, ports) => {
    const objects = render(name);
    for (const component of ['gateway', 'controller', 'migrations', 'test'])
      expect(policy(objects, component).egress, component).toContainEqual({
        to,
        ports: ports.flatMap((port) => [{ protocol: 'UDP', port }, tcp(port)]),
      });
    expect(policy(objects, 'inference').egress).toEqual([]);
  });

  test('the Redis of the cache is reached, where it is like the other one and where it is not', () => {
    expect(egressTo(policy(render('everything'), 'gateway'), 6381)).toEqual([
      { to: [{ ipBlock: { cidr: '10.2.0.0/24' } }], ports: [tcp(6381)] },
    ]);
    const redis = { ...(INSTALLATIONS['small'] as { readonly redis: object }).redis, cacheKey: 'cache' };
    const to = [{ ipBlock: { cidr: '10.1.0.0/24' } }];
    const ported = small({ redis: { to }, cacheRedis: { port: 6381 } }, { redis });
    expect(egressTo(policy(ported, 'gateway'), 6381)).toEqual([{ to, ports: [tcp(6381)] }]);
    expect(egressTo(policy(ported, 'controller'), 6381)).toEqual([]);
    expect(egressTo(policy(small({ redis: { to } }, { redis }), 'gateway'), 6379)[1]).toEqual({
      to,
      ports: [tcp(6379)],
    });
    expect(egressTo(policy(small({ cacheRedis: { port: 6381 } }), 'gateway'), 6381)).toEqual([]);
  });

  test.each(['small', 'everything'])('%s: helm test may ask what it asks', (name) => {
    const objects = render(name);
    for (const port of [8080, 8081]) {
      expect(admitted(objects, 'test', 'gateway', port), String(port)).toBe(true);
      expect(egressTo(policy(objects, 'test'), port)).toHaveLength(1);
    }
  });

  test('who is named may call, and others of the release may not', () => {
    const objects = render('everything');
    expect(policy(objects, 'gateway').ingress?.[0]?.from).toContainEqual({
      namespaceSelector: { matchLabels: { team: 'apps' } },
    });
    for (const from of ['controller', 'inference', 'migrations'])
      expect(admitted(objects, from, 'gateway', 8080), from).toBe(false);
  });

  test.each<readonly [string, object, boolean]>([
    ['nobody is named', {}, false],
    ['somebody is named', { metricsFrom: ANY_POD }, true],
    ['there are no policies', { enabled: false }, true],
  ])('where %s, the engine is a target of the monitor only if it may be read', (_, networkPolicy, target) => {
    const { metadata } = pick(small(networkPolicy), 'Service', 'gw-gatewarden-inference');
    expect(metadata.labels?.['gatewarden.dev/metrics'] === 'true').toBe(target);
  });
});
