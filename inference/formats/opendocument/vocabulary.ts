import type { Vocabulary } from '../markup.ts';
import { allElements, attributeOf, elementsIn, localOf, type XmlElement } from '../ooxml/xml.ts';
import { isDropped, knownPrefixes } from './clean.ts';

/** Attributes that contain written text. */
const WRITTEN = new Set(
  (
    'title display-name description string-value value date-value time-value label help-message prompt ' +
    'num-prefix num-suffix bullet-char condition expression formula author creator-initials sender-initials ' +
    'current-value default-value list-value display target-frame-name caption'
  ).split(' '),
);
/** Of comments, of who did what, of forms and programs. */
const UNSEEN = new Set(
  'annotation tracked-changes title desc forms scripts event-listeners hidden-text hidden-paragraph data-pilot-tables meta'.split(
    ' ',
  ),
);
const MOST_BLANKS = 100;

/** The vocabulary of OpenDocument: elements are identified by local names, so that no other prefix hides anything. */
const OPEN_DOCUMENT: Omit<Vocabulary, 'isDropped'> = {
  isParagraph: ({ local }) => local === 'p' || local === 'h',
  // A note stands within the paragraph that refers to it.
  breaks: false,
  stands: (element) => {
    if (element.local === 'tab') return '\t';
    if (element.local === 'line-break') return '\n';
    if (element.local !== 's') return undefined;
    const count = Number(attributeOf(element, 'c') ?? 1);
    return ' '.repeat(count > 0 && count < MOST_BLANKS ? count : 1);
  },
  isHidden: (element) =>
    UNSEEN.has(element.local) || /^(?:collapse|filter)$/.test(attributeOf(element, 'visibility') ?? ''),
  attribute: ({ local }, { name }) => {
    const key = localOf(name);
    if (key === 'href') return 'address';
    return WRITTEN.has(key) || (local === 'table' && name === 'table:name') ? 'text' : 'setting';
  },
};

/** What the elements of a tree mean, with the styles by which text in it is not shown. */
export function vocabularyOf(root: XmlElement, unseen: ReadonlySet<string>): Vocabulary {
  const prefixes = knownPrefixes(root);
  return {
    ...OPEN_DOCUMENT,
    isDropped: (element) => isDropped(element, prefixes),
    isHidden: (element) => OPEN_DOCUMENT.isHidden(element) || unseen.has(attributeOf(element, 'style-name') ?? ''),
  };
}

/** Names of styles whose text is not shown, and of those that take it over from them. */
export function unseenStyles(trees: readonly XmlElement[]): ReadonlySet<string> {
  const unseen = new Set<string>();
  const heirs = new Map<string, string[]>();
  for (const style of trees.flatMap((tree) => [...allElements(tree)].filter(({ local }) => local === 'style'))) {
    const name = attributeOf(style, 'name') ?? '';
    const display = elementsIn(style)
      .map((properties) => (properties.local === 'text-properties' ? attributeOf(properties, 'display') : undefined))
      .find((value) => value !== undefined);
    if (display !== undefined && display !== 'true') unseen.add(name);
    const parent = attributeOf(style, 'parent-style-name');
    if (display === undefined && parent !== undefined) {
      const known = heirs.get(parent);
      if (known) known.push(name);
      else heirs.set(parent, [name]);
    }
  }
  for (const name of unseen) for (const heir of heirs.get(name) ?? []) unseen.add(heir);
  return unseen;
}
