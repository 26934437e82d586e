import { compile } from '../compile/compile.ts';
import type { ResourceCounts } from '../resources/kinds.ts';
import type { CheckedDocuments } from '../compile/catalog.ts';
import type { Fault, SourceDocument } from '../fault.ts';
import type { Snapshot } from '../snapshot.ts';
import type { ConfigKeys } from './config-keys.ts';
import { readPart, type Part, type SecretRow } from './contents.ts';
import { createShard, indexKeys, type KeyShard, type PublishedKeys } from './key-index.ts';
import type { Manifest } from './manifest.ts';
import { digestOf } from './segment.ts';

/** A snapshot of a publication. */
export interface PublishedSnapshot extends Snapshot, Pick<PublishedKeys, 'withheld' | 'withheldId'> {}

/** A snapshot with its number of resources, or the faults of a publication. */
type Assembled =
  | { readonly snapshot: PublishedSnapshot; readonly counts: ResourceCounts; readonly faults?: never }
  | { readonly faults: readonly Fault[]; readonly snapshot?: never };

/** Turns segments into snapshots, one after the other; only what changed is read and compiled again. */
export interface Assembler {
  /** Which of a manifest's segments it does not have yet, by name. */
  lacks(manifest: Manifest): readonly (readonly [name: string, digest: string])[];
  /** `texts`: those segments, by digest. */
  assemble(manifest: Manifest, texts: ReadonlyMap<string, string>): Assembled;
}

export interface AssemblerOptions {
  readonly keys: ConfigKeys;
  /** Euro per dollar, as the settings say. */
  readonly usdToEur: string;
  /** Where resources speak for several organizations, as the controller knows it. */
  readonly platformNamespace?: string | undefined;
}

interface Held {
  readonly digest: string;
  readonly part: Exclude<Part, { kind: 'keys' }> | { readonly kind: 'keys'; readonly shard: KeyShard };
}

interface Compiled extends Pick<Snapshot, 'organizations' | 'workloads'> {
  /** Of the segments it was compiled from. */
  readonly digest: string;
  readonly counts: ResourceCounts;
}

/** Starts empty. A faulty publication leaves the snapshot unchanged. */
export function createAssembler({ keys, usdToEur, platformNamespace }: AssemblerOptions): Assembler {
  const checked: CheckedDocuments = new WeakMap();
  let held: ReadonlyMap<string, Held> = new Map();
  let compiled: Compiled | undefined;

  const compileParts = (parts: ReadonlyMap<string, Held>, revision: string): Compiled | readonly Fault[] => {
    const others = [...parts].filter(([, { part }]) => part.kind !== 'keys');
    const digest = digestOf(others.map(([name, one]) => `${name} ${one.digest}\n`).join(''));
    if (compiled?.digest === digest) return compiled;
    const documents: SourceDocument[] = [];
    const secrets: SecretRow[] = [];
    for (const [, { part }] of others) {
      if (part.kind === 'documents') for (const one of part.documents) documents.push(one);
      if (part.kind === 'secrets') for (const one of part.rows) secrets.push(one);
    }
    const secretFile = openSecrets(secrets, keys);
    const { snapshot, counts, faults } = compile(documents, {
      usdToEur,
      platformNamespace,
      secretFile,
      revision,
      checked,
    });
    return snapshot ? { digest, counts, organizations: snapshot.organizations, workloads: snapshot.workloads } : faults;
  };

  return {
    lacks: (manifest) => [...manifest].filter(([name, digest]) => held.get(name)?.digest !== digest),
    assemble(manifest, texts) {
      const next = new Map<string, Held>();
      for (const [name, digest] of [...manifest].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const old = held.get(name);
        const part = old?.digest === digest ? old : read(name, digest, texts.get(digest));
        if (!part) return { faults: [{ file: name, object: '', field: '', message: 'is not known to this version' }] };
        next.set(name, part);
      }
      const revision = revisionOf(next);
      const result = compileParts(next, revision);
      if (!('workloads' in result)) return { faults: result };
      held = next;
      compiled = result;
      const { organizations, workloads } = result;
      const shards = new Map<string, KeyShard>();
      for (const [name, { part }] of next) if (part.kind === 'keys') shards.set(name, part.shard);
      const snapshot = Object.freeze({ revision, organizations, workloads, ...indexKeys(shards, workloads) });
      const virtualKeys = [...shards.values()].reduce((sum, { size }) => sum + size, 0);
      return { snapshot, counts: { ...result.counts, VirtualKey: virtualKeys } };
    },
  };
}

function read(name: string, digest: string, text: string | undefined): Held | undefined {
  const part = text === undefined ? undefined : readPart(name, text);
  if (!part) return undefined;
  return { digest, part: part.kind === 'keys' ? { kind: 'keys', shard: createShard(part.rows) } : part };
}

/** What the snapshot is known by, in audit rows too: a digest of all its segments. */
function revisionOf(parts: ReadonlyMap<string, Held>): string {
  return digestOf([...parts].map(([name, { digest }]) => `${name} ${digest}\n`).join(''));
}

function openSecrets(rows: readonly SecretRow[], keys: ConfigKeys) {
  const sealed = new Map(rows.map(([namespace, name, key, text]) => [`${namespace}/${name}/${key}`, text]));
  return (namespace: string, name: string, key: string): string | undefined => {
    const text = sealed.get(`${namespace}/${name}/${key}`);
    return text === undefined ? undefined : keys.open({ namespace, name, key }, text);
  };
}
