import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

/** Answers 400 to members it does not know, and takes one answer a call. // wire-formats 1.5 */
export const groq: CompatibleVendor<'groq'> = {
  id: 'groq',
  name: 'Groq',
  protocol: 'chat_completions',
  families: ['chat', 'responses'],
  address: 'https://api.groq.com/openai/v1',
  hosts: { 'api.groq.com': 'US' },
  credentials: ['api_key'],
  promptCache: 'automatic',
  traits: { audio: false },
  rules: {
    chat: {
      members: chatMembers(
        ...['reasoning_format', 'include_reasoning', 'service_tier', 'documents', 'search_settings', 'compound_custom'],
      ),
      refuses: ['n'],
      messageMembers: messageMembers('reasoning'),
      streamOptions: 'usage',
      tiers: { auto: 'auto', flex: 'flex' },
    },
    responses: { refuses: ['prompt_cache_key', 'safety_identifier', 'previous_response_id'] },
  },
  prices: { bundled: 'groq', litellm: [['groq', 'groq/']], modelsDev: ['groq'] },
  environment: 'GROQ_API_KEY',
  sample: {},
};
