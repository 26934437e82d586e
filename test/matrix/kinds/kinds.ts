import { hash } from 'node:crypto';
import { resource } from '../../harness/gateway.ts';
import { CHAT_VENDORS } from './chat-vendors.ts';
import { CLOUDS } from './clouds.ts';

/** Every kind of provider there is. */
export const KINDS = [...CHAT_VENDORS, ...CLOUDS];

/** One organization that can reach every kind, at a stand-in. `key`: its virtual key. */
export function matrixResources(standInUrl: string, key: string): object[] {
  return [
    resource('Organization', 'acme', {
      contact: { email: 'ops@acme.example' },
      priceBookRef: { name: 'prices' },
    }),
    resource('Workload', 'app', { organizationRef: { name: 'acme' } }),
    resource('VirtualKey', 'app-key', {
      workloadRef: { name: 'app' },
      hash: { algorithm: 'SHA256', value: hash('sha256', key, 'hex') },
    }),
    resource('Policy', 'app-policy', {
      targetRefs: [{ kind: 'Workload', name: 'app' }],
      defaults: { dlp: { mode: 'AllowLog' } },
    }),
    resource('PriceBook', 'prices', {
      prices: KINDS.map(({ name }) => ({ model: `${name}/*`, input: '2', output: '8', cacheRead: '1' })),
    }),
    ...kindResources(standInUrl),
  ];
}

/** The providers alone, of every kind, with their keys. */
export function kindResources(standInUrl: string): object[] {
  const tokens = (secret: string): string => secret.replace('TOKENS', `${standInUrl}/token`);
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'default' },
      stringData: Object.fromEntries(KINDS.map(({ name, credential }) => [name, tokens(credential.secret)])),
    },
    ...KINDS.map(({ name, base, spec, credential }) =>
      resource('Provider', name, {
        slug: name,
        endpoint: { url: `${standInUrl}/${name}${base}`, allowInsecure: true },
        jurisdiction: 'EU',
        credentials: [{ name: 'main', type: credential.type, secretKeyRef: { name: 'keys', key: name } }],
        retry: { attempts: 1 },
        circuitBreaker: { minRequests: 100_000 },
        ...spec,
      }),
    ),
  ];
}
