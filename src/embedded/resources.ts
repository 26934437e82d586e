import { hash, randomBytes } from 'node:crypto';
import type { SourceDocument } from '#/config/fault.ts';
import { VENDOR_IDS, VENDORS } from '#/vendors/list.ts';
import { homeOf, type Vendor } from '#/vendors/vendor.ts';

const API = 'gatewarden.dev/v1alpha1';
/** Namespace of the sample resources, whose workload the development key is for. */
export const SAMPLES_NAMESPACE = 'default';

/** A new development key: 256 random bits. */
export function newDevelopmentKey(): string {
  return `gw_test_${randomBytes(32).toString('base64url')}`;
}

export interface EmbeddedOptions {
  readonly sandboxUrl: string;
  /** The secret of the development key. */
  readonly key: string;
  readonly vendorKeys: ReadonlyMap<string, string>;
  /** Where the workload `playground` is: `default` in the samples; any other namespace is made here with all it needs. */
  readonly namespace: string;
}

/**
 * Resources of the embedded run besides those of the folder: the sandbox, a key for its workload, vendors by
 * environment.
 */
export function embeddedResources({
  sandboxUrl,
  key,
  vendorKeys,
  namespace,
}: EmbeddedOptions): readonly SourceDocument[] {
  const make = (kind: string, name: string, spec: unknown): unknown => ({
    apiVersion: API,
    kind,
    metadata: { name, namespace },
    spec,
  });
  const provider = (slug: string, jurisdiction: string | undefined, more: object): unknown =>
    make('Provider', slug, { slug, jurisdiction, keyOwnership: 'Organization', ...more });
  const resources: unknown[] = [
    provider('sandbox', 'LOCAL', {
      protocol: 'Custom',
      endpoint: { url: sandboxUrl, allowInsecure: true },
      models: [{ id: 'echo' }],
    }),
    make('VirtualKey', 'development', {
      workloadRef: { name: 'playground' },
      displayName: 'Development key of the embedded run',
      hash: { algorithm: 'SHA256', value: hash('sha256', key, 'hex') },
    }),
  ];
  if (namespace !== SAMPLES_NAMESPACE) resources.push(...playground(make));
  for (const vendor of VENDOR_IDS.map((id): Vendor => VENDORS[id])) {
    const secret = vendorKeys.get(vendor.environment ?? '');
    if (secret === undefined) continue;
    const name = `${vendor.id}-environment`;
    const credentials = [{ name: 'environment', type: 'APIKey', secretKeyRef: { name, key: 'key' } }];
    resources.push(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: { key: secret } },
      provider(vendor.id, homeOf(vendor), { credentials }),
    );
  }
  return resources.map((value, index) => ({ file: '(embedded)', index, value }));
}

function playground(make: (kind: string, name: string, spec: unknown) => unknown): readonly unknown[] {
  return [
    make('Organization', 'local', { contact: { email: 'nobody@example.com' }, priceBookRef: { name: 'local' } }),
    make('Workload', 'playground', { organizationRef: { name: 'local' } }),
    make('PriceBook', 'local', { prices: [{ model: 'sandbox/*', input: '1', output: '3' }] }),
  ];
}
