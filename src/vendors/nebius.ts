import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

export const nebius: CompatibleVendor<'nebius'> = {
  id: 'nebius',
  name: 'Nebius',
  protocol: 'chat_completions',
  families: ['chat', 'completions', 'embeddings', 'images'],
  address: 'https://api.tokenfactory.nebius.com/v1',
  hosts: {
    // Only dedicated endpoints, which have hosts of their own, stay in a region.
    'api.tokenfactory.nebius.com': 'GLOBAL',
  },
  credentials: ['api_key'],
  promptCache: 'none',
  traits: { audio: false },
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'logit_bias', 'top_k', 'min_p', 'repetition_penalty'),
      messageMembers: messageMembers('reasoning_content'),
      streamOptions: 'usage',
    },
  },
  prices: { litellm: [['nebius', 'nebius/']], modelsDev: ['nebius'] },
  sample: {
    comment: ['Serverless models of this vendor run anywhere; only dedicated endpoints fix a region.'],
  },
};
