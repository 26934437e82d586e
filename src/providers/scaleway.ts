import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

/** Paris. Keeps no state, and takes function tools only. // wire-formats 1.5 */
export const scaleway = chatVendor({
  id: 'scaleway',
  families: ['chat', 'responses', 'embeddings', 'rerank'],
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'logit_bias'),
      refuses: ['user'],
      messageMembers: messageMembers('reasoning_content'),
      streamOptions: 'usage',
    },
    responses: {
      members: new Set([
        ...['model', 'input', 'instructions', 'stream', 'max_output_tokens', 'temperature', 'top_p', 'tools'],
        ...['tool_choice', 'parallel_tool_calls', 'text', 'reasoning', 'truncation', 'include'],
      ]),
    },
    embeddings: { refuses: ['user'] },
  },
});
