import { custom as vendor } from '#/vendors/custom.ts';
import { messagesProvider } from './anthropic.ts';
import { compatible } from './compatible.ts';
import type { CreateProvider } from './create-provider.ts';
import { fitRerank } from './fit/rerank.ts';

const OPENAI_FAMILIES = vendor.families.filter((family) => family !== 'messages');
const openAiShaped = compatible(vendor, { families: () => OPENAI_FAMILIES });

/** Any server that speaks a protocol: messages at `<url>/messages`, else OpenAI's families. It gets what was written. */
export const custom: CreateProvider = (config, deps) => {
  if (config.protocol === 'messages') return messagesProvider(config, deps);
  const provider = openAiShaped(config, deps);
  return {
    ...provider,
    fit: (document, context, lose) => [...provider.fit(document, context, lose), ...fitRerank(document, config)],
  };
};
