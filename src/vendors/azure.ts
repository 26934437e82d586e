import { OPENAI_TRAITS } from './openai.ts';
import { OPENAI_TIERS } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** OpenAI's models in a customer's Azure resource. The model is a deployment's name there. // wire-formats 1.1 */
export const azure: CompatibleVendor<'azure'> = {
  id: 'azure',
  name: 'Azure OpenAI',
  protocol: 'chat_completions',
  families: ['chat', 'responses', 'completions', 'embeddings', 'images'],
  hosts: 'of its customers',
  credentials: ['api_key', 'azure_ad'],
  promptCache: 'automatic',
  cachesByKey: true,
  traits: OPENAI_TRAITS,
  rules: {
    chat: { streamOptions: 'any', foreignTiers: OPENAI_TIERS },
    responses: { foreignTiers: OPENAI_TIERS },
  },
  prices: {
    bundled: 'azure',
    litellm: [
      ['azure', 'azure/'],
      ['azure_ai', 'azure_ai/'],
    ],
    modelsDev: ['azure'],
  },
  sample: {
    comment: [
      'Azure names deployments, not models: state which deployment serves which model. The jurisdiction is that of',
      'the type of the deployment: a Global deployment in an EU region processes data anywhere.',
    ],
    jurisdiction: 'EU',
    before: ['endpoint: { url: https://my-resource.openai.azure.com/openai/v1 }'],
    after: ['models:', '  - { id: gpt-4o, upstreamId: my-gpt-4o-datazone }'],
  },
};
