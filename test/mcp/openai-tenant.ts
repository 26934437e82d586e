import { resource } from '../harness/gateway.ts';
import type { McpWorldOptions } from './world.ts';

/** A vendor of responses at this address, with a price. */
export function openAiTenant(url: string): Pick<McpWorldOptions, 'prices' | 'more'> {
  return {
    prices: [{ model: 'openai/*', input: '2', output: '8' }],
    more: [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { main: 'sk' },
      },
      resource('Provider', 'openai', {
        slug: 'openai',
        vendor: 'openai',
        endpoint: { url, allowInsecure: true },
        jurisdiction: 'US',
        credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }],
      }),
    ],
  };
}
