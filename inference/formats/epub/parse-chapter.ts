import { decodeText } from '../decode-text.ts';
import { decodeEntities } from '../html/entities.ts';
import { parseXml } from '../ooxml/parse-xml.ts';
import type { XmlElement } from '../ooxml/xml.ts';

const DECLARATION = /^\s*<\?xml\s[^?<>]{0,200}\?>/;
const ENCODING = /encoding\s*=\s*["']([\w.-]{1,40})["']/;
/** One that names no letters itself. */
const DOCTYPE = /<!DOCTYPE\s[^[\]<>]{1,500}>/i;
/** Names that XML itself knows stay for its reader. */
const NAMED = /&(?!(?:amp|lt|gt|quot|apos);)[a-z]\w{1,30};/gi;

/**
 * Reads a chapter, or a list of a book's parts: XML whose document type is that of HTML or of books, with the letters that
 * these name. Throws what `parseXml` does.
 */
export function parseChapter(bytes: Uint8Array, checkTime: () => void): XmlElement {
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const said = ENCODING.exec(DECLARATION.exec(head.replace(/^ï»¿/, ''))?.[0] ?? '')?.[1]?.toLowerCase();
  const { text } = decodeText(bytes, said?.startsWith('utf-16') ? undefined : said);
  const bare = text
    .replace(/^\ufeff/, '')
    .replace(DECLARATION, '')
    .replace(DOCTYPE, '');
  const resolved = bare.replace(NAMED, (name) => {
    const letters = decodeEntities(name);
    return letters === name ? name : Array.from(letters, (letter) => `&#${letter.codePointAt(0)};`).join('');
  });
  return parseXml(Buffer.from(resolved), checkTime);
}
