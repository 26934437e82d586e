import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** Thinks unless told otherwise, by a member of its own. // wire-formats 2.3 */
export const deepseek: CompatibleVendor<'deepseek'> = {
  id: 'deepseek',
  name: 'DeepSeek',
  protocol: 'chat_completions',
  families: ['chat', 'completions'],
  address: 'https://api.deepseek.com',
  hosts: { 'api.deepseek.com': 'CN' },
  credentials: ['api_key'],
  promptCache: 'automatic',
  traits: { json: 'object', audio: false, maxStops: 16 },
  rules: {
    chat: {
      members: chatMembers('thinking', 'logprobs', 'top_logprobs'),
      refuses: ['seed', 'user', 'n', 'parallel_tool_calls'],
      messageMembers: messageMembers('prefix', 'reasoning_content'),
      streamOptions: 'usage',
    },
  },
  prices: { bundled: 'deepseek', litellm: [['deepseek', 'deepseek/']], modelsDev: ['deepseek'] },
  environment: 'DEEPSEEK_API_KEY',
  sample: {},
};
