import { unescaped } from './decode-text.ts';
import { identifierUnits } from './identifiers.ts';
import { allElements, isElement, type XmlAttribute, type XmlElement } from './ooxml/xml.ts';
import type { Search } from './search.ts';
import { fixedSlot, textOf, type Slot, type SlottedUnit } from './slots.ts';

/** What a language of XML means by its elements and attributes. */
export interface Vocabulary {
  /** Whether text within is read as a whole. */
  readonly isParagraph: (element: XmlElement) => boolean;
  /** Whether such an element separates the text before and after it. */
  readonly breaks: boolean;
  /** What an element without text of its own stands for: a tab, blanks, the end of a line. */
  readonly stands: (element: XmlElement) => string | undefined;
  /** Whether it goes with all that is in it when the tree is cleaned. */
  readonly isDropped: (element: XmlElement) => boolean;
  /** Whether its content is invisible. */
  readonly isHidden: (element: XmlElement) => boolean;
  /** `text`: written for readers; `address`: of a link; all others are names or settings. */
  readonly attribute: (element: XmlElement, attribute: XmlAttribute) => 'text' | 'address' | 'setting';
}

/** What a tree says. */
export interface Said {
  readonly units: readonly SlottedUnit[];
  /** Attributes that are names or settings. */
  readonly settings: readonly XmlAttribute[];
  /** Names of elements and attributes. */
  readonly names: ReadonlySet<string>;
}

interface Place {
  slots: Slot[] | undefined;
  readonly hidden: boolean;
}

interface Walk {
  readonly units: SlottedUnit[];
  readonly settings: XmlAttribute[];
  readonly names: Set<string>;
  readonly vocabulary: Vocabulary;
}

/** Reads a tree: a paragraph is a unit, however its text is split; so is a text that stands in none, and an attribute. */
export function judgedText(root: XmlElement, vocabulary: Vocabulary, visibility: SlottedUnit['visibility']): Said {
  const walk: Walk = { units: [], settings: [], names: new Set(), vocabulary };
  visit(root, { slots: undefined, hidden: visibility === 'hidden' }, walk);
  return walk;
}

function visit(element: XmlElement, outer: Place, walk: Walk): void {
  const { vocabulary } = walk;
  takeAttributes(element, walk);
  const stands = vocabulary.stands(element);
  if (stands !== undefined) add(fixedSlot(stands), outer, walk);
  const dropped = vocabulary.isDropped(element);
  const hidden = outer.hidden || dropped || vocabulary.isHidden(element);
  // Text continues after invisible elements as if they were not there.
  const aside = dropped || hidden !== outer.hidden;
  const paragraph = vocabulary.isParagraph(element);
  const breaks = paragraph && !aside && vocabulary.breaks;
  if (breaks) outer.slots = undefined;
  const place = paragraph || aside ? { slots: undefined, hidden } : outer;
  for (const child of element.children) {
    if (isElement(child)) visit(child, place, walk);
    else if (child.text !== '') add(child, place, walk);
  }
  if (breaks) outer.slots = undefined;
}

function add(slot: Slot, place: Place, { units }: Walk): void {
  if (!place.slots) {
    place.slots = [];
    units.push({ slots: place.slots, visibility: place.hidden ? 'hidden' : 'shown' });
  }
  place.slots.push(slot);
}

function takeAttributes(element: XmlElement, { units, settings, names, vocabulary }: Walk): void {
  names.add(element.name);
  for (const attribute of element.attributes) {
    names.add(attribute.name);
    const kind = vocabulary.attribute(element, attribute);
    if (kind === 'setting') settings.push(attribute);
    else units.push({ slots: [kind === 'address' ? addressSlot(attribute) : attribute], visibility: 'hidden' });
  }
}

/** An address without its percent escapes. */
function addressSlot(attribute: XmlAttribute): Slot {
  return {
    get text() {
      return unescaped(attribute.text);
    },
    set text(text) {
      if (text !== unescaped(attribute.text)) attribute.text = text;
    },
  };
}

/** All texts of a tree, as units to search. */
export function unitsIn({ units, settings }: Said): readonly SlottedUnit[] {
  return [...units, ...identifierUnits(settings.map(({ text }) => text))];
}

/** Takes originals out of a tree, wherever in it they stand. */
export function sweepTree({ units, settings }: Said, search: Search): void {
  search.sweep(units.map(({ slots }) => slots));
  search.sweepIdentifiers(settings);
}

/** Whether an original is in a tree. */
export function isInTree({ units, settings, names }: Said, search: Search): boolean {
  const said = units.map(({ slots }) => textOf(slots)).join('\n');
  return search.isIn(said) || search.isInIdentifiers([...names, ...settings.map(({ text }) => unescaped(text))]);
}

/** The text of an element and all within it. */
export function textWithin(element: XmlElement): string {
  let text = '';
  for (const { children } of allElements(element))
    for (const child of children) if (!isElement(child)) text += child.text;
  return text;
}
