import type { CustomTerm } from '../snapshot.ts';
import type { PolicyFragment } from '../resources/policy-fragment.ts';
import { byAge, type Resource } from './catalog.ts';
import { follow, type Compilation } from './context.ts';

/** A fragment of a policy with its terms read from their Secrets. */
export interface Layer {
  readonly fragment: PolicyFragment;
  readonly customTerms?: readonly CustomTerm[];
}

/** A policy as it applies to a target. */
export interface AppliedPolicy {
  readonly defaults?: Layer;
  readonly overrides?: Layer;
}

/** The policies in force, by target: `Organization <id>` or `Workload <id>`. */
export type Policies = ReadonlyMap<string, AppliedPolicy>;

/** Compiles every Policy. Of two on one target the older one holds (then by id), and the other is at fault. */
export function compilePolicies(compilation: Compilation): Policies {
  const holders = new Map<string, Resource<'Policy'>>();
  const policies = new Map<string, AppliedPolicy>();
  for (const resource of [...compilation.catalog.all('Policy')].sort(byAge)) {
    const { targetRefs, defaults, overrides } = resource.body.spec;
    const applied: AppliedPolicy = Object.freeze({
      ...(defaults && { defaults: compileLayer(compilation, resource, 'spec.defaults', defaults) }),
      ...(overrides && { overrides: compileLayer(compilation, resource, 'spec.overrides', overrides) }),
    });
    targetRefs.forEach(({ kind, name }, index) => {
      const field = `spec.targetRefs[${index}]`;
      const id = `${resource.namespace}/${name}`;
      follow(compilation, resource, field, kind, id);
      const holder = holders.get(`${kind} ${id}`);
      if (holder) return compilation.faults.add(resource, field, `${kind} ${id} has Policy ${holder.id} already`);
      holders.set(`${kind} ${id}`, resource);
      policies.set(`${kind} ${id}`, applied);
    });
  }
  return policies;
}

function compileLayer(
  { secrets }: Compilation,
  resource: Resource<'Policy'>,
  field: string,
  fragment: PolicyFragment,
): Layer {
  const terms = fragment.dlp?.customTerms;
  if (!terms) return { fragment };
  const customTerms = terms.flatMap(({ label, secretKeyRef }, index) => {
    const term = secrets.read(resource, `${field}.dlp.customTerms[${index}].secretKeyRef`, secretKeyRef);
    return term === undefined ? [] : Object.freeze({ label, term });
  });
  return { fragment, customTerms: Object.freeze(customTerms) };
}
