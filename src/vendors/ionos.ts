import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** Berlin. */
export const ionos: CompatibleVendor<'ionos'> = {
  id: 'ionos',
  name: 'IONOS',
  protocol: 'chat_completions',
  families: ['chat', 'completions', 'embeddings', 'images'],
  address: 'https://openai.inference.de-txl.ionos.com/v1',
  hosts: { 'openai.inference.de-txl.ionos.com': 'DE' },
  credentials: ['api_key'],
  promptCache: 'none',
  traits: { audio: false },
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'logit_bias'),
      messageMembers: messageMembers(),
      streamOptions: 'usage',
    },
  },
  prices: { litellm: [], modelsDev: [] },
  sample: {},
};
