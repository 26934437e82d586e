import type { Traits } from '#/wire/hub/traits.ts';
import { effortWords } from './efforts.ts';
import { OPENAI_TIERS } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** What holds for OpenAI's models, at clouds too. */
export const OPENAI_TRAITS: Partial<Traits> = {
  customTools: true,
  ceilingName: 'max_completion_tokens',
  documents: true,
  reasoning: {
    control: 'effort',
    words: effortWords(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
    canDisable: true,
  },
};

export const openai: CompatibleVendor<'openai'> = {
  id: 'openai',
  name: 'OpenAI',
  protocol: 'chat_completions',
  families: ['chat', 'responses', 'completions', 'embeddings', 'moderations', 'images'],
  address: 'https://api.openai.com/v1',
  hosts: {
    'api.openai.com': 'US',
    'us.api.openai.com': 'US',
    'eu.api.openai.com': 'EU',
    'ae.api.openai.com': 'AE',
    'au.api.openai.com': 'AU',
    'in.api.openai.com': 'IN',
    'jp.api.openai.com': 'JP',
  },
  credentials: ['api_key'],
  promptCache: 'automatic',
  cachesByKey: true,
  traits: OPENAI_TRAITS,
  rules: {
    chat: { streamOptions: 'unpadded', foreignTiers: OPENAI_TIERS },
    responses: { foreignTiers: OPENAI_TIERS },
  },
  models: [
    ...['gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna', 'gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-5.6-sol', 'gpt-5.6-terra'],
    ...['gpt-5.6-luna', 'gpt-5.5', 'gpt-5.4', 'gpt-5.2', 'gpt-5.1', 'gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-4.1'],
    ...['gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini', 'o3', 'o4-mini'],
  ],
  prices: {
    bundled: 'openai',
    litellm: [
      ['openai', ''],
      ['text-completion-openai', ''],
    ],
    modelsDev: ['openai'],
  },
  environment: 'OPENAI_API_KEY',
  sample: {},
};
