import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

export const fireworks = chatVendor({
  id: 'fireworks',
  families: ['chat', 'responses', 'completions', 'embeddings', 'rerank'],
  rules: {
    chat: {
      members: chatMembers(
        ...['top_k', 'min_p', 'repetition_penalty', 'logprobs', 'top_logprobs', 'logit_bias', 'prediction', 'thinking'],
        ...['reasoning_history', 'context_length_exceeded_behavior', 'ignore_eos', 'metadata'],
      ),
      messageMembers: messageMembers('reasoning_content'),
      streamOptions: 'usage',
    },
  },
});
