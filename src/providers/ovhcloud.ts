import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

/** Refuses to be asked for usage, and functions without parameters. // wire-formats 1.5 */
export const ovhcloud = chatVendor({
  id: 'ovhcloud',
  families: ['chat', 'completions', 'embeddings'],
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'logit_bias'),
      refuses: ['parallel_tool_calls'],
      messageMembers: messageMembers(),
      streamOptions: 'none',
      needsParameters: true,
    },
  },
});
