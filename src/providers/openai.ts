import { chatVendor } from './chat-vendor.ts';

export const openai = chatVendor({
  id: 'openai',
  families: ['chat', 'responses', 'completions', 'embeddings', 'moderations', 'images'],
  rules: { chat: { streamOptions: 'unpadded' } },
});
