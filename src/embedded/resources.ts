import { hash, randomBytes } from 'node:crypto';
import type { SourceDocument } from '#/config/fault.ts';
import type { VendorId } from '#/config/snapshot.ts';

const API = 'gatewarden.dev/v1alpha1';
/** Namespace of the sample resources, whose workload the development key is for. */
export const SAMPLES_NAMESPACE = 'default';

interface Vendor {
  /** The id of the vendor, which gives address and protocol. */
  readonly slug: string;
  readonly jurisdiction: string;
}

/** Vendors that the embedded run adds when their usual environment variable is set. */
const VENDORS: Readonly<Record<string, Vendor & { readonly slug: VendorId }>> = {
  OPENAI_API_KEY: { slug: 'openai', jurisdiction: 'US' },
  ANTHROPIC_API_KEY: { slug: 'anthropic', jurisdiction: 'US' },
  GEMINI_API_KEY: { slug: 'gemini', jurisdiction: 'US' },
  MISTRAL_API_KEY: { slug: 'mistral', jurisdiction: 'EU' },
  DEEPSEEK_API_KEY: { slug: 'deepseek', jurisdiction: 'CN' },
  XAI_API_KEY: { slug: 'xai', jurisdiction: 'US' },
  GROQ_API_KEY: { slug: 'groq', jurisdiction: 'US' },
  TOGETHER_API_KEY: { slug: 'together', jurisdiction: 'US' },
  FIREWORKS_API_KEY: { slug: 'fireworks', jurisdiction: 'US' },
  CEREBRAS_API_KEY: { slug: 'cerebras', jurisdiction: 'US' },
};

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

/** Resources of the embedded run beside those in the folder: the sandbox, a key for its workload, vendors by environment. */
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
  const provider = ({ slug, jurisdiction }: Vendor, more: object): unknown =>
    make('Provider', slug, { slug, jurisdiction, keyOwnership: 'Organization', ...more });
  const resources: unknown[] = [
    provider(
      { slug: 'sandbox', jurisdiction: 'LOCAL' },
      { protocol: 'Custom', endpoint: { url: sandboxUrl, allowInsecure: true }, models: [{ id: 'echo' }] },
    ),
    make('VirtualKey', 'development', {
      workloadRef: { name: 'playground' },
      displayName: 'Development key of the embedded run',
      hash: { algorithm: 'SHA256', value: hash('sha256', key, 'hex') },
    }),
  ];
  if (namespace !== SAMPLES_NAMESPACE) resources.push(...playground(make));
  for (const [variable, vendor] of Object.entries(VENDORS)) {
    const secret = vendorKeys.get(variable);
    if (secret === undefined) continue;
    const name = `${vendor.slug}-environment`;
    const credentials = [{ name: 'environment', type: 'APIKey', secretKeyRef: { name, key: 'key' } }];
    resources.push(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: { key: secret } },
      provider(vendor, { credentials }),
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
