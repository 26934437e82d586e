import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

export const together: CompatibleVendor<'together'> = {
  id: 'together',
  name: 'Together AI',
  protocol: 'chat_completions',
  families: ['chat', 'completions', 'embeddings', 'images', 'rerank'],
  address: 'https://api.together.xyz/v1',
  hosts: { 'api.together.xyz': 'US' },
  credentials: ['api_key'],
  promptCache: 'automatic',
  traits: { audio: false },
  rules: {
    chat: {
      members: chatMembers(
        ...['top_k', 'min_p', 'repetition_penalty', 'logprobs', 'echo', 'logit_bias', 'safety_model', 'reasoning'],
      ),
      messageMembers: messageMembers('reasoning'),
      streamOptions: 'usage',
    },
  },
  prices: { bundled: 'together', litellm: [['together_ai', 'together_ai/']], modelsDev: ['togetherai'] },
  environment: 'TOGETHER_API_KEY',
  sample: {},
};
