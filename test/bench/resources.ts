import { hash } from 'node:crypto';
import { resource, tenant } from '../harness/gateway.ts';

/**
 * What the governed side is configured with: everything on, limits that are checked and never reached. `cachedKey` is of
 * a workload whose answers are cached.
 */
export function governedResources(upstreamUrl: string, key: string, cachedKey: string): readonly object[] {
  return [
    resource('Provider', 'translated', {
      slug: 'translated',
      protocol: 'Messages',
      endpoint: { url: upstreamUrl, allowInsecure: true },
      jurisdiction: 'EU',
      credentials: [{ name: 'key', type: 'APIKey', secretKeyRef: { name: 'bench', key: 'key' } }],
    }),
    resource('Workload', 'cached', {
      organizationRef: { name: 'acme' },
      limits: { requestsPerMinute: 1_000_000, tokensPerMinute: 2_000_000_000 },
      budget: { amount: '1000000', period: 'Daily' },
    }),
    resource('VirtualKey', 'cached-key', {
      workloadRef: { name: 'cached' },
      hash: { algorithm: 'SHA256', value: hash('sha256', cachedKey, 'hex') },
    }),
    resource('Policy', 'cached-policy', {
      targetRefs: [{ kind: 'Workload', name: 'cached' }],
      defaults: {
        dlp: { mode: 'Tokenize' },
        contentRetention: 'Enabled',
        caching: { responseCache: { mode: 'Enabled', ttlSeconds: 3600 } },
      },
    }),
    resource('MCPServer', 'crm', { endpoint: { url: `${upstreamUrl}/mcp` }, jurisdiction: 'EU' }),
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bench', namespace: 'default' }, stringData: { key: 'k' } },
    ...tenant({
      upstreamUrl,
      key,
      workload: {
        limits: { requestsPerMinute: 1_000_000, tokensPerMinute: 2_000_000_000 },
        budget: { amount: '1000000', period: 'Daily' },
      },
      organization: { cap: { amount: '10000000', period: 'Monthly' } },
      policy: { dlp: { mode: 'Tokenize' } },
      prices: [
        { model: 'upstream/*', input: '2', output: '8' },
        { model: 'translated/*', input: '2', output: '8' },
        { model: 'mcp/crm/*', unit: 'Call', input: '0.0001' },
      ],
    }),
  ];
}
