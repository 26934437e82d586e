import { createFaultLog, type Fault, type SourceDocument } from '../fault.ts';
import type { Snapshot, VirtualKeyConfig } from '../snapshot.ts';
import { readCatalog, type Catalog, type CheckedDocuments } from './catalog.ts';
import type { Compilation } from './context.ts';
import { compileKeys } from './keys.ts';
import { readExchangeRates, type ExchangeRates } from '#/values/exchange-rates.ts';
import { compileOrganizations } from './organizations.ts';
import { revisionOf } from './revision.ts';
import { createSecretReader, type SecretFile } from './secrets.ts';
import { compileWorkloads } from './workloads.ts';
import { USUAL_PORTS } from '../own-ports.ts';
import { KINDS, type KindName, type ResourceCounts } from '../resources/kinds.ts';

/** Inputs of a compilation besides its sources. */
export interface CompileSettings {
  /** Euro per dollar as a decimal string: `0.92`. */
  readonly usdToEur: string;
  /** Finds secrets that are not among the sources. */
  readonly secretFile?: SecretFile;
  /** The namespace of the platform, where resources may speak for several organizations; absent: all may. */
  readonly platformNamespace?: string | undefined;
  /** Namespaces whose organizations are accepted; absent: those of all. */
  readonly organizationNamespaces?: readonly string[] | undefined;
  /** Ports of the gateway on its machine, where no server of tools may be; absent: the usual ones. */
  readonly ownPorts?: ReadonlySet<number> | undefined;
  /** Some sources could not be read: resources that are not there are then no faults. */
  readonly incomplete?: boolean;
  /** What the sources are known by; absent: a digest of them all. */
  readonly revision?: string;
  /** Documents found good by an earlier compilation, which are not checked again. Filled by this one. */
  readonly checked?: CheckedDocuments;
}

/** A snapshot whose keys can be gone through. */
export interface CompiledSnapshot extends Snapshot {
  readonly keys: ReadonlyMap<string, VirtualKeyConfig>;
  readonly keysById: ReadonlyMap<string, VirtualKeyConfig>;
}

/** A snapshot, or everything that is wrong with the sources. */
export type CompileResult =
  | { readonly snapshot: CompiledSnapshot; readonly counts: ResourceCounts; readonly faults?: never }
  | { readonly faults: readonly Fault[]; readonly snapshot?: never; readonly counts?: never };

/**
 * Turns resources into a snapshot. Pure: reads the sources without changing them, and a part that is at fault does
 * not hide the faults of the others. Any fault means that there is no snapshot.
 */
export function compile(sources: readonly SourceDocument[], settings: CompileSettings): CompileResult {
  const faults = createFaultLog();
  const rates = readExchangeRates(settings.usdToEur);
  if (!rates) {
    const where = { file: 'settings', object: '', order: -1 };
    faults.add(where, 'usdToEur', 'must be a decimal number above 0, such as 0.92, or several with dates');
  }
  const incomplete = settings.incomplete ?? false;
  const catalog = readCatalog(sources, faults, settings.checked);
  const secrets = createSecretReader(catalog, faults, settings.secretFile, incomplete);
  const { platformNamespace, organizationNamespaces } = settings;
  const usdToEur = rates ?? ONE_TO_ONE;
  const compilation: Compilation = {
    catalog,
    faults,
    secrets,
    usdToEur,
    platformNamespace,
    organizationNamespaces,
    ownPorts: settings.ownPorts ?? USUAL_PORTS,
    incomplete,
  };
  const organizations = compileOrganizations(compilation);
  const workloads = compileWorkloads(compilation, organizations);
  const keys = compileKeys(compilation, workloads);

  const found = faults.list();
  if (found.length > 0) return { faults: found };
  const revision = settings.revision ?? revisionOf(catalog, secrets.digests(), settings.usdToEur);
  const keysById = new Map([...keys.values()].map((key) => [key.id, key]));
  return {
    snapshot: Object.freeze({ revision, keys, keysById, organizations, workloads }),
    counts: countResources(catalog),
  };
}

/** For compilations whose only result is a list of faults. */
const ONE_TO_ONE: ExchangeRates = [{ from: -Infinity, rate: '1' }];

function countResources(catalog: Catalog): ResourceCounts {
  const kinds = Object.keys(KINDS) as KindName[];
  return Object.fromEntries(kinds.map((kind) => [kind, [...catalog.all(kind)].length])) as ResourceCounts;
}
