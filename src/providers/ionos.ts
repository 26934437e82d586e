import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

/** Berlin. */
export const ionos = chatVendor({
  id: 'ionos',
  families: ['chat', 'completions', 'embeddings', 'images'],
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'logit_bias'),
      messageMembers: messageMembers(),
      streamOptions: 'usage',
    },
  },
});
