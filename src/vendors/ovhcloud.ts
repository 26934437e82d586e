import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** Refuses to be asked for usage, and functions without parameters. // wire-formats 1.5 */
export const ovhcloud: CompatibleVendor<'ovhcloud'> = {
  id: 'ovhcloud',
  name: 'OVHcloud',
  protocol: 'chat_completions',
  families: ['chat', 'completions', 'embeddings'],
  address: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
  hosts: { 'oai.endpoints.kepler.ai.cloud.ovh.net': 'FR' },
  credentials: ['api_key'],
  promptCache: 'none',
  traits: { audio: false },
  rules: {
    chat: {
      members: chatMembers('logprobs', 'top_logprobs', 'logit_bias'),
      refuses: ['parallel_tool_calls'],
      messageMembers: messageMembers(),
      streamOptions: 'none',
      needsParameters: true,
    },
  },
  prices: { bundled: 'ovhcloud', litellm: [['ovhcloud', 'ovhcloud/']], modelsDev: ['ovhcloud'] },
  sample: {},
};
