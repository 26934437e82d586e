import { fixedSlot, type SlottedUnit } from './slots.ts';

/** Numbers that programs assign: no person chose them. */
const NUMBERED = /^(?:[\dA-F]{6,16}|\{?[\dA-F]{8}(?:-[\dA-F]{4}){3}-[\dA-F]{12}\}?)$/i;
const SAYS = /\p{L}{2}/u;
const JOINED = /[_\-.+]+|(?<=\p{Ll})(?=\p{Lu})/gu;

/**
 * Names, references and settings of a document as hidden units, each different one once, as they are and with their words
 * apart: `Ada_Lovelace` and `AdaLovelace` are names of persons. The units themselves are not replaced: matches
 * in them is taken out of all identifiers at once (`Search.sweepIdentifiers`).
 */
export function identifierUnits(values: Iterable<string>): readonly SlottedUnit[] {
  const distinct = new Set<string>();
  for (const value of values) if (SAYS.test(value) && !NUMBERED.test(value)) distinct.add(value);
  return Array.from(distinct, (value): SlottedUnit => {
    const words = apart(value);
    const slot = fixedSlot(words === value ? value : `${value}\n${words}`);
    return { slots: [slot], visibility: 'hidden', identifier: true };
  });
}

/** An identifier with blanks between its words. */
export function apart(identifier: string): string {
  return identifier.replace(JOINED, ' ');
}
