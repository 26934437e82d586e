import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { validate } from '#/config/resources/validate.ts';
import { startFakeCluster } from '../../../test/harness/fake-cluster.ts';
import { keyCreate } from './key-create.ts';

interface VirtualKey {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: { readonly hash: { readonly value: string }; readonly hint: string; readonly workloadRef: unknown };
}

function create(...args: readonly string[]): { out: string; err: string; resource: VirtualKey; secret: string } {
  const lines = { out: [] as string[], err: [] as string[] };
  expect(keyCreate(args, { out: (line) => lines.out.push(line), err: (line) => lines.err.push(line) })).toBe(0);
  const [out, err] = [lines.out.join('\n'), lines.err.join('\n')];
  return { out, err, resource: parse(out, { version: '1.1' }) as VirtualKey, secret: /gw_\w+_\S+/.exec(err)![0] };
}

describe('--apply', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-keys-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('creates the resource in the cluster, then shows the key', async () => {
    await using cluster = await startFakeCluster();
    const kubeconfig = cluster.kubeconfig(join(folder, 'kubeconfig'));
    const lines = { out: [] as string[], err: [] as string[] };
    const output = { out: (line: string) => lines.out.push(line), err: (line: string) => lines.err.push(line) };
    expect(await keyCreate(['--workload', 'support', '--apply'], output, kubeconfig)).toBe(0);
    const name = /VirtualKey default\/(\S+) created/.exec(lines.out.join())![1]!;
    const [secret] = /gw_live_\S+/.exec(lines.err.join())!;
    expect(cluster.get('VirtualKey', name)?.spec).toMatchObject({
      workloadRef: { name: 'support' },
      hash: { algorithm: 'SHA256', value: createHash('sha256').update(secret).digest('hex') },
    });
    expect(JSON.stringify(cluster.get('VirtualKey', name))).not.toContain(secret.slice(12));
  });

  test('shows no key that the cluster did not take', async () => {
    await using cluster = await startFakeCluster();
    const kubeconfig = cluster.kubeconfig(join(folder, 'kubeconfig'));
    cluster.answerWith(() => ({ status: 403 }));
    const output = { out: () => expect.fail('printed'), err: () => expect.fail('printed') };
    await expect(keyCreate(['--workload', 'support', '--apply'], output, kubeconfig)).rejects.toThrow('403');
    await expect(keyCreate(['--workload', 'w', '--apply'], output)).rejects.toThrow('--kubeconfig');
  });
});

describe('keyCreate', () => {
  test('shows the key once, beside a resource that holds its hash only', () => {
    const { out, resource, secret } = create('--workload', 'support', '--namespace', 'team');
    expect(secret).toMatch(/^gw_live_[A-Za-z0-9_-]{43}$/);
    expect(resource.spec.hash.value).toBe(createHash('sha256').update(secret).digest('hex'));
    expect(out).not.toContain(secret.slice(12));
    expect(resource.metadata.namespace).toBe('team');
    expect(resource.spec.workloadRef).toEqual({ name: 'support' });
    expect(secret.startsWith(resource.spec.hint)).toBe(true);
  });

  test('makes resources that the gateway takes, whatever the hash looks like', () => {
    for (let round = 0; round < 50; round++) {
      const { resource } = create(
        '--workload',
        'w',
        '--display-name',
        'yes: "1e3" #',
        '--expires-at',
        '2027-01-31T00:00:00Z',
      );
      const faults: string[] = [];
      expect(validate('VirtualKey', resource, (field, message) => faults.push(`${field}: ${message}`))).toMatchObject(
        resource,
      );
      expect(faults).toEqual([]);
    }
  });

  test('makes another key each time, and test keys where told', () => {
    const secrets = new Set(Array.from({ length: 20 }, () => create('--workload', 'w', '--test').secret));
    expect(secrets.size).toBe(20);
    for (const secret of secrets) expect(secret).toMatch(/^gw_test_/);
  });

  test.each([
    [[], '--workload is missing'],
    [['--workload', 'Über'], 'is not a name'],
    [['--workload', 'a\nb: c'], 'is not a name'],
    [['--workload', 'w', '--namespace', '../x'], 'is not a name'],
    [['--workload', 'w', '--expires-at', 'tomorrow'], 'is not a time'],
    [['--workload', 'w', '--expires-at', '2027-13-45T00:00:00Z'], 'is not a time'],
    [['--workload', 'w', '--display-name', 'x'.repeat(129)], 'at most 128 characters'],
  ])('refuses %j', (args, reason) => {
    const output = { out: () => expect.fail('printed'), err: () => expect.fail('printed') };
    expect(() => keyCreate(args, output)).toThrow(reason);
  });
});

test('a workload may be named with its namespace', () => {
  expect(create('--workload', 'team/support').resource).toMatchObject({
    metadata: { namespace: 'team' },
    spec: { workloadRef: { name: 'support' } },
  });
  const other = (): unknown => create('--workload', 'team/support', '--namespace', 'other');
  expect(other).toThrow('--workload names the namespace "team" and --namespace "other"');
});
