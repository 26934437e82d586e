import { foldForTerms, type FoldedText } from './term-fold.ts';

/** A spelling of a term, folded. */
export interface Spelling {
  readonly text: string;
  /** Letters that were written as two in the term: only where the text has an umlaut are they meant. */
  readonly umlauts: readonly number[];
}

const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };
const UMLAUT = /[äöüåø]/g;
const AS_TWO = /a[ae]|[ou]e/g;

/**
 * How a term is spelled: as it is (umlauts without their dots), then with umlauts written as two letters, and with its
 * `ae`, `oe` and `ue` as the umlauts that they may stand for. None where nothing is left of it.
 */
export function spellingsOf(term: string): readonly Spelling[] {
  const plain = foldForTerms(term).text;
  if (plain === '') return [];
  const spellings: Spelling[] = [{ text: plain, umlauts: [] }];
  const lower = term.normalize('NFC').toLowerCase();
  const written = foldForTerms(lower.replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter)).text;
  if (written !== plain) spellings.push({ text: written, umlauts: [] });
  const umlauts = Array.from(plain.matchAll(AS_TWO), ({ index }, before) => index - before);
  if (umlauts.length > 0) spellings.push({ text: plain.replace(AS_TWO, (two) => two.charAt(0)), umlauts });
  return spellings;
}

/** Whether a letter of a folded text was an umlaut before. */
export function isUmlaut(text: string, { starts, ends }: FoldedText, index: number): boolean {
  return /[äöüåø]/i.test(text.slice(starts[index], ends[index]).normalize('NFC'));
}
