import { unescaped } from '../decode-text.ts';
import { leftOver, type Search } from '../search.ts';
import type { OfficePackage } from './package.ts';
import { ownPart, proseOf } from './prose.ts';
import type { XmlElement } from './xml.ts';

/**
 * Looks through a package that was just written and opened again, every part of it, for originals: in its units, in all text in the order
 * it is written in, in attributes and names. Throws `redaction_failed` when one is found, or a part that is neither XML nor a picture.
 */
export function verifyPackage({ parts, relations }: OfficePackage, search: Search, checkTime: () => void): void {
  const identifiers = new Set(relations.flatMap(({ id, typeUri }) => [id, ownPart(typeUri)]));
  for (const part of parts) {
    checkTime();
    for (const value of [part.name, part.type]) identifiers.add(value);
    for (const { id, typeUri, external } of part.relations)
      for (const value of [id, ownPart(typeUri), unescaped(external?.text ?? '')]) identifiers.add(value);
    if (!part.xml && !part.type.startsWith('image/')) throw leftOver();
    if (part.xml) verifyXml(part.xml, search, identifiers);
  }
  if (search.isInIdentifiers(identifiers)) throw leftOver();
}

function verifyXml(root: XmlElement, search: Search, identifiers: Set<string>): void {
  const { units, texts, attributes, names } = proseOf(root, 'shown');
  const said = units.map(({ slots }) => slots.map(({ text }) => text).join('')).join('\n');
  const written = texts.map((slots) => slots.map(({ text }) => text).join('')).join('\n');
  if (search.isIn(said) || search.isIn(written)) throw leftOver();
  for (const name of names) identifiers.add(name);
  for (const { text } of attributes) identifiers.add(ownPart(unescaped(text)));
}

/** Takes originals out of a part, wherever in it they stand. */
export function sweepPart(root: XmlElement, search: Search): void {
  const { units, texts, attributes } = proseOf(root, 'shown');
  search.sweep(units.map(({ slots }) => slots));
  search.sweep(texts);
  search.sweepIdentifiers(attributes.filter(({ text }) => ownPart(text) === text));
}
