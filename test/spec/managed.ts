import { resource } from '../harness/gateway.ts';

/** A vendor whose account is the installation's. */
export const managed = (vendor: string, url: string, more: object = {}): object =>
  resource('Provider', `managed-${vendor}`, {
    slug: `managed-${vendor}`,
    vendor,
    keyOwnership: 'Managed',
    jurisdiction: 'EU',
    endpoint: { url, allowInsecure: true },
    credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'custom' } }],
    retry: { attempts: 1 },
    ...more,
  });
