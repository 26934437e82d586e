import type { OrganizationConfig, ProviderConfig } from './snapshot.ts';

/** How models of the gateway itself begin, and aliases. */
export const LOCAL_PREFIX = 'gw/';

const MODELS = ['ocr', 'anonymize', 'typed', 'typed/router'] as const;

/**
 * What the gateway does itself, as a provider: no resource describes it, every organization has it, and nothing that is
 * sent to it leaves. Its slug is reserved. `gw/anonymize` is no model that can be asked for: it stands for the work of
 * `/v1/documents/anonymize` in allow-lists, prices and audit rows. // spec 2.4, 2.5, 4.4.1
 */
export const LOCAL_PROVIDER: ProviderConfig = Object.freeze({
  id: 'gw',
  slug: 'gw',
  vendor: 'custom',
  protocol: 'custom',
  url: '',
  jurisdiction: 'LOCAL',
  keyOwnership: 'organization',
  credentials: [],
  models: new Map(MODELS.map((id) => [id, { id }])),
  onlyListedModels: true,
  attempts: 1,
  circuitBreaker: Object.freeze({ failureRatioPercent: 100, minRequests: 1000, openSeconds: 1 }),
});

/**
 * Whether a request for this model stays in the gateway: the name is that of a local model and not of an alias that the
 * organization has defined. // spec 4.4.2
 */
export function staysHere(model: string, { aliases }: Pick<OrganizationConfig, 'aliases'>): boolean {
  if (!model.startsWith(LOCAL_PREFIX) || aliases.has(model)) return false;
  return LOCAL_PROVIDER.models.has(model.slice(LOCAL_PREFIX.length));
}
