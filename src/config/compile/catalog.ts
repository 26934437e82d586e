import type { FaultLog, FaultyObject, SourceDocument } from '../fault.ts';
import { isKindName, KINDS, type KindName, type ResourceOf } from '../resources/kinds.ts';
import { validate } from '../resources/validate.ts';

/** A checked resource and where it came from. */
export interface Resource<K extends KindName = KindName> extends FaultyObject {
  readonly kind: K;
  /** `<namespace>/<name>`; of a Namespace, its name. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds since the epoch; infinite when the source does not say, so that it counts as the newest. */
  readonly createdAt: number;
  readonly body: ResourceOf<K>;
}

/** All resources by kind and id. */
export interface Catalog {
  /** The valid resources of a kind, in the order of the sources. */
  all<K extends KindName>(kind: K): Iterable<Resource<K>>;
  /** A valid resource. */
  get<K extends KindName>(kind: K, id: string): Resource<K> | undefined;
  /** Whether a source has this resource, valid or not: a reference to it does not dangle. */
  declares(kind: KindName, id: string): boolean;
}

/** What documents became, defaults filled in, of those that passed. They must not change afterwards. */
export type CheckedDocuments = WeakMap<object, ResourceOf<KindName>>;

/** Checks every document on its own and files it under its kind and id. A second document of the same id is a fault. */
export function readCatalog(
  sources: readonly SourceDocument[],
  faults: FaultLog,
  checked: CheckedDocuments = new WeakMap(),
): Catalog {
  const declared = new Map<KindName, Map<string, FaultyObject>>();
  const valid = new Map<KindName, Map<string, Resource>>();
  for (const kind of Object.keys(KINDS) as KindName[]) {
    declared.set(kind, new Map());
    valid.set(kind, new Map());
  }
  sources.forEach((source, order) => {
    const identity = identify(source, order, faults);
    if (!identity) return;
    const { kind, id, where, apiVersion } = identity;
    const earlier = id === undefined ? undefined : declared.get(kind)!.get(id);
    if (earlier) faults.add(where, '', `is defined twice, first in ${earlier.file}`);
    else if (id !== undefined) declared.get(kind)!.set(id, where);
    if (apiVersion !== KINDS[kind].apiVersion) {
      return faults.add(where, 'apiVersion', `must be ${KINDS[kind].apiVersion}`);
    }
    const value = source.value as object;
    const body = checked.get(value) ?? validate(kind, value, (field, message) => faults.add(where, field, message));
    if (body) checked.set(value, body);
    if (body && id !== undefined && !earlier) valid.get(kind)!.set(id, toResource(kind, id, body, where));
  });
  return {
    all: <K extends KindName>(kind: K) => valid.get(kind)!.values() as Iterable<Resource<K>>,
    get: <K extends KindName>(kind: K, id: string) => valid.get(kind)!.get(id) as Resource<K> | undefined,
    declares: (kind, id) => declared.get(kind)!.has(id),
  };
}

/** The older of two resources, then the one whose id sorts first: who wins where only one can. */
export function byAge(a: Resource, b: Resource): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function identify(source: SourceDocument, order: number, faults: FaultLog) {
  const { file, index, value } = source;
  const document = { file, order, object: `document ${index + 1}` };
  if (!isRecord(value)) {
    faults.add(document, '', 'is not an object');
    return undefined;
  }
  const { kind, apiVersion, metadata } = value;
  if (!isKindName(kind)) {
    faults.add(document, 'kind', 'is not a kind that Gatewarden knows');
    return undefined;
  }
  const namespace = isRecord(metadata) ? (metadata['namespace'] ?? 'default') : undefined;
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  const id = isName(name) && isName(namespace) ? (kind === 'Namespace' ? name : `${namespace}/${name}`) : undefined;
  const where = { file, order, object: id === undefined ? `${kind} (${document.object})` : `${kind} ${id}` };
  return { kind, id, where, apiVersion };
}

function toResource<K extends KindName>(kind: K, id: string, body: ResourceOf<K>, where: FaultyObject): Resource<K> {
  const { name, namespace, creationTimestamp } = body.metadata;
  const createdAt = Date.parse(creationTimestamp ?? '');
  return { ...where, kind, id, name, namespace, createdAt: Number.isNaN(createdAt) ? Infinity : createdAt, body };
}

/** Names are shown in faults: only those that can be names are. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[-a-z0-9.]{1,253}$/.test(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
