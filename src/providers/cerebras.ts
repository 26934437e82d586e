import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

/** Answers 422 to every member it does not know. // wire-formats 1.5 */
export const cerebras = chatVendor({
  id: 'cerebras',
  families: ['chat', 'completions'],
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'disable_reasoning', 'clear_thinking'),
      refuses: ['n', 'presence_penalty', 'frequency_penalty'],
      messageMembers: messageMembers('reasoning'),
      streamOptions: 'usage',
    },
  },
});
