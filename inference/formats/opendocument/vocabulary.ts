import type { Vocabulary } from '../markup.ts';
import { attributeOf, localOf } from '../ooxml/xml.ts';

/** Attributes in which somebody wrote something. */
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

/** How OpenDocument says things: elements are told by their local names, so that no other prefix hides anything. */
export const OPEN_DOCUMENT: Vocabulary = {
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
