import type { Leaf } from '#/wire/hub/codec.ts';
import type { Steps } from '#/wire/document/steps.ts';
import { isAlphanumeric } from '../detectors/characters.ts';
import { united, type Match } from '../match.ts';
import { addAnnounced } from './announced-joints.ts';
import { halvesOf } from './parted-values.ts';
import { AT_WORDS, DOT_WORDS } from './spelled-addresses.ts';
import { runsOf, saidIn, spaced, stretchOf, textsInJson, textsOf, type ReadText, type TextRun } from './text-runs.ts';

/** What tells that a text may have one of those that are looked for. */
const TELLING =
  /@|[%=]40|\\u|\\x|&#|&commat;|[[({<] ?at ?[\])}>]|(?:\d[^\d\n]{0,3}){5}\d|(?:sk|pk|rk|gh[a-z]|glpat|xox[a-z]|AKIA|AIza|SG)[-_.A-Z\d]/g;
/** The same in JSON, where numbers stand side by side that are parts of none. */
const TELLING_IN_JSON =
  /@|[%=]40|\\u|\\x|&#|&commat;|[[({<] ?at ?[\])}>]|(?<![A-Za-z\d])[A-Z]{2}\d\d|(?:sk|pk|rk|gh[a-z]|glpat|xox[a-z]|AKIA|AIza|SG)[-_.A-Z\d]/g;
/** What every `TELLING` text has one of, in classes so small that the engine looks at many characters at once. */
const SIGNS = /[\d@\\%&=]/;
const BRACKETS = /[[({<]/;
const SECRETS = /[-_.A-Z](?<=(?:sk|pk|rk|gh[a-z]|glpat|xox[a-z]|AKIA|AIza|SG)[^])/;

/** What a value may go on with. */
const BEGINS = /^(?:[A-Za-z\d@.+_-]|[\p{L}\p{M}]|[[({] ?at ?[\])}])/u;
/** Letters, digits, signs of addresses and of secrets, and what closes a bracket around one. */
const GOING_ON = new Set(Array.from('@.+_-])}', (sign) => sign.charCodeAt(0)));

/** Where a number ends in one text and goes on in the next, a blank may stand between them. */
const DIGIT_NEAR = /[\dA-Z][^\p{L}\d]{0,3}$/u;
const DIGIT_FIRST = /^[^\p{L}\d]{0,3}(?:\d|[A-Z](?!\p{Ll}))/u;
const NEAR = 8;

/**
 * The runs of texts in which an address, a number or a secret may go on from one text in the next: in parts of a message,
 * messages, blocks of a system prompt, results of tools. Each once joined directly and, among digits, with a blank.
 * `source`: the document, which tells names of members from texts.
 */
export function* boundariesOf(leaves: readonly Leaf[], source: string): Steps<readonly TextRun[]> {
  const found: TextRun[] = [];
  yield* addBoundaries(textsOf(leaves, source), (run) => {
    addTelling(run, TELLING, found);
    addAnnounced(run, found);
  });
  let hasJson = false;
  for (const { inJson } of leaves) hasJson ||= inJson !== undefined;
  if (hasJson)
    yield* addBoundaries(textsInJson(leaves), (run) => {
      const own = { ...run, inJson: true };
      addTelling(own, TELLING_IN_JSON, found);
      addAnnounced(own, found);
    });
  return found;
}

function* addBoundaries(read: readonly ReadText[], add: (run: TextRun) => void): Steps<void> {
  const mayPass = yield* runsOf(read, false, directly, add);
  if (!mayPass) return;
  yield* runsOf(read, true, directly, (run) => {
    if (run.passes) add(run);
  });
}

function directly(left: string, right: string): string | undefined {
  const code = left.charCodeAt(left.length - 1);
  return (isAlphanumeric(code) || code > 127 || GOING_ON.has(code)) && BEGINS.test(right) ? '' : undefined;
}

/** Adds the stretches of a run in which a value may cross from one text into the next. */
function addTelling(run: TextRun, telling: RegExp, found: TextRun[]): void {
  const { text, pieces } = run;
  if (!SIGNS.test(text) && !BRACKETS.test(text) && !SECRETS.test(text)) return;
  telling.lastIndex = 0;
  let at = 0;
  for (let match = telling.exec(text); match; match = telling.exec(text)) {
    const start = match.index;
    const end = telling.lastIndex;
    while (pieces[at]!.end <= start) at += 1;
    let last = at;
    while (pieces[last]!.end < end) last += 1;
    const first = firstAround(run, at, start);
    const behind = lastAround(run, last, end);
    if (behind.end >= end) telling.lastIndex = Math.max(end, behind.end);
    if (first === behind.last) continue;
    const stretch = stretchOf(run, first, behind.last);
    found.push(stretch);
    if (goesOnInDigits(run, first, behind.last)) addSpaced(stretch, found);
  }
}

/** The piece in which a value around `start` may begin. `at`: the piece that has `start`. */
function firstAround({ text, pieces }: TextRun, at: number, start: number): number {
  if (nearTo(text.slice(pieces[at]!.start, start)) !== undefined) return at;
  let first = Math.max(0, at - 1);
  while (first > 0 && nearTo(saidIn(text, pieces[first]!)) === undefined) first -= 1;
  return first;
}

/** The piece in which a value around `end` may end, and where. `at`: the piece that has the sign before `end`. */
function lastAround(
  { text, pieces }: TextRun,
  at: number,
  end: number,
): { readonly last: number; readonly end: number } {
  const own = nearTo(text.slice(end, pieces[at]!.end));
  if (own !== undefined) return { last: at, end: end + own };
  for (let last = at + 1; last < pieces.length; last += 1) {
    const near = nearTo(saidIn(text, pieces[last]!));
    if (near !== undefined) return { last, end: pieces[last]!.start + near };
  }
  return { last: pieces.length - 1, end: text.length };
}

/** Whether digits stand on both sides of a joint of these pieces. */
function goesOnInDigits({ text, pieces }: TextRun, first: number, last: number): boolean {
  for (let at = first + 1; at <= last; at += 1) {
    const { start } = pieces[at]!;
    if (
      DIGIT_NEAR.test(text.slice(Math.max(0, start - NEAR), start)) &&
      DIGIT_FIRST.test(text.slice(start, start + NEAR))
    )
      return true;
  }
  return false;
}

/** The end of a text that ends with a word of prose, and the beginning of one that begins with one. */
const ENDS_IN_WORD = /(?<!\S)[A-Za-z\u00c0-\u017f]?[a-z\u00df-\u017f]{1,40}[.,;:!?]?$/;
const BEGINS_WITH_WORD = /^[A-Za-z\u00c0-\u017f]?[a-z\u00df-\u017f]{1,40}[.,;:!?]?(?!\S)/;
const BEGINS_WITH_LETTER = /^[A-Za-z\d]/;

/** Adds the same run with a blank between any two texts, and with one only where they do not read as one word. */
function addSpaced(run: TextRun, found: TextRun[]): void {
  const isParted = run.pieces.map((piece, at) => at > 0 && (piece.apart || partsWords(run, at)));
  const count = isParted.filter(Boolean).length;
  if (count < run.pieces.length - 1) found.push(spaced(run, () => true));
  if (count > 0) found.push(spaced(run, (at) => isParted[at]!));
}

/** Whether a text ends with a word of prose, or the one behind it begins with one. */
function partsWords({ text, pieces }: TextRun, at: number): boolean {
  const before = saidIn(text, pieces[at - 1]!);
  const behind = saidIn(text, pieces[at]!);
  return (ENDS_IN_WORD.test(before) && BEGINS_WITH_LETTER.test(behind)) || BEGINS_WITH_WORD.test(behind);
}

/** No word for a sign of an address, which stands among its parts. */
const PLAIN_WORD = `(?!(?:${AT_WORDS}|${DOT_WORDS})[\\s.,;:!?])[A-Za-z\u00c0-\u017f']{1,40}[.,;:!?]?`;
/** Two plain words in a run, which no address, number or secret has: whatever stands before them ends there. */
const PLAIN_WORDS = new RegExp(`(?<!\\S)${PLAIN_WORD}\\s${PLAIN_WORD}(?=\\s)`, 'gi');

/** How far into a text may reach what begins before it; undefined where all of it may be reached. */
function nearTo(text: string): number | undefined {
  PLAIN_WORDS.lastIndex = 0;
  return PLAIN_WORDS.test(text) ? PLAIN_WORDS.lastIndex : undefined;
}

/** The matches of each leaf with those that cross its boundaries. */
export function withBoundaryMatches(
  matches: readonly (readonly Match[])[],
  runs: readonly TextRun[],
  found: readonly (readonly Match[])[],
): readonly (readonly Match[])[] {
  const more = new Map<number, Match[]>();
  for (const [index, run] of runs.entries()) {
    for (const match of found[index] ?? []) {
      for (const { leaf, ...half } of halvesOf(run, match, matches)) {
        const own = more.get(leaf);
        if (own) own.push(half);
        else more.set(leaf, [half]);
      }
    }
  }
  return more.size === 0 ? matches : matches.map((own, leaf) => withHalves(own, more.get(leaf)));
}

/** Of two names for the same stretch, that of the whole counts. */
function withHalves(own: readonly Match[], halves: readonly Match[] | undefined): readonly Match[] {
  return halves ? united(halves, own) : own;
}
