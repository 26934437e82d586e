import { chatVendor } from './chat-vendor.ts';
import type { VendorRules } from './family-rules.ts';

/** OpenAI takes every member of its own families, and can leave out the padding of streams. */
export const OPENAI_RULES: VendorRules = { chat: { streamOptions: 'all' } };

export const openai = chatVendor({
  id: 'openai',
  families: ['chat', 'responses', 'completions', 'embeddings', 'moderations', 'images', 'speech'],
  rules: OPENAI_RULES,
});
