/** A term of the glossary, and the words that it replaces. */
export interface Term {
  readonly term: string;
  readonly notUsed: readonly string[];
}

/** The terms of docs/internals/glossary.md: rows of three cells, term, meaning, and words that are not used. */
export function termsOf(glossary: string): readonly Term[] {
  return [...glossary.matchAll(/^\| (?!term \|)([^|]+?) \| [^|]+ \|([^|\n]*)\|$/gm)].map(
    ([, term = '', notUsed = '']) => ({
      term: term.replaceAll('`', ''),
      notUsed: [...notUsed.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
    }),
  );
}

/**
 * How often words occur in the identifiers of a TypeScript text. A word in lower case is looked for as a part of
 * identifiers (`door` in `mountDoors`), one with a capital as a whole identifier.
 */
export function identifiersWith(words: readonly string[], text: string): ReadonlyMap<string, number> {
  const code = text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g,
    ' ',
  );
  const counts = new Map<string, number>();
  const add = (word: string): void => void counts.set(word, (counts.get(word) ?? 0) + 1);
  const whole = new Set(words.filter((word) => /[A-Z]/.test(word)));
  const parts = new Set(words.filter((word) => !whole.has(word)));
  for (const [identifier] of code.matchAll(/[A-Za-z_$][\w$]*/g)) {
    if (whole.has(identifier)) add(identifier);
    const pieces = identifier.split(/[_$]|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map((p) => p.toLowerCase());
    for (const piece of new Set(pieces)) {
      if (parts.has(piece)) add(piece);
      else if (piece.endsWith('s') && parts.has(piece.slice(0, -1))) add(piece.slice(0, -1));
    }
  }
  return counts;
}
