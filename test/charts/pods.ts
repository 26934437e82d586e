import type { Manifest } from '../harness/helm.ts';

/** A container, as far as tests look at it. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext?: SecurityContext;
  readonly resources: { readonly limits?: Readonly<Record<string, unknown>> };
  readonly volumeMounts?: readonly { readonly name: string }[];
  readonly [part: string]: unknown;
}

interface SecurityContext {
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly privileged?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seccompProfile?: { readonly type: string };
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
}

interface Pod {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit?: string } }[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
}

/** Something that makes pods. */
export interface Workload {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pod: Pod;
}

/** Whatever of these objects makes pods. */
export function workloadsOf(objects: readonly Manifest[]): readonly Workload[] {
  return objects.flatMap(({ metadata, spec }) => {
    const template = (
      spec as { readonly template?: { readonly metadata: Manifest['metadata']; readonly spec: Pod } } | undefined
    )?.template;
    return template ? [{ name: metadata.name, labels: template.metadata.labels ?? {}, pod: template.spec }] : [];
  });
}

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/**
 * What a pod lacks of the level `restricted` of the Pod Security Standards, and of ours: a root file system that cannot be
 * written, bounded memory.
 */
export function restrictedFaults({ name, pod }: Workload): readonly string[] {
  const faults: string[] = [];
  const check = (good: boolean, what: string): void => {
    if (!good) faults.push(`${name}: ${what}`);
  };
  check(!pod.hostNetwork && !pod.hostPID && !pod.hostIPC, 'shares namespaces with its node');
  check(pod.securityContext?.runAsNonRoot === true, 'may run as root');
  check(pod.securityContext?.runAsUser !== 0, 'runs as root');
  check(pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile');
  for (const volume of pod.volumes ?? [])
    check(
      Object.keys(volume).every((key) => key === 'name' || VOLUMES.includes(key)),
      `volume ${volume.name}`,
    );
  for (const { name: container, securityContext, resources, ports } of [
    ...pod.containers,
    ...(pod.initContainers ?? []),
  ]) {
    const { drop = [], add = [] } = securityContext?.capabilities ?? {};
    check(securityContext?.allowPrivilegeEscalation === false, `${container}: privileges may grow`);
    check(securityContext?.privileged !== true, `${container}: is privileged`);
    check(securityContext?.runAsNonRoot !== false && securityContext?.runAsUser !== 0, `${container}: is root`);
    check(drop.includes('ALL') && add.length === 0, `${container}: has capabilities`);
    check(securityContext?.readOnlyRootFilesystem === true, `${container}: can write its root file system`);
    check(resources.limits?.['memory'] !== undefined, `${container}: has no bound of memory`);
    const open = (ports ?? []) as readonly { readonly hostPort?: number }[];
    check(
      open.every((port) => port.hostPort === undefined),
      `${container}: has a port of its node`,
    );
  }
  return faults;
}
