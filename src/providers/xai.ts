import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

export const xai = chatVendor({
  id: 'xai',
  families: ['chat', 'responses', 'images'],
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'search_parameters', 'web_search_options', 'deferred'),
      messageMembers: messageMembers('reasoning_content'),
      streamOptions: 'usage',
    },
  },
});
