import { attributeOf, type XmlElement } from './xml.ts';

/** Fonts of pictures, and of the letters of another alphabet in the places of Latin ones. */
const PICTURES = /^(?:symbol|wingdings.*|webdings|marlett|mt extra|.*dingbats.*)$/i;
/** Where fonts of signs have what others have from 0. */
const PRIVATE = 0xf000;

/** A sign of a font as the letter that stands in its place in others. */
export interface Sign {
  readonly letter: string;
  /** Its font has pictures: a reader sees no letter, but one can be made of it. */
  readonly pictured: boolean;
}

/** The character of a `sym` element; undefined for other elements, and for characters that cannot be letters. */
export function signIn(element: XmlElement): Sign | undefined {
  if (element.local !== 'sym') return undefined;
  const code = Number.parseInt(attributeOf(element, 'char') ?? '', 16);
  if (!(code >= 0x20 && code <= 0xffff)) return undefined;
  const letter = String.fromCharCode(code >= PRIVATE && code <= PRIVATE + 0xff ? code - PRIVATE : code);
  if (!/[\p{L}\p{N}@._ -]/u.test(letter)) return undefined;
  return { letter, pictured: PICTURES.test((attributeOf(element, 'font') ?? '').trim()) };
}
