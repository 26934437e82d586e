import type { VirtualKeyConfig, WorkloadConfig } from '../snapshot.ts';
import type { Resource } from './catalog.ts';
import { follow, toInstant, type Compilation } from './context.ts';

/** Compiles every VirtualKey, by the SHA-256 (hex) of its secret. Two of the same hash are a fault of the newer. */
export function compileKeys(
  compilation: Compilation,
  workloads: ReadonlyMap<string, WorkloadConfig>,
): ReadonlyMap<string, VirtualKeyConfig> {
  const { catalog, faults } = compilation;
  const keys = new Map<string, VirtualKeyConfig>();
  const holders = new Map<string, string>();
  for (const resource of [...catalog.all('VirtualKey')].sort(olderFirst)) {
    const { spec } = resource.body;
    const target = `${resource.namespace}/${spec.workloadRef.name}`;
    follow(compilation, resource, 'spec.workloadRef', 'Workload', target);
    const hash = spec.hash.value;
    const holder = holders.get(hash);
    if (holder) {
      faults.add(resource, 'spec.hash.value', `is already the hash of VirtualKey ${holder}`, 'Conflicted');
      continue;
    }
    holders.set(hash, resource.id);
    const expiresAt =
      spec.expiresAt === undefined ? undefined : toInstant(faults, resource, 'spec.expiresAt', spec.expiresAt);
    const workload = workloads.get(target);
    if (!workload) continue;
    keys.set(
      hash,
      Object.freeze({
        id: resource.id,
        revoked: spec.revoked,
        ...(expiresAt !== undefined && { expiresAt }),
        workload,
      }),
    );
  }
  return keys;
}

/** Of the same age, as they come. */
function olderFirst(a: Resource, b: Resource): number {
  return a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? -1 : 1;
}
