import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workloadsOf, type Container, type Workload } from '../charts/pods.ts';
import { manifests } from '../harness/helm.ts';
import { start, type Running } from './podman.ts';

/** A pod of the chart with one container, as podman runs it. */
export interface Pod extends Running {
  /** Seconds that the chart gives it to end. */
  readonly graceSeconds: number;
}

export interface PodOptions {
  /** Environment variables that take the place of those in the chart, or of what they are read from. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of Secrets, by the name of their volume. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Folders of this machine, by where they are in the container, read-only. */
  readonly folders?: Readonly<Record<string, string>>;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

/** The chart as `test/charts` renders it and compares it. */
const RENDERED = join(import.meta.dirname, '../charts/golden/small.yaml');
const ANYBODY = 65_532;

/** What the chart says of a Deployment or Job. Throws where it has none of that name. */
function chartPod(component: string): Workload {
  const objects = manifests({ status: 0, out: readFileSync(RENDERED, 'utf8'), err: '' });
  const found = workloadsOf(objects).find(({ name }) => name === `gw-gatewarden-${component}`);
  if (!found) throw new Error(`the chart has no ${component}`);
  return found;
}

/**
 * Starts a pod of the chart: its image, command, environment, user, rights, memory, and mounts are those of the chart; a
 * variable that the chart takes from a Secret, and is not given, is an error.
 */
export async function startPod(component: string, name: string, options: PodOptions): Promise<Pod> {
  const { pod } = chartPod(component);
  const [container] = pod.containers;
  if (!container) throw new Error(`${component} has no container`);
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-pod-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const args = [
      ...rightsOf(pod.securityContext as Record<string, unknown>, container),
      ...['--memory', memoryOf(container)],
      ...environmentOf(container, name, options.env).flatMap((each) => ['--env', each]),
      ...mountsOf(container, folder, options.secrets ?? {}),
      ...Object.entries(options.folders ?? {}).flatMap(([to, from]) => ['--volume', `${from}:${to}:ro`]),
    ];
    const image = `localhost/${container.image.replace(/:.*/, '')}`;
    const running = await start(name, args, image, container['command'] as readonly string[]);
    return {
      ...running,
      graceSeconds: pod.terminationGracePeriodSeconds ?? 30,
      async [Symbol.asyncDispose]() {
        await running[Symbol.asyncDispose]();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function rightsOf(all: Record<string, unknown>, { securityContext: own }: Container): readonly string[] {
  if (!own?.readOnlyRootFilesystem || own.allowPrivilegeEscalation !== false) throw new Error('the chart grants more');
  return [
    ...['--user', `${String(all['runAsUser'])}:${String(all['runAsGroup'])}`],
    ...['--read-only', '--read-only-tmpfs=false', '--security-opt', 'no-new-privileges'],
    ...(own.capabilities?.drop ?? []).flatMap((each) => ['--cap-drop', each]),
  ];
}

/** `2Gi` as podman writes it. */
function memoryOf({ name, resources }: Container): string {
  const limit = resources.limits?.['memory'];
  if (typeof limit !== 'string') throw new Error(`${name} has no limit of memory`);
  return limit.replace('i', '').toLowerCase();
}

function environmentOf(container: Container, pod: string, given: PodOptions['env']): readonly string[] {
  const named = (container.env ?? []) as readonly Variable[];
  const values = new Map(Object.entries(given));
  for (const { name, value, valueFrom } of named) {
    const field = valueFrom?.fieldRef && (valueFrom.fieldRef.fieldPath === 'metadata.name' ? pod : 'default');
    const known = given[name] ?? value ?? field;
    if (known === undefined) throw new Error(`${name} is read from a Secret and not given`);
    values.set(name, known);
  }
  return [...values].map(([name, value]) => `${name}=${value}`);
}

/** Empty folders, and files as Kubernetes gives them to the group of the pod. */
function mountsOf(container: Container, folder: string, secrets: NonNullable<PodOptions['secrets']>): string[] {
  return ((container.volumeMounts ?? []) as readonly Mount[]).flatMap(({ name, mountPath, readOnly }) => {
    const own = join(folder, name);
    mkdirSync(own);
    for (const [file, text] of Object.entries(secrets[name] ?? {})) {
      writeFileSync(join(own, file), text);
      chownSync(join(own, file), 0, ANYBODY);
      chmodSync(join(own, file), 0o440);
    }
    chownSync(own, 0, ANYBODY);
    chmodSync(own, readOnly ? 0o750 : 0o2770);
    return ['--volume', `${own}:${mountPath}:${readOnly ? 'ro' : 'rw'}`];
  });
}
