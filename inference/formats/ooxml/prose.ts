import { identifierUnits } from '../identifiers.ts';
import { fixedSlot, type Slot, type SlottedUnit } from '../slots.ts';
import { unescaped } from '../decode-text.ts';
import type { Part } from './package.ts';
import { signIn } from './signs.ts';
import { childOf, isElement, localOf, attributeOf, type XmlAttribute, type XmlElement } from './xml.ts';

/** Ways in which text stands in a paragraph; each is read on its own, so that none breaks the other. */
const CHANNELS = ['shown', 'vanished', 'deleted', 'instruction', 'pictured'] as const;
type Channel = (typeof CHANNELS)[number];
type Paragraph = Readonly<Record<Channel, Slot[]>>;

/** Attributes that contain written text. */
const PROSE = new Set(
  (
    'descr title alt tooltip author initials displayText instr string userId providerId caption presenceId ' +
    'prompt promptTitle error errorTitle location display displayName codeName uniqueName hlinkHover ' +
    'fullName shortName lastEdited comment href src refreshedBy lastValue'
  ).split(' '),
);
/** Elements whose name, or value, is one. */
const NAMED = new Set(
  (
    'bookmarkStart docVar docPr cNvPr alias tag default helpText statusText listItem listEntry definedName person property ' +
    'sheet tblCaption tblDescription lvlText filter customFilter'
  ).split(' '),
);
/** Elements between letters that stand for characters. */
const SIGNS: Readonly<Record<string, Slot>> = {
  tab: fixedSlot('\t'),
  ptab: fixedSlot('\t'),
  br: fixedSlot('\n'),
  cr: fixedSlot('\n'),
  noBreakHyphen: fixedSlot('-'),
};

/** What a part of a document says: units, and every text and attribute that there is. */
export interface Prose {
  readonly units: readonly SlottedUnit[];
  /** All texts in document order, those of a paragraph together, whatever they are. */
  readonly texts: readonly (readonly Slot[])[];
  /** All attributes, declarations of namespaces too. */
  readonly attributes: readonly XmlAttribute[];
  /** Names of elements and attributes. */
  readonly names: ReadonlySet<string>;
}

interface Walk {
  readonly paragraphs: { readonly slots: Paragraph; readonly hidden: boolean }[];
  readonly texts: Slot[][];
  readonly attributes: XmlAttribute[];
  readonly written: { readonly slot: XmlAttribute; readonly hidden: boolean }[];
  readonly names: Set<string>;
  readonly drops: (element: XmlElement) => boolean;
}

interface Place {
  readonly paragraph: Paragraph | undefined;
  readonly texts: Slot[];
  readonly hidden: boolean;
  readonly vanished: boolean;
  readonly deleted: boolean;
}

/**
 * Walks a tree of WordprocessingML, DrawingML or anything like them: a paragraph (`p`) is a unit, however many runs it is
 * split into; a text outside of one is a unit of its own. Elements are identified by their local names, so that no
 * other prefix hides anything. Elements in `drops` are read separately, and the text around them as if they were not
 * there.
 */
export function proseOf(
  root: XmlElement,
  visibility: SlottedUnit['visibility'],
  drops: Walk['drops'] = () => false,
): Prose {
  const walk: Walk = { paragraphs: [], texts: [], attributes: [], written: [], names: new Set(), drops };
  const hidden = visibility === 'hidden';
  visit(root, { paragraph: undefined, texts: [], hidden, vanished: false, deleted: false }, walk);
  const units = walk.paragraphs.flatMap(({ slots, hidden: unseen }) =>
    CHANNELS.filter((channel) => slots[channel].length > 0).map((channel): SlottedUnit => ({
      slots: slots[channel],
      visibility: unseen || channel !== 'shown' ? 'hidden' : 'shown',
    })),
  );
  const attributes = walk.written.map(({ slot, hidden: unseen }): SlottedUnit => ({
    slots: [slot],
    visibility: unseen ? 'hidden' : 'shown',
  }));
  return { units: [...units, ...attributes], texts: walk.texts, attributes: walk.attributes, names: walk.names };
}

function visit(element: XmlElement, outer: Place, walk: Walk): void {
  takeAttributes(element, outer, walk);
  const place = placeOf(element, outer, walk);
  const sign = SIGNS[element.local];
  // In the properties of a paragraph a tab is a position.
  if (sign && element.children.length === 0 && attributeOf(element, 'pos') === undefined) {
    place.paragraph?.[channelOf(element, place)].push(sign);
    place.texts.push(sign);
  }
  const pictured = signIn(element);
  if (pictured) place.paragraph?.pictured.push(signSlot(element, pictured.letter));
  for (const child of element.children) {
    if (isElement(child)) visit(child, place, walk);
    else if (child.text.trim() !== '' || KEEPS_BLANKS.test(element.local)) {
      if (!place.paragraph) startParagraph(walk, place);
      const paragraph = place.paragraph ?? walk.paragraphs.at(-1)?.slots;
      paragraph?.[channelOf(element, place)].push(child);
      (place.paragraph ? place.texts : walk.texts.at(-1))?.push(child);
    }
  }
}

/** A letter in a font of pictures, of which nothing is left where it goes. */
function signSlot(element: XmlElement, letter: string): Slot {
  return {
    get text() {
      return signIn(element) ? letter : '';
    },
    set text(text) {
      if (text !== letter) element.attributes = [];
    },
  };
}

const KEEPS_BLANKS = /^(?:t|delText|instrText)$/;

function channelOf({ local }: XmlElement, place: Place): Channel {
  if (local === 'instrText' || local === 'delInstrText') return 'instruction';
  if (local === 'delText' || place.deleted) return 'deleted';
  return place.vanished ? 'vanished' : 'shown';
}

function startParagraph(walk: Walk, { hidden }: Place): Place['paragraph'] {
  const slots: Paragraph = { shown: [], vanished: [], deleted: [], instruction: [], pictured: [] };
  walk.paragraphs.push({ slots, hidden });
  walk.texts.push([]);
  return slots;
}

/** Where the children of an element stand. */
function placeOf(element: XmlElement, outer: Place, walk: Walk): Place {
  if (walk.drops(element)) return { ...outer, paragraph: undefined, texts: [], hidden: true };
  switch (element.local) {
    case 'p':
    // A string of a spreadsheet is one as well.
    case 'si': {
      const paragraph = startParagraph(walk, outer);
      return { ...outer, paragraph, texts: walk.texts.at(-1) ?? [] };
    }
    case 'r':
      return { ...outer, vanished: outer.vanished || isVanished(element) };
    case 'del':
    case 'moveFrom':
      return { ...outer, deleted: true };
    case 'Fallback':
      // The same content follows in a newer form, which is the visible one.
      return { ...outer, hidden: true };
    default:
      return outer;
  }
}

function isVanished(run: XmlElement): boolean {
  const properties = childOf(run, 'rPr');
  return ['vanish', 'webHidden', 'specVanish'].some((local) => {
    const found = properties && childOf(properties, local);
    return found !== undefined && !/^(?:0|false|off)$/.test(attributeOf(found, 'val') ?? '');
  });
}

function takeAttributes({ name, local, attributes }: XmlElement, { hidden }: Place, walk: Walk): void {
  walk.names.add(name);
  for (const attribute of attributes) {
    walk.names.add(attribute.name);
    walk.attributes.push(attribute);
    const key = localOf(attribute.name);
    if (key === 'string' && local === 'textpath') walk.written.push({ slot: attribute, hidden });
    else if (PROSE.has(key) || (NAMED.has(local) && /^(?:name|val|value|displayName)$/.test(key)))
      walk.written.push({ slot: attribute, hidden: true });
  }
}

/** Every other attribute and namespace that says something, as hidden units: an unknown one may hold anything. */
export function nameUnits({ attributes }: Prose): readonly SlottedUnit[] {
  return identifierUnits(attributes.map(({ text }) => ownPart(text)));
}

/** Common addresses of namespaces and types: only the text after them is searched. */
const KNOWN_ADDRESS =
  /^(?:https?:\/\/(?:schemas\.openxmlformats\.org|schemas\.microsoft\.com|www\.w3\.org|purl\.org|purl\.oclc\.org)\/|urn:schemas-microsoft-com:)/;
/** Letters that come with everyone's computer: their names are no one's. */
const KNOWN_FONT =
  /^(?:Times New Roman|Times|Arial|Calibri|Calibri Light|Cambria|Cambria Math|Courier New|Georgia|Verdana|Tahoma|Symbol|Wingdings|Garamond|Helvetica|Segoe UI|Aptos|Aptos Display|Liberation (?:Sans|Serif|Mono)|Noto (?:Sans|Serif))$/;

/** What an identifier or address says of its own. */
export function ownPart(value: string): string {
  return KNOWN_FONT.test(value) ? '' : value.replace(KNOWN_ADDRESS, '');
}

/** Addresses outside of the document that a part refers to, each a hidden unit, without percent escapes. */
export function addressUnits({ relations }: Part): readonly SlottedUnit[] {
  return relations.flatMap(({ external }): readonly SlottedUnit[] => {
    if (!external) return [];
    const address: Slot = {
      get text() {
        return unescaped(external.text);
      },
      set text(text) {
        external.text = text;
      },
    };
    return [{ slots: [address], visibility: 'hidden' }];
  });
}
