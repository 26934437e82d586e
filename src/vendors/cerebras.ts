import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** Answers 422 to every member it does not know. // wire-formats 1.5 */
export const cerebras: CompatibleVendor<'cerebras'> = {
  id: 'cerebras',
  name: 'Cerebras',
  protocol: 'chat_completions',
  families: ['chat', 'completions'],
  address: 'https://api.cerebras.ai/v1',
  hosts: { 'api.cerebras.ai': 'US' },
  credentials: ['api_key'],
  promptCache: 'automatic',
  traits: { audio: false },
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'disable_reasoning', 'clear_thinking'),
      refuses: ['n', 'presence_penalty', 'frequency_penalty'],
      messageMembers: messageMembers('reasoning'),
      streamOptions: 'usage',
    },
  },
  prices: { bundled: 'cerebras', litellm: [['cerebras', 'cerebras/']], modelsDev: ['cerebras'] },
  environment: 'CEREBRAS_API_KEY',
  sample: {},
};
