import { createHash } from 'node:crypto';
import { compile, type CompiledSnapshot, type CompileSettings } from '../compile/compile.ts';
import type { Fault, SourceDocument } from '../fault.ts';
import type { KindName } from '../resources/kinds.ts';

/** A resource as a test writes it. */
export interface TestResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [part: string]: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const SPECS: Readonly<Record<Exclude<KindName, 'Secret' | 'Namespace'>, (name: string) => Fields>> = {
  Organization: () => ({ contact: { email: 'ops@acme.test' } }),
  Workload: () => ({ organizationRef: { name: 'acme' } }),
  Policy: () => ({ targetRefs: [{ kind: 'Organization', name: 'acme' }], defaults: { contentRetention: 'Enabled' } }),
  Provider: (name) => ({
    slug: name,
    protocol: 'Custom',
    endpoint: { url: 'https://api.vendor.test/v1' },
    jurisdiction: 'EU',
  }),
  PriceBook: () => ({ prices: [{ model: 'vendor/one', input: '1' }] }),
  VirtualKey: (name) => ({ workloadRef: { name: 'bot' }, hash: { value: sha256(name) } }),
  ModelAlias: (name) => ({ alias: `gw/${name}`, strategy: 'Failover', targets: [{ model: 'vendor/one' }] }),
  MCPServer: () => ({ endpoint: { url: 'https://mcp.test/mcp' }, jurisdiction: 'EU' }),
};

/** SHA-256 in hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The smallest valid resource of one of our kinds, with fields of `spec` set. `name` may be `<namespace>/<name>`. */
export function make(kind: keyof typeof SPECS, name: string, spec: Fields = {}, metadata: Fields = {}): TestResource {
  const [last = '', namespace] = name.split('/').reverse();
  return {
    apiVersion: 'gatewarden.dev/v1alpha1',
    kind,
    metadata: { name: last, ...(namespace && { namespace }), ...metadata },
    spec: { ...SPECS[kind](last), ...spec },
  };
}

/** A resource of Kubernetes itself. */
export function makeCore(
  kind: 'Secret' | 'Namespace',
  name: string,
  parts: Fields = {},
  metadata: Fields = {},
): TestResource {
  const [last = '', namespace] = name.split('/').reverse();
  return { apiVersion: 'v1', kind, metadata: { name: last, ...(namespace && { namespace }), ...metadata }, ...parts };
}

/** Resources as the documents of one file. */
export function toSources(resources: readonly unknown[], file = 'all.yaml'): readonly SourceDocument[] {
  return resources.map((value, index) => ({ file, index, value }));
}

/** Compiles resources that must be good. */
export function snapshotOf(resources: readonly unknown[], settings: Partial<CompileSettings> = {}): CompiledSnapshot {
  const result = compile(toSources(resources), { usdToEur: '0.9', ...settings });
  if (!result.snapshot) throw new Error(`unexpected faults: ${JSON.stringify(result.faults)}`);
  return result.snapshot;
}

/** Compiles resources and lists their faults as `object: field: message`. */
export function faultsOf(resources: readonly unknown[], settings: Partial<CompileSettings> = {}): readonly string[] {
  const result = compile(toSources(resources), { usdToEur: '0.9', ...settings });
  return (result.faults ?? []).map((fault: Fault) => `${fault.object}: ${fault.field}: ${fault.message}`);
}
