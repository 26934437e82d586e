import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './fit/family-rules.ts';

/** Answers 400 to members it does not know, and takes one answer a call. // wire-formats 1.5 */
export const groq = chatVendor({
  id: 'groq',
  families: ['chat', 'responses'],
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
});
