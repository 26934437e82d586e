import { chatVendor } from '../chat-vendor.ts';
import { EMBEDDING_MEMBERS, chatMembers, messageMembers } from '../fit/family-rules.ts';
import { askForImages } from './images.ts';

/** Answers 422 to every member it does not know; usage comes on the last chunk by itself. // wire-formats 1.5 */
export const mistral = chatVendor({
  id: 'mistral',
  families: ['chat', 'embeddings', 'moderations', 'ocr', 'images'],
  asks: { images: askForImages },
  rules: {
    chat: {
      members: chatMembers(
        ...['random_seed', 'safe_prompt', 'prompt_mode', 'prediction', 'metadata', 'guardrails', 'service_tier'],
      ),
      refuses: ['user', 'store'],
      names: { seed: 'random_seed' },
      messageMembers: messageMembers('prefix'),
      namesToolsOnly: true,
      streamOptions: 'none',
      tiers: { auto: 'auto', default: 'standard_only', standard_only: 'standard_only' },
    },
    embeddings: {
      members: new Set([...EMBEDDING_MEMBERS, 'output_dimension', 'output_dtype', 'metadata']),
      refuses: ['user', 'encoding_format'],
      names: { dimensions: 'output_dimension' },
    },
    moderations: { members: new Set(['model', 'input', 'metadata']) },
  },
});
