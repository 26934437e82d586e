import { linkAt } from '../detectors/announcing-words.ts';
import { isWordLetter } from '../detectors/announced.ts';
import { isMixed, madeOf, mayBeLogin } from '../detectors/login-make-up.ts';
import { ANY_CUE, breakAt, cueOf, hasCueBefore, hasCueBehind, LONGEST } from '../detectors/login-tokens.ts';
import { spaced, stretchOf, type TextRun } from './text-runs.ts';

/** How far from a login or password a word that announces it may stand, before it and behind. */
const BEFORE = 72;
const BEHIND = 48;
const SHORTEST = 5;
const LONGEST_WORD = 20;

/**
 * Adds the stretches of a run in which a word announces a login or password that goes on from one text in the next, or stands in
 * the next: "the password is hun", "ter2xyz". Joined directly, and with a blank behind what announces or links.
 */
export function addAnnounced(run: TextRun, found: TextRun[]): void {
  const { text, pieces } = run;
  let looked = 0;
  for (let at = 1; at < pieces.length; at += 1) {
    const { start, apart } = pieces[at]!;
    if (start < looked) continue;
    const from = wordFrom(text, start);
    const to = wordTo(text, start);
    looked = to;
    if (from === start || to === start || !mayBeValue(text, from, to)) continue;
    if (!hasCueBefore(text, from, BEFORE, ANY_CUE) && !hasCueBehind(text, to, BEHIND, ANY_CUE) && !announces(run, at))
      continue;
    let first = at;
    while (first > 0 && pieces[first]!.start > from - BEFORE) first -= 1;
    let last = at;
    while (last < pieces.length - 1 && pieces[last]!.end < to) last += 1;
    const stretch = { ...stretchOf(run, first, last), announces: true };
    const isLinked = stretch.pieces.map((_, index) => announces(stretch, index));
    if (!apart && !isLinked.includes(true)) found.push(stretch);
    if (isLinked.includes(true)) found.push(spaced(stretch, (index) => isLinked[index]!));
  }
}

function wordFrom(text: string, at: number): number {
  let from = at;
  while (from > 0 && at - from <= LONGEST && breakAt(text, from - 1) === 0) from -= 1;
  return from;
}

function wordTo(text: string, at: number): number {
  let to = at;
  while (to < text.length && to - at <= LONGEST && breakAt(text, to) === 0) to += 1;
  return to;
}

function mayBeValue(text: string, from: number, to: number): boolean {
  if (to - from < SHORTEST || to - from > LONGEST) return false;
  return isMixed(madeOf(text, from, to)) || mayBeLogin(text, from, to, false);
}

/** Whether the text before the piece at `at` ends with a word that announces or links: "is", "password". */
function announces({ text, pieces }: TextRun, at: number): boolean {
  if (at === 0) return false;
  const end = pieces[at]!.start - (text.charCodeAt(pieces[at]!.start - 1) === BLANK ? 1 : 0);
  const least = Math.max(pieces[at - 1]!.start, end - LONGEST_WORD);
  let start = end;
  while (start > least && isWordLetter(text.charCodeAt(start - 1))) start -= 1;
  if (start === end) return false;
  return linkAt(text, start, end) !== undefined || cueOf(text.slice(start, end).toLowerCase()) !== undefined;
}

const BLANK = 32;
