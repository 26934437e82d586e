import type { WireDocument } from '../document/document.ts';
import { member } from '../document/scan.ts';
import { objectsOf, said, type UserText } from '../request/speakers.ts';

/** Blocks with content of third parties. */
const DOCUMENTS = new Set(['document', 'search_result']);

/** Speakers of a messages request's texts. Unknown ones count as the caller. */
export function speakers({ root }: WireDocument): readonly UserText[] {
  const found: UserText[] = objectsOf(member(root, 'tools')).map((node) => ({
    node,
    speaker: { by: 'definition', tool: said(node, 'name') },
  }));
  const names = new Map<string, string>();
  for (const message of objectsOf(member(root, 'messages'))) {
    const isUser = said(message, 'role') === 'user' || said(message, 'role') === 'system';
    if (!isUser) found.push({ node: message, speaker: { by: 'assistant' } });
    for (const node of objectsOf(member(message, 'content'))) {
      const type = said(node, 'type');
      if (type.endsWith('tool_use')) names.set(said(node, 'id'), said(node, 'name'));
      else if (type.endsWith('tool_result')) {
        found.push({ node, speaker: { by: 'tool', tool: names.get(said(node, 'tool_use_id')) ?? '' } });
      } else if (DOCUMENTS.has(type)) found.push({ node, speaker: { by: 'document' } });
    }
  }
  return found;
}
