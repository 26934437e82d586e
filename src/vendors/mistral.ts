import { EMBEDDING_MEMBERS, chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** Answers 422 to every member it does not know; usage comes on the last chunk by itself. // wire-formats 1.5 */
export const mistral: CompatibleVendor<'mistral'> = {
  id: 'mistral',
  name: 'Mistral',
  protocol: 'chat_completions',
  families: ['chat', 'embeddings', 'moderations', 'ocr', 'images'],
  address: 'https://api.mistral.ai/v1',
  hosts: { 'api.mistral.ai': 'EU', 'api.eu.mistral.ai': 'EU', 'api.us.mistral.ai': 'US' },
  credentials: ['api_key'],
  promptCache: 'automatic',
  traits: { toolIds: 'nine', midSystem: false, prefill: false, audio: false, maxTemperature: 1.5 },
  rules: {
    chat: {
      members: chatMembers(
        ...['random_seed', 'safe_prompt', 'prompt_mode', 'prediction', 'metadata', 'guardrails', 'service_tier'],
      ),
      refuses: ['user', 'store'],
      names: { seed: 'random_seed' },
      messageMembers: messageMembers('prefix'),
      namesToolsOnly: true,
      streamOptions: 'none',
      tiers: { auto: 'auto', default: 'standard_only', standard_only: 'standard_only' },
    },
    embeddings: {
      members: new Set([...EMBEDDING_MEMBERS, 'output_dimension', 'output_dtype', 'metadata']),
      refuses: ['user', 'encoding_format'],
      names: { dimensions: 'output_dimension' },
    },
    moderations: { members: new Set(['model', 'input', 'metadata']) },
  },
  models: ['mistral-large-4', 'mistral-large-4-0', 'mistral-large-latest', 'mistral-small-latest', 'codestral-latest'],
  prices: { bundled: 'mistral', litellm: [['mistral', 'mistral/']], modelsDev: ['mistral'] },
  environment: 'MISTRAL_API_KEY',
  sample: {},
};
