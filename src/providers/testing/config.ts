import type { CredentialConfig, ModelConfig, ProviderConfig } from '#/config/snapshot.ts';
import { VENDORS, type VendorId } from '#/vendors/list.ts';

/** A provider of a vendor's as a test needs it: with one API key, on the organization's own account. */
export function configOf(
  vendor: VendorId,
  { models = [], ...over }: Partial<Omit<ProviderConfig, 'models'>> & { readonly models?: readonly ModelConfig[] } = {},
): ProviderConfig {
  return {
    id: `default/${vendor}`,
    slug: vendor,
    vendor,
    protocol: VENDORS[vendor].protocol,
    url: 'http://127.0.0.1:1/v1',
    jurisdiction: 'EU',
    keyOwnership: 'organization',
    credentials: [apiKey('sk-test')],
    attempts: 1,
    circuitBreaker: { failureRatioPercent: 50, minRequests: 20, openSeconds: 30 },
    models: new Map(models.map((model) => [model.id, model])),
    ...over,
  };
}

/** An API key credential. */
export function apiKey(secret: string, weight = 1): CredentialConfig {
  return { name: secret, type: 'api_key', secret, weight };
}
