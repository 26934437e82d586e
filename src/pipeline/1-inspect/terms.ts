import type { CustomTerm } from '#config/snapshot.ts';
import type { Span } from './detector.ts';

/** A shorter term is found as a whole word only: `Ed` is not in `Editor`. */
const SUBSTRING_FROM = 4;

/**
 * Finds named terms, whatever their case; inside words too, since `Falcons` names Falcon. The longest term wins
 * where several begin at one place.
 */
export function createTermFinder(terms: readonly CustomTerm[]): ((text: string) => readonly Span[]) | undefined {
  if (terms.length === 0) return undefined;
  const categories = new Map(terms.map(({ term, label }) => [fold(term), categoryOf(label)]));
  const pattern = [...new Set(terms.map(({ term }) => term))]
    .sort((a, b) => b.length - a.length)
    .map((term) => (term.length < SUBSTRING_FROM ? `(?<![\\p{L}\\p{N}])${quote(term)}(?![\\p{L}\\p{N}])` : quote(term)))
    .join('|');
  const expression = new RegExp(pattern, 'giu');
  return (text) => {
    const spans: Span[] = [];
    for (const match of text.matchAll(expression)) {
      const category = categories.get(fold(match[0])) ?? 'TERM';
      spans.push({ start: match.index, end: match.index + match[0].length, category });
    }
    return spans;
  };
}

/** A label as the category of a tag: upper case, at most 32 characters of letters, digits and underscores. */
export function categoryOf(label: string): string {
  const category = label
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 32);
  return /^[A-Z]/.test(category) ? category : `TERM${category && `_${category}`}`;
}

function fold(text: string): string {
  return text.toLowerCase();
}

function quote(term: string): string {
  return term.replace(/[\\^$.*+?()[\]{}|/]/g, (character) => `\\${character}`);
}
