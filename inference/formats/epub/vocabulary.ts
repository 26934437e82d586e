import { attributeKind, BLOCKS, isDropped } from '../html/allowed.ts';
import type { Vocabulary } from '../markup.ts';
import { attributeOf, localOf } from '../ooxml/xml.ts';

const WITHIN = /^(?:chapter\d{1,6}\.xhtml)?#|^chapter\d{1,6}\.xhtml$|^image\d{1,6}$/;

/** How chapters of a book say things: as pages of HTML do, told by local names. */
export const CHAPTER: Vocabulary = {
  isParagraph: ({ local }) => BLOCKS.has(local),
  breaks: true,
  stands: ({ local }) => (local === 'br' ? '\n' : undefined),
  isDropped: ({ name, local }) => isDropped(local) || isDropped(name),
  isHidden: (element) =>
    attributeOf(element, 'hidden') !== undefined || /display\s*:\s*none/i.test(attributeOf(element, 'style') ?? ''),
  attribute: ({ local }, { name, text }) => {
    // References within the book.
    if (/^(?:href|src)$/.test(name) && WITHIN.test(text)) return 'setting';
    const kind = attributeKind(local, localOf(name));
    if (kind === 'address' || kind === 'source') return 'address';
    return kind === 'shown' || kind === 'hidden' ? 'text' : 'setting';
  },
};

/** How its lists of parts and contents do: each element is a text. */
export const LISTS: Vocabulary = {
  isParagraph: () => true,
  breaks: true,
  stands: () => undefined,
  isDropped: () => false,
  isHidden: () => false,
  attribute: (_, { name }) => (/^(?:href|src|full-path)$/.test(localOf(name)) ? 'address' : 'setting'),
};
