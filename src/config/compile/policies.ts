import type { CustomTerm } from '../snapshot.ts';
import type { PolicyFragment } from '../resources/policy-fragment.ts';
import type { PolicySpec } from '../resources/policy.ts';
import { byAge, type Resource } from './catalog.ts';
import { follow, type Compilation } from './context.ts';

/** A fragment of a policy with its terms read from their Secrets. */
export interface Layer {
  readonly fragment: PolicyFragment;
  readonly customTerms?: readonly CustomTerm[];
  /** Whose word it is: `Policy acme/strict (override)`. */
  readonly from: string;
}

/** A policy as it applies to a target. */
export interface AppliedPolicy {
  readonly defaults?: Layer;
  readonly overrides?: Layer;
}

/** Policies by target: `Organization <id>` or `Workload <id>`. */
type ByTarget = ReadonlyMap<string, AppliedPolicy>;

/** The policies in force, and those that are only watched, by mode. */
export type Policies = Readonly<Record<PolicySpec['mode'], ByTarget>>;

/**
 * Compiles every Policy. Of two of one mode on one target the older one holds (then by id), and the other is at fault; a
 * shadow policy is evaluated in addition to the enforced one of its target.
 */
export function compilePolicies(compilation: Compilation): Policies {
  const holders = new Map<string, Resource<'Policy'>>();
  const policies = { Enforced: new Map<string, AppliedPolicy>(), Shadow: new Map<string, AppliedPolicy>() };
  for (const resource of [...compilation.catalog.all('Policy')].sort(byAge)) {
    const { mode, targetRefs } = resource.body.spec;
    const applied = compilePolicy(compilation, resource);
    targetRefs.forEach(({ kind, name }, index) => {
      const field = `spec.targetRefs[${index}]`;
      const id = `${resource.namespace}/${name}`;
      follow(compilation, resource, field, kind, id);
      const holder = holders.get(`${mode} ${kind} ${id}`);
      if (holder) {
        const which = mode === 'Shadow' ? 'shadow Policy' : 'Policy';
        return compilation.faults.add(resource, field, `${kind} ${id} already has ${which} ${holder.id}`, 'Conflicted');
      }
      holders.set(`${mode} ${kind} ${id}`, resource);
      policies[mode].set(`${kind} ${id}`, applied);
    });
  }
  return policies;
}

function compilePolicy(compilation: Compilation, resource: Resource<'Policy'>): AppliedPolicy {
  const { mode, targetRefs, defaults, overrides } = resource.body.spec;
  const layer = (field: string, fragment: PolicyFragment, role: string): Layer => {
    const from = `Policy ${resource.id} (${mode === 'Shadow' ? `shadow ${role}` : role})`;
    const customTerms = readTerms(compilation, resource, field, fragment);
    return Object.freeze({ fragment, from, ...(customTerms && { customTerms }) });
  };
  // What a workload's own policy says is more than a default of its organization.
  const role = targetRefs[0]?.kind === 'Workload' ? 'workload' : 'default';
  return Object.freeze({
    ...(defaults && { defaults: layer('spec.defaults', defaults, role) }),
    ...(overrides && { overrides: layer('spec.overrides', overrides, 'override') }),
  });
}

function readTerms(
  { secrets }: Compilation,
  resource: Resource<'Policy'>,
  field: string,
  { dlp }: PolicyFragment,
): readonly CustomTerm[] | undefined {
  const terms = dlp?.customTerms?.flatMap(({ label, secretKeyRef }, index) => {
    const term = secrets.read(resource, `${field}.dlp.customTerms[${index}].secretKeyRef`, secretKeyRef);
    return term === undefined ? [] : Object.freeze({ label, term });
  });
  return terms && Object.freeze(terms);
}
