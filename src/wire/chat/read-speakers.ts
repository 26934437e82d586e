import type { WireDocument } from '../document/document.ts';
import { member, type ObjectNode } from '../document/scan.ts';
import { objectsOf, said, type UserText } from '../request/speakers.ts';

/** Speakers of a chat request's texts. Unknown ones count as the caller. */
export function speakers({ root }: WireDocument): readonly UserText[] {
  const found: UserText[] = [];
  for (const list of ['tools', 'functions']) {
    for (const node of objectsOf(member(root, list))) {
      found.push({ node, speaker: { by: 'definition', tool: definedName(node) } });
    }
  }
  const names = new Map<string, string>();
  for (const node of objectsOf(member(root, 'messages'))) {
    const role = said(node, 'role');
    if (role === 'assistant') {
      for (const call of objectsOf(member(node, 'tool_calls'))) names.set(said(call, 'id'), definedName(call));
      found.push({ node, speaker: { by: 'assistant' } });
    } else if (role === 'user' || role === 'system' || role === 'developer') {
      for (const part of objectsOf(member(node, 'content'))) {
        if (said(part, 'type') === 'file') found.push({ node: part, speaker: { by: 'document' } });
      }
    } else {
      const tool = names.get(said(node, 'tool_call_id')) ?? said(node, 'name');
      found.push({ node, speaker: { by: 'tool', tool } });
    }
  }
  return found;
}

/** The name of a tool in its definition or in a call of it. */
function definedName(node: ObjectNode): string {
  for (const kind of ['function', 'custom']) {
    const inner = member(node, kind);
    if (inner?.kind === 'object') return said(inner, 'name');
  }
  return said(node, 'name');
}
