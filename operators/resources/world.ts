import type { Fault } from '#/config/fault.ts';
import { validate } from '#/config/resources/validate.ts';
import type { ClusterKind, ClusterObject, ObjectRef } from '#/ports/cluster.ts';
import type { Document } from './accept.ts';
import { KeyTable } from './key-table.ts';

/** Kinds that are Gatewarden's own: they have a status, and finalizers. */
export const OWN_KINDS = [
  'Organization',
  'Workload',
  'Policy',
  'Provider',
  'PriceBook',
  'VirtualKey',
  'ModelAlias',
  'MCPServer',
] as const satisfies readonly ClusterKind[];

/** An object of ours, less what it says: that is in `documents` or in the table of keys. */
export interface OwnObject {
  /** `Kind namespace/name` */
  readonly name: string;
  readonly ref: ObjectRef;
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly finalizers: readonly string[];
  readonly deleting: boolean;
  /** As JSON: there may be very many. */
  readonly status: string;
  /** Of a key that is at fault by itself. */
  readonly faults: readonly Fault[];
}

/** What a change of the world is a change for. */
export interface Change {
  /** The set of compiled resources may have changed, so all of them are judged again. */
  readonly compiled: boolean;
  /** Names of objects whose verdict may have changed. */
  readonly touched: readonly string[];
}

/** Kinds that are let in by the labels of their namespace. */
const LABELLED: ReadonlySet<string> = new Set(['Organization', 'Workload']);

const ALL: Change = { compiled: true, touched: [] };

/** The state of the cluster that is known so far: documents to compile, keys by their segments, and secrets. */
export class World {
  readonly keys = new KeyTable();
  readonly #documents = new Map<string, Document>();
  readonly #namespaces = new Map<string, Document>();
  readonly #objects = new Map<string, OwnObject>();
  readonly #secrets = new Map<string, Readonly<Record<string, string>>>();

  get objects(): ReadonlyMap<string, OwnObject> {
    return this.#objects;
  }

  /** Resources to compile: those not being deleted, without keys, and the namespaces whose labels may count. */
  documents(): ReadonlyMap<string, Document> {
    const found = new Map(this.#documents);
    for (const { kind, metadata } of this.#documents.values()) {
      const name = `Namespace ${String(metadata['namespace'])}`;
      const namespace = LABELLED.has(kind) ? this.#namespaces.get(name) : undefined;
      if (namespace) found.set(name, namespace);
    }
    return found;
  }

  hasWorkload(id: string): boolean {
    return this.#documents.has(`Workload ${id}`);
  }

  /** The value of a secret, if there is one and it is text. */
  secret(namespace: string, name: string, key: string): string | undefined {
    const value = this.#secrets.get(`${namespace}/${name}`)?.[key];
    if (value === undefined) return undefined;
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'base64'));
    } catch {
      return undefined;
    }
  }

  /** Takes over an object as it is now. */
  put(object: ClusterObject): Change {
    const { kind, metadata } = object;
    const { namespace = '', name } = metadata;
    const id = `${namespace}/${name}`;
    if (kind === 'Secret') {
      this.#secrets.set(id, object.data ?? {});
      return ALL;
    }
    if (kind === 'Namespace') {
      this.#namespaces.set(`Namespace ${name}`, toDocument(object));
      return ALL;
    }
    const deleting = metadata.deletionTimestamp !== undefined;
    const own = toOwn(object);
    if (kind === 'VirtualKey') return this.#putKey(object, own);
    this.#objects.set(own.name, own);
    const before = this.#documents.get(own.name);
    const next = deleting ? undefined : toDocument(object);
    // An unchanged resource stays the same object, so that it is not checked again.
    if (JSON.stringify(before) === JSON.stringify(next)) return { compiled: false, touched: [own.name] };
    if (next) this.#documents.set(own.name, next);
    else this.#documents.delete(own.name);
    const moved = kind === 'Workload' && !before !== !next;
    return { compiled: true, touched: [own.name, ...(moved ? this.#touchKeys(id) : [])] };
  }

  /** Forgets an object that is gone. */
  remove({ kind, metadata: { namespace = '', name } }: Pick<ClusterObject, 'kind' | 'metadata'>): Change {
    const id = `${namespace}/${name}`;
    if (kind === 'Secret') this.#secrets.delete(id);
    if (kind === 'Namespace') this.#namespaces.delete(`Namespace ${name}`);
    this.#objects.delete(`${kind} ${id}`);
    const had = this.#documents.delete(`${kind} ${id}`);
    if (kind === 'VirtualKey') return { compiled: false, touched: this.#removeKey(id) };
    return { compiled: true, touched: kind === 'Workload' && had ? this.#touchKeys(id) : [] };
  }

  /** Faults of a key, except that its workload is not accepted. */
  keyFaults({ ref, faults }: OwnObject): readonly Fault[] {
    const id = `${ref.namespace}/${ref.name}`;
    const trouble = this.keys.troubleOf(id, (workload) => this.hasWorkload(workload));
    if (!trouble) return faults;
    const at = { file: '', object: `VirtualKey ${id}`, reason: trouble.reason };
    return trouble.reason === 'Conflicted'
      ? [{ ...at, field: 'spec.hash.value', message: `is already the hash of VirtualKey ${trouble.holder}` }]
      : [{ ...at, field: 'spec.workloadRef', message: 'names a Workload that does not exist' }];
  }

  #putKey(object: ClusterObject, own: OwnObject): Change {
    const id = `${own.ref.namespace}/${own.ref.name}`;
    const touched = new Set(this.#removeKey(id));
    const faults: Fault[] = [];
    const found = (field: string, message: string): void =>
      void faults.push({ file: '', object: own.name, field, message });
    const body = own.deleting ? undefined : validate('VirtualKey', toDocument(object), found);
    const expiresAt = body?.spec.expiresAt === undefined ? undefined : Date.parse(body.spec.expiresAt);
    if (Number.isNaN(expiresAt)) found('spec.expiresAt', 'must be a date and time, such as 2026-01-31T12:00:00Z');
    this.#objects.set(own.name, { ...own, faults });
    if (body && faults.length === 0) {
      const { hash, workloadRef, revoked } = body.spec;
      const workload = `${own.ref.namespace}/${workloadRef.name}`;
      const createdAt = Date.parse(object.metadata.creationTimestamp ?? '') || Infinity;
      const expiry = expiresAt === undefined ? {} : { expiresAt };
      this.keys.put({ hash: hash.value, id, workload, revoked, ...expiry, createdAt });
      for (const other of this.keys.sharing(hash.value)) touched.add(`VirtualKey ${other}`);
    }
    return { compiled: false, touched: [...touched.add(own.name)] };
  }

  #removeKey(id: string): readonly string[] {
    const hash = this.keys.hashOf(id);
    this.keys.remove(id);
    return hash === undefined ? [] : this.keys.sharing(hash).map((other) => `VirtualKey ${other}`);
  }

  #touchKeys(workload: string): readonly string[] {
    return this.keys.touchWorkload(workload).map((id) => `VirtualKey ${id}`);
  }
}

/** The published part of an object: its identity, age and spec. */
function toDocument({ apiVersion, kind, metadata, spec }: ClusterObject): Document {
  const { name, namespace, creationTimestamp, labels } = metadata;
  const common = { name, ...(creationTimestamp !== undefined && { creationTimestamp }) };
  if (kind === 'Namespace') return { apiVersion: 'v1', kind, metadata: { ...common, ...(labels && { labels }) } };
  return { apiVersion, kind, metadata: { ...common, ...(namespace !== undefined && { namespace }) }, spec };
}

function toOwn({ kind, metadata, status }: ClusterObject): OwnObject {
  const { name, namespace = '', uid, resourceVersion = '', generation = 0, finalizers = [] } = metadata;
  return {
    name: `${kind} ${namespace}/${name}`,
    ref: { kind: kind as ClusterKind, namespace, name },
    uid,
    resourceVersion,
    generation,
    finalizers,
    deleting: metadata.deletionTimestamp !== undefined,
    status: JSON.stringify(status ?? {}),
    faults: [],
  };
}
