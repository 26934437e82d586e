import type { CustomTerm } from '#/config/snapshot.ts';
import { type Match, outermost } from '../match.ts';
import { createNameForms, type FormFound } from '../names/name-forms.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import { foldInSteps, hasBrokenWord, type FoldedText, isUmlaut, spellingsOf } from '../decoding/term-fold.ts';

/** A shorter term of a script with spaces is found as a whole word only: `Ed` is not in `Editor`. */
const SUBSTRING_FROM = 4;
const LETTER = /[\p{L}\p{N}]/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** A term, below how many characters it is found as whole words only, and another one that it is a form of. */
export type Term = CustomTerm & { readonly wholeBelow?: number; readonly formOf?: string };

/**
 * Finds named terms however they are written: in any case, with or without accents, umlauts as two letters or one, with
 * any white space between words, broken at the end of a line, with characters nobody sees; inside words too, since
 * `Falcons` names Falcon; and the forms of what looks like a name. One pass, linear in the text whatever the terms (Aho and
 * Corasick 1975). The longest term wins where several overlap.
 */
export function createTermSearch(terms: readonly Term[]): TermSearch | undefined {
  if (terms.length === 0) return undefined;
  const root = buildTrie(terms);
  const forms = createNameForms(terms.map(({ term }) => term));
  const findIn = function* (text: string, folded: FoldedText): Steps<readonly Match[]> {
    const found = yield* spelled(text, folded, root);
    return forms ? [...found, ...formsAmong(found, folded, yield* forms(folded.text), terms)] : found;
  };
  const steps = function* (text: string): Steps<readonly Match[]> {
    const found = yield* findIn(text, yield* foldInSteps(text));
    const all = hasBrokenWord(text) ? [...found, ...(yield* findIn(text, yield* foldInSteps(text, true)))] : found;
    return all.length > 1 ? outermost(all) : all;
  };
  return Object.assign((text: string) => finish(steps(text)), { steps });
}

/** Finds terms in a text, at once or in steps. */
export interface TermSearch {
  (text: string): readonly Match[];
  steps(text: string): Steps<readonly Match[]>;
}

/** Where forms of names stand; what is partly a name as it is spelled belongs to that one. */
function formsAmong(
  spelledOut: readonly Match[],
  { starts, ends }: FoldedText,
  forms: readonly FormFound[],
  terms: readonly Term[],
): readonly Match[] {
  const found: Match[] = [];
  let next = 0;
  for (const { from, to, name } of forms) {
    const { term = '', label = '', formOf = term } = terms[name] ?? {};
    const [start, end] = [starts[from] ?? 0, ends[to - 1] ?? 0];
    while ((spelledOut[next]?.end ?? Infinity) <= start) next++;
    const other = spelledOut[next];
    if (other && other.start < end && (other.start < start || other.end > end)) continue;
    found.push({ start, end, category: categoryOf(label), term: formOf });
  }
  return found;
}

const UNITS_A_STEP = 128 * 1024;

/** Where terms stand in one of their spellings. */
function* spelled(text: string, folded: FoldedText, root: Node): Steps<Match[]> {
  const found: Match[] = [];
  let node = root;
  for (let at = 0; at < folded.text.length; at += UNITS_A_STEP) {
    if (at > 0) yield;
    node = spelledIn(text, folded, at, at + UNITS_A_STEP, { root, node }, found);
  }
  return found;
}

/** Adds the terms that end in a stretch of the folded text; answers how far the next one is. */
function spelledIn(
  text: string,
  folded: FoldedText,
  from: number,
  until: number,
  { root, node: begun }: { readonly root: Node; readonly node: Node },
  found: Match[],
): Node {
  let node = begun;
  for (let at = from; at < Math.min(until, folded.text.length); at++) {
    const unit = folded.text.charCodeAt(at);
    while (node !== root && !node.next.has(unit)) node = node.fail;
    node = node.next.get(unit) ?? root;
    for (let hit: Node | undefined = node; hit; hit = hit.shorter) {
      if (hit.pattern === undefined) continue;
      const { length, wholeWord, umlauts, category, term } = hit.pattern;
      const first = at + 1 - length;
      if (wholeWord && !standsAlone(folded.text, first, at + 1)) continue;
      if (!umlauts.every((index) => isUmlaut(text, folded, first + index))) continue;
      found.push({ start: folded.starts[first] ?? 0, end: folded.ends[at] ?? 0, category, term });
      break;
    }
  }
  return node;
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

interface Pattern {
  readonly term: string;
  readonly length: number;
  readonly category: string;
  readonly wholeWord: boolean;
  /** Which of its letters must be umlauts in the text. */
  readonly umlauts: readonly number[];
}

interface Node {
  readonly next: Map<number, Node>;
  /** Where to go on when no longer match is possible here. */
  fail: Node;
  /** The next shorter term that ends here too. */
  shorter: Node | undefined;
  pattern: Pattern | undefined;
}

function buildTrie(terms: readonly Term[]): Node {
  const root = newNode();
  root.fail = root;
  for (const { term, label, wholeBelow = SUBSTRING_FROM, formOf = term } of terms) {
    for (const { text, umlauts } of spellingsOf(term.trim())) {
      const wholeWord = text.length < wholeBelow && !UNSPACED.test(text);
      add(root, text, { term: formOf, length: text.length, category: categoryOf(label), wholeWord, umlauts });
    }
  }
  linkFailures(root);
  return root;
}

function add(root: Node, text: string, pattern: Pattern): void {
  let node = root;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    let child = node.next.get(unit);
    if (child === undefined) node.next.set(unit, (child = newNode()));
    node = child;
  }
  // What another term is as it stands goes before what this one may be.
  if (node.pattern === undefined || node.pattern.umlauts.length > pattern.umlauts.length) node.pattern = pattern;
}

function newNode(): Node {
  return { next: new Map(), fail: undefined as unknown as Node, shorter: undefined, pattern: undefined };
}

/** Breadth first, so that the shorter suffixes a node falls back to are linked before it. */
function linkFailures(root: Node): void {
  const queue: Node[] = [];
  for (const child of root.next.values()) {
    child.fail = root;
    queue.push(child);
  }
  for (let node = queue.shift(); node; node = queue.shift()) {
    for (const [unit, child] of node.next) {
      let fail = node.fail;
      while (fail !== root && !fail.next.has(unit)) fail = fail.fail;
      child.fail = fail.next.get(unit) ?? root;
      child.shorter = child.fail.pattern ? child.fail : child.fail.shorter;
      queue.push(child);
    }
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !(start > 0 && LETTER.test(text[start - 1]!)) && !(end < text.length && LETTER.test(text[end]!));
}
