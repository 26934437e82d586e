import type { CustomTerm } from '#config/snapshot.ts';
import type { Span } from './detector.ts';
import { foldForTerms } from './term-fold.ts';

/** A shorter term of a script with spaces is found as a whole word only: `Ed` is not in `Editor`. */
const SUBSTRING_FROM = 4;
const LETTER = /[\p{L}\p{N}]/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * Finds named terms however they are written: in any case, composed or decomposed, with any white space between words,
 * with characters nobody sees; inside words too, since `Falcons` names Falcon. One pass, linear in the text whatever the
 * terms (Aho and Corasick 1975). The longest term wins where several overlap. `wholeBelow`: a term of fewer characters is
 * found as whole words only.
 */
export function createTermFinder(
  terms: readonly (CustomTerm & { readonly wholeBelow?: number })[],
): ((text: string) => readonly Span[]) | undefined {
  if (terms.length === 0) return undefined;
  const root = buildTrie(terms);
  return (text) => {
    const folded = foldForTerms(text);
    const found: Span[] = [];
    let node = root;
    for (let at = 0; at < folded.text.length; at++) {
      const unit = folded.text.charCodeAt(at);
      while (node !== root && !node.next.has(unit)) node = node.fail;
      node = node.next.get(unit) ?? root;
      for (let hit: Node | undefined = node; hit; hit = hit.shorter) {
        if (hit.term === undefined) continue;
        const from = at + 1 - hit.term.length;
        if (hit.term.wholeWord && !standsAlone(folded.text, from, at + 1)) continue;
        found.push({ start: folded.starts[from]!, end: folded.ends[at]!, category: hit.term.category });
        break;
      }
    }
    return found;
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

interface Pattern {
  readonly length: number;
  readonly category: string;
  readonly wholeWord: boolean;
}

interface Node {
  readonly next: Map<number, Node>;
  /** Where to go on when no longer match is possible here. */
  fail: Node;
  /** The next shorter term that ends here too. */
  shorter: Node | undefined;
  term: Pattern | undefined;
}

function buildTrie(terms: readonly (CustomTerm & { readonly wholeBelow?: number })[]): Node {
  const root = newNode();
  root.fail = root;
  for (const { term, label, wholeBelow = SUBSTRING_FROM } of terms) {
    const text = foldForTerms(term.trim()).text;
    if (text === '') continue;
    let node = root;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      let child = node.next.get(unit);
      if (child === undefined) node.next.set(unit, (child = newNode()));
      node = child;
    }
    const wholeWord = text.length < wholeBelow && !UNSPACED.test(text);
    node.term ??= { length: text.length, category: categoryOf(label), wholeWord };
  }
  linkFailures(root);
  return root;
}

function newNode(): Node {
  return { next: new Map(), fail: undefined as unknown as Node, shorter: undefined, term: undefined };
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
      child.shorter = child.fail.term ? child.fail : child.fail.shorter;
      queue.push(child);
    }
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !(start > 0 && LETTER.test(text[start - 1]!)) && !(end < text.length && LETTER.test(text[end]!));
}
