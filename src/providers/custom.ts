import { custom as vendor } from '#/vendors/custom.ts';
import { messagesProvider } from './anthropic.ts';
import { compatible } from './base/compatible.ts';
import type { CreateProvider } from './base/create-provider.ts';
import type { ProviderConfig } from '#/config/snapshot.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';

const OPENAI_FAMILIES = vendor.families.filter((family) => family !== 'messages');
const openAiShaped = compatible(vendor, { families: () => OPENAI_FAMILIES, fits: { rerank: fitRerank } });

/**
 * Any server that speaks a protocol: messages at `<url>/messages`, else OpenAI's families. It gets the request as
 * written.
 */
export const custom: CreateProvider = (config, deps) =>
  config.protocol === 'messages' ? messagesProvider(config, deps) : openAiShaped(config, deps);

const VOYAGE = 'api.voyageai.com';

/** Voyage's word for how many results are wanted. // docs.voyageai.com/reference/reranker-api */
export function fitRerank({ root }: WireDocument, { url }: ProviderConfig): readonly Edit[] {
  if (new URL(url).hostname !== VOYAGE || member(root, 'top_k')) return [];
  const asked = root.members.find(({ key }) => key.value === 'top_n');
  return asked ? [{ start: asked.key.start, end: asked.key.end, text: '"top_k"' }] : [];
}
