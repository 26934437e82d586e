import type { ExchangeRates } from '#/values/exchange-rates.ts';
import type { FaultLog, FaultyObject } from '../fault.ts';
import type { KindName } from '../resources/kinds.ts';
import type { Catalog, Resource } from './catalog.ts';
import type { SecretReader } from './secrets.ts';

/** What every step of a compilation works with. */
export interface Compilation {
  readonly catalog: Catalog;
  readonly faults: FaultLog;
  readonly secrets: SecretReader;
  readonly usdToEur: ExchangeRates;
  /** Where resources may speak for several organizations; absent: anywhere. */
  readonly platformNamespace?: string | undefined;
  /** Where organizations may be; absent: anywhere. */
  readonly organizationNamespaces?: readonly string[] | undefined;
  /** Ports of the gateway on its machine, where no server of tools may be. */
  readonly ownPorts: ReadonlySet<number>;
  /** Some sources could not be read. A missing resource may be in them, so it is not a fault. */
  readonly incomplete: boolean;
}

/** Follows a reference. Undefined when the resource is not there (which is a fault) or is itself at fault. */
export function follow<K extends KindName>(
  { catalog, faults, incomplete }: Compilation,
  from: FaultyObject,
  field: string,
  kind: K,
  id: string,
): Resource<K> | undefined {
  const resource = catalog.get(kind, id);
  if (!resource && !incomplete && !catalog.declares(kind, id))
    faults.add(from, field, `there is no ${kind} ${id}`, 'TargetNotFound');
  return resource;
}

/** Whether a namespace has labels. Kubernetes labels every namespace with its own name. */
export function hasLabels(
  { catalog }: Compilation,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  const found = new Map(
    Object.entries({
      ...catalog.get('Namespace', namespace)?.body.metadata.labels,
      'kubernetes.io/metadata.name': namespace,
    }),
  );
  return Object.entries(labels).every(([key, value]) => found.get(key) === value);
}

/** A date and time that passed its schema, in milliseconds since the epoch. One that no clock shows is a fault. */
export function toInstant(faults: FaultLog, from: FaultyObject, field: string, text: string): number | undefined {
  const instant = Date.parse(text);
  if (!Number.isNaN(instant)) return instant;
  faults.add(from, field, 'must be a date and time, such as 2026-01-31T12:00:00Z');
  return undefined;
}
