import { decodeEntities } from '../html/entities.ts';
import type { Slot } from '../slots.ts';

/** A picture or file within the text. */
const DATA_URL = /data:[\w.+-]+\/[\w.+-]+(?:;[\w=.+-]+)*;base64,[\w+/=%-]+/gi;
const NO_DATA = 'data:,';
const DISGUISED = /&#?\w+;|\\[!-/:-@[-`{-~]|%[\da-f]{2}/i;

/** A text as paragraphs: texts between empty lines. */
export interface Paragraphs {
  readonly slots: readonly Slot[];
  readonly write: () => string;
}

/**
 * Takes a text apart at empty lines. Where it is Markdown, a paragraph with escapes and entities is read as it is shown,
 * and is written without them once it is changed.
 */
export function paragraphsOf(text: string, markdown: boolean): Paragraphs {
  const pieces = text.split(/((?:\r\n|\r(?!\n)|\n)[ \t]*(?:\r\n|\r(?!\n)|\n)\s*)/).map((piece, index): Slot => {
    const shown = markdown && index % 2 === 0 ? undisguised(piece) : piece;
    return shown === piece ? { text: piece } : disguised(piece, shown);
  });
  return {
    slots: pieces.filter((_, index) => index % 2 === 0),
    write: () => pieces.map((piece) => ('written' in piece ? String(piece.written) : piece.text)).join(''),
  };
}

/** Removes files that are written into a text, and says how many there were. */
export function withoutData(text: string): { readonly text: string; readonly files: number } {
  let files = 0;
  const cut = text.replace(DATA_URL, () => {
    files++;
    return NO_DATA;
  });
  return { text: cut, files };
}

/** A text without the marks of Markdown that letters are bold, slanted, struck out, code or a link by. */
export function unmarked(text: string): string {
  return unlinked(text).replace(/[*`~]+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '');
}

/** A text with the words of its links alone, without their addresses. */
export function unlinked(text: string): string {
  return text.replace(/\[([^\][]*)\]\([^()]*\)/g, '$1');
}

/** A text as it is shown: escapes of Markdown, entities of HTML and percent escapes put in their places. */
export function undisguised(text: string): string {
  if (!DISGUISED.test(text)) return text;
  const bare = decodeEntities(text.replace(/\\([!-/:-@[-`{-~])/g, '$1'));
  return bare.replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

function disguised(piece: string, shown: string): Slot & { readonly written: string } {
  let text = shown;
  return {
    get text() {
      return text;
    },
    set text(changed) {
      text = changed;
    },
    get written() {
      return text === shown ? piece : text.replace(/[<&]/g, (sign) => (sign === '<' ? '&lt;' : '&amp;'));
    },
  };
}

const CARD = /^\s*BEGIN:V(?:CARD|CALENDAR)\s/i;

/** Cards and calendars break lines anywhere, within words too; who reads them joins these again. // RFC 5545 3.1, RFC 6350 3.2 */
export function unfolded(text: string): string {
  if (!CARD.test(text)) return text;
  // Cards of version 2.1 keep the blank at the beginning of a continued line.
  return /^VERSION:2\.1/im.test(text) ? text.replace(/\r?\n(?=[ \t])/g, '') : text.replace(/\r?\n[ \t]/g, '');
}
