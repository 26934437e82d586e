import { manifests, template, type HelmRun, type Manifest } from '../harness/helm.ts';
import { workloadsOf, type Container, type Workload } from './pods.ts';
import { INSTALLATIONS, WITH_MONITORING } from './values.ts';

/** Each installation is rendered once: Helm takes a second on a busy machine. */
const RUNS = new Map<string, HelmRun>();

/** What rendering an installation of `values.ts` came to. */
export function run(name: string): HelmRun {
  const known = RUNS.get(name);
  if (known) return known;
  const found = template('gatewarden', INSTALLATIONS[name], name === 'everything' ? WITH_MONITORING : []);
  RUNS.set(name, found);
  return found;
}

export const render = (name: string): readonly Manifest[] => manifests(run(name));

/** The object of this kind and name. Throws where there is none. */
export function pick(objects: readonly Manifest[], kind: string, name: string): Manifest {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
}

/** What runs by this name. Throws where nothing does. */
export function workload(objects: readonly Manifest[], name: string): Workload {
  const found = workloadsOf(objects).find((each) => each.name === name);
  if (!found) throw new Error(`nothing runs as ${name}`);
  return found;
}

export function containerOf({ pod }: Pick<Workload, 'pod'>, name: string): Container {
  const found = pod.containers.find((container) => container.name === name);
  if (!found) throw new Error(`no container ${name}`);
  return found;
}

/** The variables of a container; `values`: of those that are read from elsewhere. */
export const environment = (
  { env = [] }: Container,
  values: Readonly<Record<string, string>>,
): Record<string, string> => Object.fromEntries(env.map(({ name, value }) => [name, value ?? values[name] ?? '']));
