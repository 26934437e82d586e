import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

export const together = chatVendor({
  id: 'together',
  families: ['chat', 'completions', 'embeddings', 'images', 'rerank'],
  rules: {
    chat: {
      members: chatMembers(
        ...['top_k', 'min_p', 'repetition_penalty', 'logprobs', 'echo', 'logit_bias', 'safety_model', 'reasoning'],
      ),
      messageMembers: messageMembers('reasoning'),
      streamOptions: 'usage',
    },
  },
});
