import { removeItems, type Edit, type WireDocument } from '../document/document.ts';
import { member, type ArrayNode, type JsonNode } from '../document/scan.ts';

/** Stands for a message that would be empty, because the vendor refuses empty ones. */
const PLACEHOLDER = JSON.stringify({ type: 'text', text: '(reasoning removed)' });

/**
 * Edits that drop thinking from the history: the flagged blocks, and those without a proof, which the vendor would
 * refuse. // spec 4.5.4
 */
export function dropSigned(document: WireDocument, flagged: ReadonlySet<JsonNode>): readonly Edit[] {
  const edits: Edit[] = [];
  const messages = member(document.root, 'messages');
  if (messages?.kind !== 'array') return edits;
  for (const message of messages.items) {
    const content = member(message, 'content');
    if (content?.kind === 'array') for (const one of dropFrom(content, flagged)) edits.push(one);
  }
  return edits;
}

function dropFrom(content: ArrayNode, flagged: ReadonlySet<JsonNode>): readonly Edit[] {
  const goes = (block: JsonNode): boolean => flagged.has(block) || isUnsigned(block);
  const removals = removeItems(content, goes);
  if (removals.length === 0 || !content.items.every(goes)) return removals;
  const start = content.start + 1;
  return [{ start, end: start, text: PLACEHOLDER }, ...removals];
}

function isUnsigned(block: JsonNode): boolean {
  const type = member(block, 'type');
  if (type?.kind !== 'string') return false;
  if (type.value === 'thinking') return !isNonEmpty(member(block, 'signature'));
  return type.value === 'redacted_thinking' && !isNonEmpty(member(block, 'data'));
}

function isNonEmpty(node: JsonNode | undefined): boolean {
  return node?.kind === 'string' && node.value !== '';
}
