import type { Vendor } from './vendor.ts';

/** Models of Google's that the Gemini API and Vertex AI list. */
export const GEMINI_MODELS = ['gemini-4-hydrogen', 'gemini-4-argon'] as const;

/** Google's Gemini API: the model is in the address, the key in a header of its own. // wire-formats 1.1 */
export const gemini: Vendor<'gemini'> = {
  id: 'gemini',
  name: 'Gemini API',
  protocol: 'generate_content',
  families: ['gemini', 'embeddings'],
  address: 'https://generativelanguage.googleapis.com/v1beta',
  hosts: { 'generativelanguage.googleapis.com': 'US' },
  credentials: ['api_key'],
  promptCache: 'implicit',
  traits: { remoteMedia: false },
  models: GEMINI_MODELS,
  prices: { bundled: 'google', litellm: [['gemini', 'gemini/']], modelsDev: ['google'] },
  environment: 'GEMINI_API_KEY',
  sample: {},
};
