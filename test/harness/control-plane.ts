import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { hasEnded } from './has-ended.ts';

const BIN = join(import.meta.dirname, '../../.tools/bin');

/** The programs that a control plane needs, and those that run pods beside it, or seem to. */
export const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kubectl'] as const;
export const NODE_PROGRAMS = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const;

/** Whether these programs are built. */
export function areBuilt(names: readonly string[]): boolean {
  return names.every((name) => existsSync(pathOf(name)));
}

export function pathOf(name: string): string {
  return join(BIN, name);
}

/** Where the servers of a control plane listen, all on loopback. */
export interface Ports {
  readonly etcd: number;
  readonly apiServer: number;
  readonly kwok: number;
}

export function etcdArguments(folder: string, { etcd }: Ports): readonly string[] {
  const url = `http://127.0.0.1:${etcd}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--quota-backend-bytes=8589934592',
    '--unsafe-no-fsync',
  ];
}

/** `withPods`: the controller manager runs beside it, and makes the account that pods would else wait for in vain. */
export function apiServerArguments({ etcd, apiServer }: Ports, withPods: boolean): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${apiServer}`,
    '--cert-dir=.',
    '--tls-cert-file=apiserver.crt',
    '--tls-private-key-file=apiserver.key',
    '--client-ca-file=ca.crt',
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--service-account-issuer=https://127.0.0.1:${apiServer}/`,
    '--service-account-key-file=sa.pub',
    '--service-account-signing-key-file=sa.key',
    ...(withPods ? [] : ['--disable-admission-plugins=ServiceAccount']),
  ];
}

export const CONTROLLER_MANAGER_ARGUMENTS: readonly string[] = [
  '--kubeconfig=controller-manager.kubeconfig',
  '--service-account-private-key-file=sa.key',
  '--root-ca-file=ca.crt',
  '--use-service-account-credentials=true',
  '--leader-elect=false',
  '--secure-port=0',
];

export const SCHEDULER_ARGUMENTS: readonly string[] = [
  '--kubeconfig=scheduler.kubeconfig',
  '--leader-elect=false',
  '--secure-port=0',
];

export function kwokArguments({ kwok }: Ports): readonly string[] {
  return [
    '--kubeconfig=admin.kubeconfig',
    `--config=${join(import.meta.dirname, 'stages.yaml')}`,
    '--manage-all-nodes=true',
    '--node-lease-duration-seconds=40',
    `--server-address=127.0.0.1:${kwok}`,
  ];
}

/** A program of the control plane; what it says is in `<name>.log` of the folder. It dies with this process. */
export function startProgram(folder: string, name: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn(pathOf(name), args, { cwd: folder, stdio: ['ignore', log, log] });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.removeListener('exit', kill));
  return child;
}

/** Ends a program: with SIGTERM, and ten seconds later, or at once where `kill` says so, with SIGKILL. */
export async function endProgram(child: ChildProcess, kill = false): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(kill ? 'SIGKILL' : 'SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(late);
}
