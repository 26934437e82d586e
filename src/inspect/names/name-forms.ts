import type { Steps } from '#/wire/document/steps.ts';
import { spellingsOf } from '../decoding/term-fold.ts';

/** A stretch of a folded text, and the name that it is a form of. */
export interface FormFound {
  readonly from: number;
  readonly to: number;
  readonly name: number;
}

/** Two to five words, each with a capital but for those that stand before a family's name. */
const NAME = /^\p{Lu}[\p{L}\p{M}'’.-]*(?:\s+[\p{L}\p{M}'’.-]+){0,3}\s+(?:\p{Ll}['’])?\p{Lu}[\p{L}\p{M}'’.-]*$/u;
const PARTICLES = new Set(
  'von vom van zu zur zum der den de del della dell di da dos das do du des la le ten ter y e af av al el'.split(' '),
);
/** Words in front of a family name alone, folded, in the supported languages. */
const TITLES = new Set(
  (
    'mr mrs ms miss mx sir madam dr prof herr herrn frau fraulein familie monsieur madame mademoiselle m. mme mlle maitre ' +
    'sr sra srta senor senora senorita don dona signor signora signore signorina sig dott dottor dottoressa avv heer ' +
    'mevrouw meneer dhr mevr mw pan pani pana panu panem panna senhor senhora dom'
  ).split(' '),
);
/** What a language puts at the end of a name for its case or its owner; those of Polish without their signs. */
const ENDINGS = new Set(
  's es n en ns ens e a u o y i em om owi ie iem ego iego emu iemu im ym a ej iej ich ych ow owa owej owie ami ach'.split(
    ' ',
  ),
);
const LONGEST_ENDING = 4;
/** A word of fewer letters has no ending. */
const LEAST_STEM = 3;
const WORD = /[\p{L}\p{N}]+/gu;
const TITLE = '@';

interface Node {
  readonly next: Map<string, Node>;
  name: number | undefined;
}

/** A word of a folded text. */
interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** What of it is a name's word, by the words it may be. */
  readonly may: ReadonlyMap<string, number>;
}

/**
 * Finds the forms in which a text may tell a name of two words or more: family first, with or without a comma; first
 * names as initials or without those in the middle; the family's name behind a title; each word in another case
 * (`Łukasza Wiśniewskiego`), in another spelling of its umlauts, with a hyphen or a blank. Undefined where no term
 * looks like a name. One pass over the words, whatever the names.
 */
export function createNameForms(
  terms: readonly string[],
): ((folded: string) => Steps<readonly FormFound[]>) | undefined {
  const names = terms.map((term) => term.trim().normalize('NFC'));
  if (!names.some(isName)) return undefined;
  const root = newNode();
  const words = new Map<string, Set<string>>();
  for (const [index, name] of names.entries()) {
    if (!isName(name)) continue;
    for (const form of formsOf(name)) insert(root, form, index);
    for (const word of name.split(/[^\p{L}\p{M}]+/u)) addWord(words, word);
  }
  return (folded) => find(folded, root, words);
}

function isName(term: string): boolean {
  return term.length <= 100 && NAME.test(term);
}

/** The forms of a name, each as the words it is made of; a comma before a word stands in front of it. */
function formsOf(name: string): readonly (readonly string[])[] {
  const parts = name.split(/\s+/);
  const particle = parts.findIndex((part, index) => index > 0 && PARTICLES.has(part));
  const borders = particle > 0 ? [particle] : parts.length > 2 ? [parts.length - 1, parts.length - 2] : [1];
  return borders.flatMap((border) => splitForms(parts.slice(0, border), parts.slice(border)));
}

function splitForms(givenParts: readonly string[], familyParts: readonly string[]): readonly (readonly string[])[] {
  const given = givenParts.flatMap(wordsOf);
  const family = familyParts.flatMap(wordsOf);
  const [first = ''] = given;
  const initials = given.map(initialOf);
  const fronts = [given, [first], [initialOf(first)], initials];
  const reversed = fronts.flatMap((front) => [
    [...family, ...front],
    [...family, `,${front[0]}`, ...front.slice(1)],
  ]);
  return [...fronts.map((front) => [...front, ...family]), ...reversed, [TITLE, ...family]];
}

function wordsOf(part: string): readonly string[] {
  return part.split(/[^\p{L}\p{M}]+/u).flatMap((word) => spellingsOf(word)[0]?.text ?? []);
}

function initialOf(word: string): string {
  return `${word.slice(0, 1)}.`;
}

function newNode(): Node {
  return { next: new Map(), name: undefined };
}

function insert(root: Node, form: readonly string[], name: number): void {
  let node = root;
  for (const word of form) {
    let child = node.next.get(word);
    if (!child) node.next.set(word, (child = newNode()));
    node = child;
  }
  node.name ??= name;
}

/** Adds a word by each of its spellings, and by its stem if an ending replaces its last letters. */
function addWord(words: Map<string, Set<string>>, word: string): void {
  const spellings = spellingsOf(word);
  const plain = spellings[0]?.text;
  if (plain === undefined) return;
  const add = (key: string): void => void words.set(key, (words.get(key) ?? new Set()).add(plain));
  for (const { text: spelling } of spellings) {
    add(spelling);
    for (const stem of stemsOf(spelling)) if (stem.length >= LEAST_STEM) add(`${stem}~`);
  }
}

function stemsOf(word: string): readonly string[] {
  if (/[aeiouy]$/.test(word)) return [word.slice(0, -1)];
  // The e of a Polish ending goes: Marek, Marka.
  return /e[klc]$/.test(word) ? [word.slice(0, -2) + word.slice(-1)] : [];
}

/** So many words are looked at in one step, and so many behind them: no form has more. */
const WORDS_A_STEP = 4096;
const MOST_WORDS = 128;

function* find(
  folded: string,
  root: Node,
  words: ReadonlyMap<string, ReadonlySet<string>>,
): Steps<readonly FormFound[]> {
  const found: FormFound[] = [];
  let said: Word[] = [];
  for (const { 0: text, index: from } of folded.matchAll(WORD)) {
    said.push({ text, from, to: from + text.length, may: views(text, folded.charAt(from + text.length), words) });
    if (said.length < WORDS_A_STEP + MOST_WORDS) continue;
    addForms(folded, said, WORDS_A_STEP, root, found);
    said = said.slice(WORDS_A_STEP);
    yield;
  }
  addForms(folded, said, said.length, root, found);
  return found;
}

/** Adds the forms that begin with the first `count` words. */
function addForms(folded: string, said: readonly Word[], count: number, root: Node, found: FormFound[]): void {
  // A form inside another one does not begin a new match: `Lovelace, Ada` in `Ada Lovelace, Ada Lovelace`.
  let reach = found.at(-1)?.to ?? 0;
  const add = ({ from }: Word, form: Omit<FormFound, 'from'> | undefined): void => {
    if (!form) return;
    found.push({ from, ...form });
    reach = form.to;
  };
  for (let at = 0; at < count; at++) {
    const word = said[at]!;
    if (word.from < reach) continue;
    add(word, longest(folded, said, at, root));
    const titled = isTitle(word, folded) ? root.next.get(TITLE) : undefined;
    const after = titled && said[at + 1];
    if (!after || !/^\.? $/.test(folded.slice(word.to, after.from))) continue;
    add(after, longest(folded, said, at + 1, titled));
  }
}

function isTitle({ text, to }: Word, folded: string): boolean {
  return TITLES.has(text) || (text.length === 1 && TITLES.has(`${text}${folded.charAt(to)}`));
}

const NONE: Word['may'] = new Map();

/** The words of names that a word may be, each with how many of its letters are the name's own. */
function views(text: string, next: string, words: ReadonlyMap<string, ReadonlySet<string>>): Word['may'] {
  let may: Map<string, number> | undefined;
  const add = (key: string, length: number): void => {
    for (const word of words.get(key) ?? []) {
      may ??= new Map();
      if (!may.has(word)) may.set(word, length);
    }
  };
  if (text.length === 1 && next === '.') may = new Map([[`${text}.`, 2]]);
  add(text, text.length);
  for (let size = 1; size <= LONGEST_ENDING && text.length - size >= LEAST_STEM; size++) {
    if (!ENDINGS.has(text.slice(-size))) continue;
    const stem = text.slice(0, -size);
    add(stem, stem.length);
    add(`${stem}~`, text.length);
  }
  return may ?? NONE;
}

/** The longest form that begins with a word, and where it ends. */
function longest(folded: string, said: readonly Word[], at: number, from: Node): Omit<FormFound, 'from'> | undefined {
  let best: Omit<FormFound, 'from'> | undefined;
  const walk = (index: number, node: Node, mark: string): void => {
    const word = said[index];
    if (!word) return;
    for (const [key, length] of word.may) {
      const next = node.next.get(mark + key);
      if (!next) continue;
      const to = word.from + length;
      if (next.name !== undefined && (!best || to > best.to)) best = { to, name: next.name };
      const after = said[index + 1];
      const between = after && separator(folded.slice(word.from + Math.max(length, word.text.length), after.from));
      if (between !== undefined) walk(index + 1, next, between);
    }
  };
  walk(at, from, '');
  return best;
}

/** What a form has before its next word: nothing, or a comma; undefined where two words are not of one name. */
function separator(between: string): '' | ',' | undefined {
  if (/^(?: ?- ?| ?'| ?)$/.test(between)) return '';
  return /^ ?, ?$/.test(between) ? ',' : undefined;
}
