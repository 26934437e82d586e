import { sortedJson } from '#/values/sorted-json.ts';
import { compile } from '#/config/compile/compile.ts';
import type { CheckedDocuments } from '#/config/compile/catalog.ts';
import type { Fault } from '#/config/fault.ts';
import type { SecretPlace } from '#/config/published/config-keys.ts';
import type { PolicySpec } from '#/config/resources/policy.ts';

/** A resource as it is published. */
export interface Document {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
}

/** The resources that can be published, and the faults of the others. */
export interface Accepted {
  /** By `Kind namespace/name`: as they are now, or as they last were good. */
  readonly documents: ReadonlyMap<string, Document>;
  /** Names of those that are as they last were good. */
  readonly earlier: ReadonlySet<string>;
  /** Faults of resources as they are now, by the same names. */
  readonly faults: ReadonlyMap<string, readonly Fault[]>;
  /** Secrets that they use. */
  readonly secrets: readonly (readonly [SecretPlace, string])[];
}

export interface AcceptOptions {
  readonly usdToEur: string;
  readonly platformNamespace: string;
  readonly organizationNamespaces?: readonly string[] | undefined;
  readonly secret: (namespace: string, name: string, key: string) => string | undefined;
  /** As they were last published, by name. */
  readonly lastGood: ReadonlyMap<string, Document>;
  readonly checked: CheckedDocuments;
}

const TARGET = /^spec\.targetRefs\[(\d+)\]$/;
const DANGLING = /^there is no (\w+ \S+)$/;

/**
 * Finds what compiles. A resource with faults keeps its last good version, or is left out; resources that refer to it
 * then have a fault too. If an enforced policy is not available, its targets are left out as well: no call is served
 * without protection that is configured. Targets of a policy that do not exist, or that an older policy has, do not
 * count.
 */
export function accept(current: ReadonlyMap<string, Document>, options: AcceptOptions): Accepted {
  const chosen = new Map(current);
  const earlier = new Set<string>();
  const faults = new Map<string, Fault[]>();
  const blame = (name: string, fault: Fault): void => {
    if (chosen.get(name) !== current.get(name)) return; // an earlier version: its faults are known
    const known = faults.get(name);
    if (known) known.push(fault);
    else faults.set(name, [fault]);
  };
  // Every round takes something away, so it ends.
  for (;;) {
    const secrets = new Map<string, readonly [SecretPlace, string]>();
    const found = compile(
      [...chosen.values()].map((value, index) => ({ file: '', index, value })),
      {
        usdToEur: options.usdToEur,
        platformNamespace: options.platformNamespace,
        organizationNamespaces: options.organizationNamespaces,
        revision: '',
        checked: options.checked,
        secretFile(namespace, name, key) {
          const value = options.secret(namespace, name, key);
          if (value !== undefined) secrets.set(`${namespace}/${name}/${key}`, [{ namespace, name, key }, value]);
          return value;
        },
      },
    );
    if (!found.faults) return { documents: chosen, earlier, faults, secrets: [...secrets.values()] };
    const byObject = Map.groupBy(found.faults, ({ object }) => object);
    for (const [name, list] of byObject) {
      for (const fault of list) blame(name, explain(fault, current));
      if (demote(name, list, chosen, options.lastGood, blame) === 'earlier') earlier.add(name);
      else earlier.delete(name);
    }
  }
}

/** Takes the next lesser version of a resource: with fewer targets, as it was, or none. */
function demote(
  name: string,
  faults: readonly Fault[],
  chosen: Map<string, Document>,
  lastGood: ReadonlyMap<string, Document>,
  blame: (name: string, fault: Fault) => void,
): 'fewer' | 'earlier' | 'none' {
  const document = chosen.get(name);
  if (!document) throw new Error('a fault names an object that was not compiled');
  if (faults.every(({ field, reason }) => TARGET.test(field) && reason !== undefined)) {
    const pruned = withoutTargets(document, faults);
    if (!pruned) chosen.delete(name);
    else chosen.set(name, pruned);
    return 'fewer';
  }
  const before = lastGood.get(name);
  if (before && before !== document && !sameSpec(before, document)) {
    chosen.set(name, before);
    return 'earlier';
  }
  chosen.delete(name);
  if (document.kind !== 'Policy') return 'none';
  for (const target of enforcedTargets(document)) {
    const message = `is withheld: ${name} cannot be enforced`;
    blame(target, { file: '', object: target, field: '', message, reason: 'TargetNotFound' });
    chosen.delete(target);
  }
  return 'none';
}

function withoutTargets(document: Document, faults: readonly Fault[]): Document | undefined {
  const gone = new Set(faults.map(({ field }) => Number(TARGET.exec(field)?.[1])));
  const spec = document.spec as PolicySpec;
  const targetRefs = spec.targetRefs.filter((_, index) => !gone.has(index));
  return targetRefs.length === 0 ? undefined : { ...document, spec: { ...spec, targetRefs } };
}

/** What the policy is for, by name; a policy that does not say so in a way that can be read is for nothing. */
function enforcedTargets({ metadata, spec }: Document): readonly string[] {
  const { mode, targetRefs } = spec as Partial<PolicySpec>;
  if (mode === 'Shadow' || !Array.isArray(targetRefs)) return [];
  return targetRefs.map((target) => `${target.kind} ${String(metadata['namespace'])}/${target.name}`);
}

/** A resource that is referred to may exist but be left out. */
function explain(fault: Fault, current: ReadonlyMap<string, Document>): Fault {
  const target = DANGLING.exec(fault.message)?.[1];
  return target !== undefined && current.has(target) ? { ...fault, message: `${target} is not accepted` } : fault;
}

function sameSpec(one: Document, other: Document): boolean {
  return sortedJson(one.spec) === sortedJson(other.spec);
}
