import { defaultTreeAdapter } from 'parse5';
import { fixedSlot, type Slot, type SlottedUnit } from '../slots.ts';
import { unescaped } from '../decode-text.ts';
import { attributeKind, BLOCKS, isDropped } from './allowed.ts';
import type { Document, Element, Node } from './tree.ts';

/** What an HTML document says. */
export interface Said {
  readonly units: readonly SlottedUnit[];
  /** Attributes that refer to each other. */
  readonly identifiers: readonly Slot[];
}

interface Walk {
  readonly units: SlottedUnit[];
  readonly identifiers: Slot[];
  open: { readonly slots: Slot[]; readonly hidden: boolean } | undefined;
}

const BREAK = fixedSlot('\n');

/**
 * Reads a document: text between two ends of blocks is a unit, whatever elements are in it; an attribute is one of its own.
 * Comments and data of programs are hidden units, although they are always removed.
 */
export function readSaid(document: Document): Said {
  const walk: Walk = { units: [], identifiers: [], open: undefined };
  for (const child of document.childNodes) visit(child, false, walk);
  return { units: walk.units, identifiers: walk.identifiers };
}

function visit(node: Node, hidden: boolean, walk: Walk): void {
  if (defaultTreeAdapter.isTextNode(node)) addText(textSlot(node), hidden, walk);
  else if (defaultTreeAdapter.isCommentNode(node))
    walk.units.push({ slots: [{ text: node.data }], visibility: 'hidden' });
  else if (defaultTreeAdapter.isElementNode(node)) visitElement(node, hidden, walk);
}

function visitElement(element: Element, outer: boolean, walk: Walk): void {
  const { tagName } = element;
  for (const attribute of element.attrs) takeAttribute(tagName, attribute, walk);
  if (tagName === 'br') return addText(BREAK, outer, walk);
  const dropped = isDropped(tagName);
  const unseen = element.attrs.some(
    ({ name, value }) => name === 'hidden' || (name === 'style' && /display\s*:\s*none/i.test(value)),
  );
  const hidden = outer || dropped || unseen;
  // Text continues after invisible elements as if they were not there.
  const aside = dropped || hidden !== outer;
  const before = aside ? walk.open : undefined;
  const ends = aside || BLOCKS.has(tagName);
  if (ends) walk.open = undefined;
  const inner = 'content' in element ? (element as { content: { childNodes: Node[] } }).content.childNodes : [];
  for (const child of [...element.childNodes, ...inner]) visit(child, hidden, walk);
  if (ends) walk.open = before;
}

function addText(slot: Slot, hidden: boolean, walk: Walk): void {
  if (!walk.open) {
    walk.open = { slots: [], hidden };
    walk.units.push({ slots: walk.open.slots, visibility: hidden ? 'hidden' : 'shown' });
  }
  walk.open.slots.push(slot);
}

function textSlot(node: { value: string }): Slot {
  return {
    get text() {
      return node.value;
    },
    set text(text) {
      node.value = text;
    },
  };
}

function takeAttribute(element: string, attribute: { name: string; value: string }, walk: Walk): void {
  const kind = attributeKind(element, attribute.name);
  const slot = textSlot(attribute);
  const within = kind === 'address' && attribute.value.startsWith('#');
  if (within || kind === 'identifier' || kind === 'shape' || kind === 'style') walk.identifiers.push(slot);
  else if (kind === 'address') walk.units.push({ slots: [addressSlot(attribute)], visibility: 'hidden' });
  else if (kind !== 'source') walk.units.push({ slots: [slot], visibility: kind === 'shown' ? 'shown' : 'hidden' });
}

/** An address without its percent escapes. */
function addressSlot(attribute: { value: string }): Slot {
  return {
    get text() {
      return unescaped(attribute.value);
    },
    set text(text) {
      if (text !== unescaped(attribute.value)) attribute.value = text;
    },
  };
}
