import { effortWords } from './efforts.ts';
import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

export const fireworks: CompatibleVendor<'fireworks'> = {
  id: 'fireworks',
  name: 'Fireworks AI',
  protocol: 'chat_completions',
  families: ['chat', 'responses', 'completions', 'embeddings', 'rerank'],
  address: 'https://api.fireworks.ai/inference/v1',
  hosts: { 'api.fireworks.ai': 'US' },
  credentials: ['api_key'],
  promptCache: 'automatic',
  traits: {
    audio: false,
    reasoning: { control: 'effort', words: effortWords(['none', 'low', 'medium', 'high']), canDisable: true },
  },
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
  prices: { bundled: 'fireworks', litellm: [['fireworks_ai', 'fireworks_ai/']], modelsDev: ['fireworks-ai'] },
  environment: 'FIREWORKS_API_KEY',
  sample: {},
};
