import type { ProviderConfig } from '#/config/snapshot.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';

const VOYAGE = 'api.voyageai.com';

/** Voyage's word for how many results are wanted. // docs.voyageai.com/reference/reranker-api */
export function fitRerank({ family, root }: WireDocument, { url }: ProviderConfig): readonly Edit[] {
  if (family !== 'rerank' || new URL(url).hostname !== VOYAGE || member(root, 'top_k')) return [];
  const asked = root.members.find(({ key }) => key.value === 'top_n');
  return asked ? [{ start: asked.key.start, end: asked.key.end, text: '"top_k"' }] : [];
}
