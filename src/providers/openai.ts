import { chatVendor } from './chat-vendor.ts';
import { OPENAI_TIERS } from './fit/family-rules.ts';

export const openai = chatVendor({
  id: 'openai',
  families: ['chat', 'responses', 'completions', 'embeddings', 'moderations', 'images'],
  rules: {
    chat: { streamOptions: 'unpadded', foreignTiers: OPENAI_TIERS },
    responses: { foreignTiers: OPENAI_TIERS },
  },
});
