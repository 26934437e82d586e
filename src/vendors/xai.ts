import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

export const xai: CompatibleVendor<'xai'> = {
  id: 'xai',
  name: 'xAI',
  protocol: 'chat_completions',
  families: ['chat', 'responses', 'images'],
  address: 'https://api.x.ai/v1',
  hosts: { 'api.x.ai': 'US' },
  credentials: ['api_key'],
  promptCache: 'automatic',
  traits: {},
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'search_parameters', 'web_search_options', 'deferred'),
      messageMembers: messageMembers('reasoning_content'),
      streamOptions: 'usage',
    },
  },
  prices: { bundled: 'x-ai', litellm: [['xai', 'xai/']], modelsDev: ['xai'] },
  environment: 'XAI_API_KEY',
  sample: {},
};
