import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** Paris. Keeps no state, and takes function tools only. // wire-formats 1.5 */
export const scaleway: CompatibleVendor<'scaleway'> = {
  id: 'scaleway',
  name: 'Scaleway',
  protocol: 'chat_completions',
  families: ['chat', 'responses', 'embeddings', 'rerank'],
  address: 'https://api.scaleway.ai/v1',
  hosts: { 'api.scaleway.ai': 'FR' },
  credentials: ['api_key'],
  promptCache: 'none',
  traits: { audio: false },
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
  prices: { litellm: [['scaleway', 'scaleway/']], modelsDev: ['scaleway'] },
  sample: {},
};
