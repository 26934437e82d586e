import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { HAS_CLUSTER, type KubectlRun } from '../harness/cluster.ts';
import type { ControllerProcess } from '../harness/controller.ts';
import { newKey, resource, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { HAS_HELM } from '../harness/helm.ts';
import { createDatabase } from '../harness/postgres.ts';
import { skipUnless } from '../harness/skip.ts';
import { RELEASE, startInstallation, type Installation } from '../harness/installation.ts';

const GWCTL = join(import.meta.dirname, '../../src/cli/gwctl.ts');
const BUILT = HAS_CLUSTER && HAS_HELM;

describe('the controller on an API server', skipUnless(BUILT, 'no control plane is built: `make test-cluster`'), () => {
  let all: Installation;
  let controller: ControllerProcess;
  const gateways: GatewayProcess[] = [];
  const key = newKey();

  const kubectl = (...args: readonly string[]): string => all.cluster.must(args);
  const apply = (...objects: readonly object[]): string =>
    all.cluster.must(['apply', '-f', '-'], objects.map((one) => JSON.stringify(one)).join('\n'));
  const workload = (spec: object = {}): object =>
    resource('Workload', 'app', { organizationRef: { name: 'acme' }, ...spec });
  const condition = (kind: string, name: string, type: string): string => {
    const path = `{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason}{end}`;
    return all.cluster.kubectl(['get', `${kind}.gatewarden.dev`, name, '-o', `jsonpath=${path}`]).out;
  };
  const call = (gateway: GatewayProcess, bearer: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'Hello' }] }),
    });
  /** What each gateway answers to a call with a key. */
  const statuses = (bearer = key): Promise<readonly number[]> =>
    Promise.all(gateways.map(async (gateway) => (await call(gateway, bearer)).status));
  /** The limit of requests that each gateway tells. */
  const limits = (): Promise<readonly (string | null)[]> =>
    Promise.all(gateways.map(async (one) => (await call(one, key)).headers.get('x-ratelimit-limit-requests')));
  const metric = async (name: string, from = controller): Promise<number> => {
    const text = await (await fetch(`${from.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const said = (what: string, from = controller): number => from.log.filter((line) => line.includes(what)).length;
  /** However busy the machine is. */
  const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 90_000, interval: 200 });
  /** Changes the limit, and waits until all gateways go by it. */
  const follows = async (limit: number): Promise<void> => {
    apply(workload({ limits: { requestsPerMinute: limit } }));
    await eventually(limits).toEqual(gateways.map(() => String(limit)));
  };

  beforeAll(async () => {
    const databaseUrl = await createDatabase(inject('databaseUrl'));
    all = await startInstallation({
      databaseUrl,
      values: ['--set', 'controller.namespaces={default},controller.platformNamespace=default'],
    });
    controller = await all.startController('one');
  }, 240_000);
  afterAll(async () => {
    await all?.[Symbol.asyncDispose]();
  });

  test('what is applied reaches gateways; conditions tell when', async () => {
    apply(...tenant({ upstreamUrl: all.upstream.url, key }));
    await eventually(() => condition('workloads', 'app', 'Accepted')).toBe('True Accepted');
    expect(condition('workloads', 'app', 'ResolvedRefs')).toBe('True ResolvedRefs');
    // Nobody serves by it yet.
    expect(condition('workloads', 'app', 'Programmed')).toBe('False Pending');
    for (const name of ['gateway-0', 'gateway-1']) gateways.push(await all.startGateway(name));
    const names = [
      'organizations/acme',
      'workloads/app',
      'virtualkeys/app-key',
      'providers/upstream',
      'pricebooks/prices',
    ];
    const waited = ['wait', '--for=condition=Programmed', '--timeout=60s'];
    kubectl(...waited, ...names.map((name) => name.replace('/', '.gatewarden.dev/')));
    expect(await statuses()).toEqual([200, 200]);
    const status = JSON.parse(kubectl('get', 'gwwl', 'app', '-o', 'json')) as {
      metadata: { generation: number; finalizers: string[] };
      status: { observedGeneration: number };
    };
    expect(status.metadata.finalizers).toEqual(['gatewarden.dev/snapshot']);
    expect(status.status.observedGeneration).toBe(status.metadata.generation);
    expect(kubectl('get', 'gwwl', 'app')).toMatch(/app +acme +Development .* True/);
    await follows(1000);
    await eventually(() => condition('workloads', 'app', 'Programmed')).toBe('True Programmed');
    expect(kubectl('get', 'gwwl', 'app', '-o', 'jsonpath={.status.limits}')).toBe('{"requestsPerMinute":1000}');
    // 429: the API server asks to wait while it makes room for new kinds.
    expect(controller.log.filter((line) => line.includes('fault') && !line.includes('429'))).toEqual([]);
  });

  test('a fault is told by a condition and by an event; secrets of another type are not read', async () => {
    const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'vendor', key: 'main' } }];
    apply(resource('Provider', 'vendor', { slug: 'openai', jurisdiction: 'US', credentials }));
    await eventually(() => condition('providers', 'vendor', 'ResolvedRefs')).toBe('False SecretNotFound');
    await eventually(() => kubectl('events', '--for', 'provider.gatewarden.dev/vendor')).toMatch(
      /Warning +SecretNotFound/,
    );
    kubectl('create', 'secret', 'generic', 'vendor', '--from-literal=main=canary-secret');
    await sleep(1000);
    expect(condition('providers', 'vendor', 'ResolvedRefs')).toBe('False SecretNotFound');
    kubectl('delete', 'secret', 'vendor');
    kubectl(
      'create',
      'secret',
      'generic',
      'vendor',
      '--type=gatewarden.dev/credentials',
      '--from-literal=main=canary-secret',
    );
    await eventually(() => condition('providers', 'vendor', 'Programmed')).toBe('True Programmed');
    const redis = new Redis(all.redis.url);
    try {
      // Sealed on its way: neither there nor in what the controller says.
      for (const name of await redis.keys('*'))
        if ((await redis.type(name)) === 'string')
          expect((await redis.getBuffer(name))!.toString('latin1')).not.toContain('canary-secret');
    } finally {
      redis.disconnect();
    }
    expect(controller.log.join('\n')).not.toContain('canary-secret');
  });

  test('keys are made by kubectl and by gwctl, and are gone for gateways before they are for the cluster', async () => {
    const made = spawnSync(process.execPath, [GWCTL, 'key', 'create', '--workload', 'app'], { encoding: 'utf8' });
    const first = /gw_live_\S+/.exec(made.stderr)![0];
    all.cluster.must(['apply', '-f', '-'], made.stdout);
    const args = ['key', 'create', '--workload', 'app', '--display-name', 'Second', '--apply'];
    const applied = spawnSync(process.execPath, [GWCTL, ...args, '--kubeconfig', all.cluster.kubeconfig], {
      encoding: 'utf8',
    });
    expect(applied).toMatchObject({ status: 0 });
    const second = /gw_live_\S+/.exec(applied.stderr)![0];
    const { metadata } = parse(made.stdout) as { metadata: { name: string } };
    for (const secret of [first, second]) await eventually(() => statuses(secret)).toEqual([200, 200]);
    await eventually(() => condition('virtualkeys', metadata.name, 'Programmed')).toBe('True Programmed');
    // It waits until the finalizer is gone, which is when no gateway serves by it.
    kubectl('delete', 'gwkey', metadata.name, '--timeout=60s');
    expect(await statuses(first)).toEqual([401, 401]);
    kubectl('patch', 'gwkey', 'app-key', '--type=merge', '-p', '{"spec":{"revoked":true}}');
    await eventually(() => statuses()).toEqual([401, 401]);
    const back = all.cluster.kubectl(['patch', 'gwkey', 'app-key', '--type=merge', '-p', '{"spec":{"revoked":false}}']);
    expect(back.err).toContain('cannot be undone');
    kubectl('delete', 'gwkey', 'app-key', '--timeout=60s');
    apply(...tenant({ upstreamUrl: all.upstream.url, key, workload: { limits: { requestsPerMinute: 1000 } } }));
    await eventually(() => statuses()).toEqual([200, 200]);
  });

  test('what a workload has spent is in its status', async () => {
    apply(workload({ limits: { requestsPerMinute: 1000 }, budget: { amount: '50', period: 'Monthly' } }));
    await statuses();
    await eventually(() => kubectl('get', 'gwwl', 'app', '-o', 'jsonpath={.status.spend}')).toMatch(/"limit":"50"/);
    const spend = JSON.parse(kubectl('get', 'gwwl', 'app', '-o', 'jsonpath={.status.spend}')) as { amount: string };
    expect(spend).toMatchObject({ currency: 'EUR', period: 'Monthly', limit: '50' });
    expect(Number(spend.amount)).toBeGreaterThan(0);
  });

  test('the controller may do what it does, and nothing else', () => {
    const run = (...args: readonly string[]): KubectlRun => all.cluster.kubectlBy(all.kubeconfig, args);
    const refused: readonly (readonly string[])[] = [
      ['get', 'secret', 'vendor', '-n', 'default'],
      ['get', 'secrets', '-n', RELEASE],
      ['get', 'secrets', '--all-namespaces'],
      ['create', 'secret', 'generic', 'x', '-n', 'default'],
      ['get', 'workloads.gatewarden.dev', '-n', 'kube-system'],
      ['get', 'workloads.gatewarden.dev', '--all-namespaces'],
      ['delete', 'workloads.gatewarden.dev', 'app', '-n', 'default'],
      ['get', 'namespaces'],
      ['get', 'namespace', 'kube-system'],
      ['get', 'pods', '-n', RELEASE],
      ['get', 'configmaps', '-n', RELEASE],
      ['get', 'leases', '-n', RELEASE],
      ['delete', 'lease', 'gatewarden-controller', '-n', RELEASE],
      ['get', 'leases', '-n', 'kube-system'],
      ['get', 'crds'],
      ['get', 'clusterroles'],
      ['create', 'token', 'default', '-n', 'default'],
      ['create', 'clusterrolebinding', 'x', '--clusterrole=cluster-admin', '--serviceaccount=default:default'],
    ];
    for (const args of refused) expect(run(...args).err, args.join(' ')).toMatch(/forbidden/i);
    const made = all.cluster.kubectlBy(all.kubeconfig, ['create', '-f', '-'], JSON.stringify(workload({})));
    expect(made.err).toMatch(/forbidden/i);
    expect(run('get', 'workloads.gatewarden.dev', '-n', 'default')).toMatchObject({ status: 0 });
  });

  test('the API server killed: gateways answer meanwhile, and the controller goes on when it is back', async () => {
    const published = said('config.published');
    await all.cluster.killApiServer();
    expect(await statuses()).toEqual([200, 200]);
    await eventually(() => said('cluster.fault')).toBeGreaterThan(0);
    await all.cluster.startApiServer();
    await follows(1001);
    expect(said('config.published')).toBeGreaterThan(published);
    await eventually(() => condition('workloads', 'app', 'Programmed')).toBe('True Programmed');
  });

  test('states forgotten (410): what happened meanwhile is found by listing anew', async () => {
    apply(resource('Workload', 'brief', { organizationRef: { name: 'acme' } }));
    await eventually(() => condition('workloads', 'brief', 'Programmed')).toBe('True Programmed');
    const lists = await metric('gw_controller_lists_total');
    controller.signal('SIGSTOP');
    await all.cluster.killApiServer();
    await all.cluster.startApiServer();
    kubectl('patch', 'gwwl', 'brief', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    kubectl('delete', 'gwwl', 'brief');
    apply(workload({ limits: { requestsPerMinute: 1002 } }));
    // What was watched is behind both the log and the cache of the API server.
    await all.cluster.compact();
    await all.cluster.killApiServer();
    await all.cluster.startApiServer();
    controller.signal('SIGCONT');
    await eventually(limits).toEqual(['1002', '1002']);
    await eventually(() => metric('gw_controller_lists_total')).toBeGreaterThan(lists);
    await eventually(() => said('failed with status 410') + said('ended with an error')).toBeGreaterThan(0);
    await eventually(() => metric('gw_controller_pending_resources')).toBe(0);
  });

  test('a lease that another one takes: it follows, and leads again in a later term when that one is silent', async () => {
    const epoch = await metric('gw_controller_epoch');
    const following = said('controller.following');
    const lease = ['lease', 'gatewarden-controller', '-n', RELEASE];
    kubectl('patch', ...lease, '--type=merge', '-p', '{"spec":{"holderIdentity":"somebody","leaseTransitions":1}}');
    await eventually(() => said('controller.following')).toBeGreaterThan(following);
    await eventually(() => metric('gw_controller_epoch')).toBeGreaterThan(epoch);
    const taken = await metric('gw_controller_epoch');
    kubectl('delete', ...lease);
    await eventually(() => metric('gw_controller_epoch')).toBeGreaterThan(taken);
    await follows(1003);
  });

  test('Redis emptied: what was published is there again', async () => {
    await all.redis.restart({ empty: true });
    await eventually(() => statuses()).toEqual([200, 200]);
    await follows(1004);
    await eventually(() => condition('workloads', 'app', 'Programmed')).toBe('True Programmed');
  });

  test('of two controllers the other one goes on, killed or ended', async () => {
    const epoch = await metric('gw_controller_epoch');
    const second = await all.startController('two');
    await eventually(() => metric('gw_controller_synced', second)).toBe(1);
    expect(await metric('gw_controller_epoch', second)).toBe(0);
    await controller.kill();
    await eventually(() => metric('gw_controller_epoch', second)).toBeGreaterThan(epoch);
    await follows(1005);
    controller = await all.startController('three');
    await eventually(() => metric('gw_controller_synced')).toBe(1);
    expect(await second.stop()).toBe(0);
    await follows(1006);
    expect(await metric('gw_controller_epoch')).toBeGreaterThan(epoch + 1);
  });
});
