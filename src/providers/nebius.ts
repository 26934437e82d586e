import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

export const nebius = chatVendor({
  id: 'nebius',
  families: ['chat', 'completions', 'embeddings', 'images'],
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'logit_bias', 'top_k', 'min_p', 'repetition_penalty'),
      messageMembers: messageMembers('reasoning_content'),
      streamOptions: 'usage',
    },
  },
});
