import { messagesProvider } from './anthropic.ts';
import { chatVendor } from './chat-vendor.ts';
import { fitRerank } from './fit/rerank.ts';
import type { Vendor } from './vendor.ts';

const chatShaped = chatVendor({
  id: 'custom',
  families: ['chat', 'completions', 'embeddings', 'moderations', 'images', 'ocr', 'rerank'],
  rules: { untouched: true, chat: { streamOptions: 'any' } },
});

/** Any server that speaks a protocol: messages at `<url>/messages`, else OpenAI's families. It gets what was written. */
export const custom: Vendor<'custom'> = {
  id: 'custom',
  create(config, deps) {
    if (config.protocol === 'messages') return messagesProvider(config, deps);
    const provider = chatShaped.create(config, deps);
    return {
      ...provider,
      fit: (document, context, lose) => [...provider.fit(document, context, lose), ...fitRerank(document, config)],
    };
  },
};
