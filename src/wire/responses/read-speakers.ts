import type { WireDocument } from '../document/document.ts';
import { member, type ObjectNode } from '../document/scan.ts';
import { objectsOf, said, type Speaker, type UserText } from '../request/speakers.ts';

/** What a tool that the provider runs has returned stands in the item of its call. */
const RESULTS = new Set(['output', 'outputs', 'result', 'results', 'error']);

/** Who says what in a responses request. What is not told is the caller's. */
export function speakers({ root }: WireDocument): readonly UserText[] {
  const found: UserText[] = objectsOf(member(root, 'tools')).map((node) => ({
    node,
    speaker: { by: 'definition', tool: said(node, 'name') },
  }));
  const names = new Map<string, string>();
  for (const item of objectsOf(member(root, 'input'))) {
    const type = said(item, 'type');
    if (type === '' || type === 'message') message(item, found);
    else if (type.endsWith('_output')) {
      const tool = names.get(said(item, 'call_id')) ?? calledName(item, '_call_output');
      found.push({ node: item, speaker: { by: 'tool', tool } });
    } else if (type.endsWith('_call')) {
      const tool = calledName(item, '_call');
      names.set(said(item, 'call_id'), tool);
      found.push({ node: item, speaker: { by: 'assistant' } });
      for (const { key, value } of item.members) {
        if (RESULTS.has(key.value)) found.push({ node: value, speaker: { by: 'tool', tool } });
      }
    } else found.push({ node: item, speaker: OTHERS[type] ?? { by: 'assistant' } });
  }
  return found;
}

const OTHERS: Readonly<Record<string, Speaker>> = {
  input_text: { by: 'user' },
  input_file: { by: 'document' },
  mcp_list_tools: { by: 'tool', tool: '' },
};

function message(item: ObjectNode, found: UserText[]): void {
  const role = said(item, 'role');
  if (role !== 'user' && role !== 'system' && role !== 'developer') {
    found.push({ node: item, speaker: { by: 'assistant' } });
    return;
  }
  for (const part of objectsOf(member(item, 'content'))) {
    if (said(part, 'type') === 'input_file') found.push({ node: part, speaker: { by: 'document' } });
  }
}

/** The tool that an item calls: its name, else its kind. */
export function calledName(item: ObjectNode, suffix: '_call' | '_call_output'): string {
  const type = said(item, 'type');
  return said(item, 'name') || (type.endsWith(suffix) ? type.slice(0, -suffix.length) : type);
}
