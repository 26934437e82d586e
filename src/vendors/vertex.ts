import { GEMINI_MODELS } from './gemini.ts';
import type { Vendor } from './vendor.ts';

/** Google's Vertex AI: Gemini, and Claude in the messages family. // wire-formats 1.1 */
export const vertex: Vendor<'vertex'> = {
  id: 'vertex',
  name: 'Vertex AI',
  protocol: 'generate_content',
  families: ['gemini', 'messages', 'embeddings'],
  address: 'https://{region}-aiplatform.googleapis.com',
  addressIn(region) {
    if (region === 'global') return 'https://aiplatform.googleapis.com';
    return region.includes('-') ? undefined : `https://aiplatform.${region}.rep.googleapis.com`;
  },
  regional: true,
  projects: true,
  // The path names the region, whichever of Google's hosts is asked.
  hosts: (host, region) => (host.endsWith('.googleapis.com') ? region : undefined),
  credentials: ['gcp_service_account', 'api_key'],
  promptCache: 'implicit',
  traits: { remoteMedia: false },
  models: GEMINI_MODELS,
  prices: {
    bundled: 'google',
    litellm: [
      ['vertex_ai-language-models', ''],
      ['vertex_ai-embedding-models', ''],
      ['vertex_ai-anthropic_models', 'vertex_ai/'],
    ],
    modelsDev: ['google-vertex', 'google-vertex-anthropic'],
  },
  sample: {
    jurisdiction: 'EU',
    before: ['region: eu', 'project: my-project'],
  },
};
