import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasOpenssl, kubeconfigOf, makeClusterKeys } from './cluster-keys.ts';
import { freePort } from './free-port.ts';

const BIN = join(import.meta.dirname, '../../.tools/bin');
const READY_MS = 60_000;

/** Whether the programs of a control plane are there: `make cluster` builds them. */
export const HAS_CLUSTER =
  ['etcd', 'kube-apiserver', 'kubectl'].every((name) => existsSync(join(BIN, name))) && hasOpenssl();

/** What a run of kubectl came to. */
export interface KubectlRun {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** A control plane for tests: etcd and an API server on loopback, with RBAC and Pod Security, and no nodes. */
export interface Cluster extends AsyncDisposable {
  /** A file by which the cluster's administrator reaches it. */
  readonly kubeconfig: string;
  /** Runs kubectl as the administrator; `input` is its standard input, as for `-f -`. */
  kubectl(args: readonly string[], input?: string): KubectlRun;
}

/** Starts a control plane. Rejects, with the end of its log, when it is not ready within a minute. */
export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-cluster-'));
  const children: ChildProcess[] = [];
  const close = async (): Promise<void> => {
    // The API server first: without etcd it would not end for a while.
    for (const child of children.toReversed()) await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    makeClusterKeys(folder);
    const [etcdPort, port] = [await freePort(), await freePort()];
    children.push(start(folder, 'etcd', etcdArguments(folder, etcdPort)));
    children.push(start(folder, 'kube-apiserver', apiServerArguments(etcdPort, port)));
    const kubeconfig = join(folder, 'admin.kubeconfig');
    writeFileSync(kubeconfig, kubeconfigOf(folder, 'admin', `https://127.0.0.1:${port}`));
    const kubectl = (args: readonly string[], input?: string): KubectlRun => run(kubeconfig, args, input);
    await ready(kubectl, children, folder);
    return { kubeconfig, kubectl, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function etcdArguments(folder: string, port: number): readonly string[] {
  const url = `http://127.0.0.1:${port}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--unsafe-no-fsync',
  ];
}

function apiServerArguments(etcdPort: number, port: number): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    '--cert-dir=.',
    '--tls-cert-file=apiserver.crt',
    '--tls-private-key-file=apiserver.key',
    '--client-ca-file=ca.crt',
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    '--service-account-key-file=sa.pub',
    '--service-account-signing-key-file=sa.key',
    // Without the controller manager nobody makes the account that every pod would wait for.
    '--disable-admission-plugins=ServiceAccount',
  ];
}

function start(folder: string, name: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'a');
  return spawn(join(BIN, name), args, { cwd: folder, stdio: ['ignore', log, log] });
}

async function ready(kubectl: Cluster['kubectl'], children: readonly ChildProcess[], folder: string): Promise<void> {
  for (const until = Date.now() + READY_MS; Date.now() < until; await sleep(500)) {
    if (children.some((child) => child.exitCode !== null)) break;
    if (kubectl(['get', '--raw', '/readyz']).status === 0) return;
  }
  const log = readFileSync(join(folder, 'kube-apiserver.log'), 'utf8').slice(-2000);
  throw new Error(`the API server is not ready:\n${log}`);
}

function run(kubeconfig: string, args: readonly string[], input: string | undefined): KubectlRun {
  const { status, stdout, stderr } = spawnSync(join(BIN, 'kubectl'), [`--kubeconfig=${kubeconfig}`, ...args], {
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  });
  return { status, out: stdout, err: stderr };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(late);
}
