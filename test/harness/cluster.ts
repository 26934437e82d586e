import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasOpenssl, kubeconfigOf, makeClusterKeys, tokenKubeconfig } from './cluster-keys.ts';
import {
  apiServerArguments,
  areBuilt,
  CONTROL_PLANE,
  CONTROLLER_MANAGER_ARGUMENTS,
  endProgram,
  etcdArguments,
  kwokArguments,
  NODE_PROGRAMS,
  pathOf,
  SCHEDULER_ARGUMENTS,
  startProgram,
  type Ports,
} from './control-plane.ts';
import { freePort } from './free-port.ts';
import { hasEnded } from './has-ended.ts';

const READY_MS = 120_000;

/** Whether the programs of a control plane are there: `make cluster` builds them. */
export const HAS_CLUSTER = areBuilt(CONTROL_PLANE) && hasOpenssl();
/** Whether those are there that schedule pods and let them seem to run. */
export const HAS_NODES = HAS_CLUSTER && areBuilt(NODE_PROGRAMS);

/** What a run of kubectl came to. */
export interface KubectlRun {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** A control plane for tests: etcd and an API server on loopback, with RBAC and Pod Security. */
export interface Cluster extends AsyncDisposable {
  /** A file by which the cluster's administrator reaches it. */
  readonly kubeconfig: string;
  readonly apiServerPid: number;
  /** Runs kubectl as the administrator; `input` is its standard input, as for `-f -`. */
  kubectl(args: readonly string[], input?: string): KubectlRun;
  /** The same; throws what kubectl says where it fails. */
  must(args: readonly string[], input?: string): string;
  /** A kubeconfig of a service account: a token that the API server has signed, as pods get one. */
  accountKubeconfig(namespace: string, name: string): string;
  /** `kubectl apply` without keeping this process from anything else. Rejects where it fails. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Runs kubectl by another kubeconfig. */
  kubectlBy(kubeconfig: string, args: readonly string[], input?: string): KubectlRun;
  /** Ends the API server without warning (SIGKILL). */
  killApiServer(): Promise<void>;
  /** Starts it again on the same port, and waits until it is ready. */
  startApiServer(): Promise<void>;
  /** Makes etcd forget all states but the present one. */
  compact(): Promise<void>;
  /** Puts resources where the API server keeps them, as they are: many more than could be created in time. */
  store(plural: string, objects: readonly StoredResource[]): Promise<void>;
}

/** A resource of Gatewarden's group, whole. */
export interface StoredResource {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

export interface ClusterOptions {
  /** So many nodes: pods are scheduled, and seem to run and to complete. */
  readonly nodes?: number;
}

/** Starts a control plane. Rejects, with the end of its log, when it is not ready within two minutes. */
export async function startCluster({ nodes = 0 }: ClusterOptions = {}): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-cluster-'));
  const plane = new ControlPlane(folder, nodes > 0, {
    etcd: await freePort(),
    apiServer: await freePort(),
    kwok: await freePort(),
  });
  try {
    await plane.start(nodes);
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

class ControlPlane implements Cluster {
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #withPods: boolean;
  readonly #ports: Ports;
  readonly #children: ChildProcess[] = [];
  #apiServer: ChildProcess | undefined;

  constructor(folder: string, withPods: boolean, ports: Ports) {
    this.#folder = folder;
    this.#withPods = withPods;
    this.#ports = ports;
    this.kubeconfig = join(folder, 'admin.kubeconfig');
  }

  get apiServerPid(): number {
    return this.#apiServer?.pid ?? 0;
  }

  /** What kubectl keeps of a server goes with the cluster. */
  get #environment(): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], HOME: this.#folder };
  }

  get #url(): string {
    return `https://127.0.0.1:${this.#ports.apiServer}`;
  }

  async start(nodes: number): Promise<void> {
    makeClusterKeys(this.#folder);
    for (const user of ['admin', 'controller-manager', 'scheduler'] as const)
      this.#write(`${user}.kubeconfig`, kubeconfigOf(this.#folder, user, this.#url));
    this.#run('etcd', etcdArguments(this.#folder, this.#ports));
    await this.startApiServer();
    if (!this.#withPods) return;
    this.#run('kube-controller-manager', CONTROLLER_MANAGER_ARGUMENTS);
    this.#run('kube-scheduler', SCHEDULER_ARGUMENTS);
    this.#run('kwok', kwokArguments(this.#ports));
    for (let index = 0; index < nodes; index++) this.must(['create', '-f', '-'], JSON.stringify(nodeOf(index)));
    this.must(['wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=60s']);
    await this.#until(
      'the controller manager',
      () => this.kubectl(['get', 'serviceaccount', 'default', '-n', 'default']).status === 0,
    );
  }

  kubectl(args: readonly string[], input?: string): KubectlRun {
    return this.kubectlBy(this.kubeconfig, args, input);
  }

  kubectlBy(kubeconfig: string, args: readonly string[], input?: string): KubectlRun {
    const { status, stdout, stderr } = spawnSync(pathOf('kubectl'), [`--kubeconfig=${kubeconfig}`, ...args], {
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      env: this.#environment,
      ...(input !== undefined && { input }),
    });
    return { status, out: stdout, err: stderr };
  }

  must(args: readonly string[], input?: string): string {
    const { status, out, err } = this.kubectl(args, input);
    if (status !== 0) throw new Error(`kubectl ${args.slice(0, 3).join(' ')} ended with ${status}: ${err}`);
    return out;
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const child = spawn(pathOf('kubectl'), [`--kubeconfig=${this.kubeconfig}`, 'apply', '-f', '-'], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: this.#environment,
    });
    child.stdin.end(objects.map((one) => JSON.stringify(one)).join('\n'));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(`kubectl apply ended with ${String(code)}`);
  }

  accountKubeconfig(namespace: string, name: string): string {
    const token = this.must(['create', 'token', name, '-n', namespace, '--duration=2h']).trim();
    return this.#write(`${namespace}-${name}.kubeconfig`, tokenKubeconfig(this.#folder, token, this.#url, namespace));
  }

  async killApiServer(): Promise<void> {
    if (this.#apiServer) await endProgram(this.#apiServer, true);
  }

  async startApiServer(): Promise<void> {
    this.#apiServer = startProgram(this.#folder, 'kube-apiserver', apiServerArguments(this.#ports, this.#withPods));
    await this.#until('the API server', () => this.kubectl(['get', '--raw', '/readyz']).status === 0);
  }

  async compact(): Promise<void> {
    const { header } = await this.#askEtcd('range', { key: base64('none') });
    await this.#askEtcd('compaction', { revision: header?.revision, physical: true });
  }

  async store(plural: string, objects: readonly StoredResource[]): Promise<void> {
    for (let from = 0; from < objects.length; from += 100) {
      const success = objects.slice(from, from + 100).map((object) => {
        const { namespace, name } = object.metadata;
        const key = base64(`/registry/gatewarden.dev/${plural}/${namespace}/${name}`);
        return { requestPut: { key, value: base64(JSON.stringify(object)) } };
      });
      await this.#askEtcd('txn', { success });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The API server before etcd: without it, it would not end for a while.
    const all = [...this.#children.slice(1).reverse(), this.#apiServer, this.#children[0]];
    for (const child of all) if (child) await endProgram(child);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #askEtcd(path: string, body: object): Promise<{ readonly header?: { readonly revision?: string } }> {
    const answer = await fetch(`http://127.0.0.1:${this.#ports.etcd}/v3/kv/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status}`);
    return (await answer.json()) as { readonly header?: { readonly revision?: string } };
  }

  #run(name: string, args: readonly string[]): void {
    this.#children.push(startProgram(this.#folder, name, args));
  }

  #write(name: string, text: string): string {
    const file = join(this.#folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    for (const until = Date.now() + READY_MS; Date.now() < until; await sleep(200)) {
      const dead = [...this.#children, this.#apiServer].some((child) => child && hasEnded(child));
      if (dead) break;
      if (holds()) return;
    }
    throw new Error(`${what} is not ready:\n${this.#logs()}`);
  }

  #logs(): string {
    const names = ['etcd', 'kube-apiserver', ...(this.#withPods ? NODE_PROGRAMS : [])];
    return names
      .map((name) => {
        const file = join(this.#folder, `${name}.log`);
        closeSync(openSync(file, 'a'));
        return `${name}: …${readFileSync(file, 'utf8').slice(-1500)}`;
      })
      .join('\n');
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A node, in one of two zones, that nothing real is behind. */
function nodeOf(index: number): object {
  const room = { cpu: '32', memory: '256Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `node-${index}`,
      labels: {
        'kubernetes.io/hostname': `node-${index}`,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': `zone-${index % 2}`,
      },
    },
    status: { allocatable: room, capacity: room },
  };
}
