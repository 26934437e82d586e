import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRESENTATION } from '#/config/crds/presentation.ts';
import { CUSTOM_KINDS } from '#/config/resources/kinds.ts';
import { BROKEN_RESOURCES, REFUSED_CHANGES } from '#/config/testing/broken-resources.ts';
import { make } from '#/config/testing/resources.ts';
import { HAS_CLUSTER, startCluster, type Cluster, type KubectlRun } from '../harness/cluster.ts';
import { skipUnless } from '../harness/skip.ts';

const ROOT = join(import.meta.dirname, '../..');
const DRY_RUN = ['apply', '--dry-run=server', '-f', '-'];

describe(
  'the definitions on an API server',
  skipUnless(HAS_CLUSTER, 'no control plane is built: `make test-cluster`'),
  () => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await startCluster();
      must(cluster.kubectl(['apply', '-f', join(ROOT, 'charts/gatewarden-crds/templates')]));
      const names = CUSTOM_KINDS.map((kind) => `crd/${PRESENTATION[kind].plural}.gatewarden.dev`);
      must(cluster.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]));
    }, 120_000);
    afterAll(async () => {
      await cluster?.[Symbol.asyncDispose]();
    });

    test('are structural: no condition says otherwise', () => {
      const { out } = cluster.kubectl(['get', 'crds', '-o', 'json']);
      const { items } = JSON.parse(out) as { items: { status: { conditions: { type: string; status: string }[] } }[] };
      expect(items).toHaveLength(CUSTOM_KINDS.length);
      for (const { status } of items) {
        expect(status.conditions.filter(({ type }) => type === 'NonStructuralSchema')).toEqual([]);
        expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'NamesAccepted', status: 'True' }));
      }
    });

    test.each(globSync('k8s/samples/**/*.yaml', { cwd: ROOT }))('%s is taken', (path) => {
      const { status, err } = cluster.kubectl(DRY_RUN, readFileSync(join(ROOT, path), 'utf8'));
      expect({ status, err }).toEqual({ status: 0, err: '' });
    });

    test.each(BROKEN_RESOURCES)('%s, %s: %j is refused', (kind, _cel, spec, fault) => {
      const { status, err } = cluster.kubectl(DRY_RUN, JSON.stringify(make(kind, 'one', spec)));
      const [field = '', message = ''] = split(fault);
      expect(status).not.toBe(0);
      expect(err).toContain(field);
      expect(err).toContain(message);
    });

    test.each(REFUSED_CHANGES)('%s: a change of %j to %j is refused', (kind, before, after, fault) => {
      const apply = ['apply', '-f', '-'];
      try {
        expect(cluster.kubectl(apply, JSON.stringify(make(kind, 'one', before))).status).toBe(0);
        const { status, err } = cluster.kubectl(apply, JSON.stringify(make(kind, 'one', { ...before, ...after })));
        const [field = '', message = ''] = split(fault);
        expect(status).not.toBe(0);
        expect(err).toContain(field);
        expect(err).toContain(message);
      } finally {
        cluster.kubectl(['delete', `${PRESENTATION[kind].plural}.gatewarden.dev`, 'one', '--ignore-not-found']);
      }
    });

    test('defaults are filled in, unknown fields are refused, status is written apart', () => {
      cluster.kubectl(['apply', '-f', '-'], JSON.stringify(make('Workload', 'one')));
      const { out } = cluster.kubectl(['get', 'gwwl', 'one', '-o', 'json']);
      expect(JSON.parse(out)).toMatchObject({
        spec: { environment: 'Development', answerTimeoutSeconds: 300, onHangUp: 'Abort' },
      });
      const unknown = cluster.kubectl(DRY_RUN, JSON.stringify(make('Workload', 'two', { organisation: 'x' })));
      expect(unknown.status).not.toBe(0);
      expect(unknown.err).toContain('unknown field "spec.organisation"');
      const condition = {
        type: 'Programmed',
        status: 'True',
        reason: 'Programmed',
        message: 'taken in',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const patch = JSON.stringify({ spec: { onHangUp: 'Drain' }, status: { conditions: [condition] } });
      cluster.kubectl(['patch', 'gwwl', 'one', '--subresource=status', '--type=merge', '-p', patch]);
      const row = cluster.kubectl(['get', 'gwwl', 'one']).out;
      expect(row).toMatch(/NAME +ORGANIZATION +ENVIRONMENT +BUDGET +PERIOD +SPENT +PROGRAMMED +AGE/);
      expect(row).toMatch(/one +acme +Development .* True/);
      expect(cluster.kubectl(['get', 'gwwl', 'one', '-o', 'jsonpath={.spec.onHangUp}']).out).toBe('Abort');
    });

    test('are found by their short names, their category and their fields', () => {
      for (const { shortName } of Object.values(PRESENTATION))
        expect(cluster.kubectl(['get', shortName]).status, shortName).toBe(0);
      expect(cluster.kubectl(['get', 'gatewarden']).status).toBe(0);
      const selected = ['get', 'gwwl', '--field-selector', 'spec.environment=Production', '-o', 'name'];
      expect(cluster.kubectl(selected)).toMatchObject({ status: 0, out: '' });
    });
  },
);

function must({ status, err }: KubectlRun): void {
  if (status !== 0) throw new Error(`kubectl ended with ${status}: ${err}`);
}

/** `spec.url: is not …` is field and message. */
function split(fault: string): readonly string[] {
  const colon = fault.indexOf(': ');
  return [fault.slice(0, colon), fault.slice(colon + 2)];
}
