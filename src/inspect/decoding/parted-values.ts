import { isDigit, isSmall } from '../detectors/characters.ts';
import { linkAt } from '../detectors/announcing-words.ts';
import { readLoginModel } from '../detectors/login-model.ts';
import { isMixed, madeOf } from '../detectors/login-make-up.ts';
import { cueOf } from '../detectors/login-tokens.ts';
import { isSpecification } from '../detectors/secret-value.ts';
import type { Match } from '../match.ts';
import { isKnown, partsOf, saidIn, type PartMatch, type TextRun } from './text-runs.ts';

/** Kinds that are looked for over the ends of texts. */
const KINDS: ReadonlySet<string> = new Set([
  'EMAIL',
  'IBAN',
  'CREDIT_CARD',
  'PHONE',
  'NATIONAL_ID',
  'TAX_ID',
  'BANK_ACCOUNT',
  'SECRET',
  'USERNAME',
]);
/** The same in JSON, where numbers stand side by side that are parts of none. */
const KINDS_IN_JSON: ReadonlySet<string> = new Set(['EMAIL', 'IBAN', 'SECRET', 'USERNAME']);
const NOTHING: readonly PartMatch[] = [];
const { known } = readLoginModel();

/** The parts of a find in a run that are to be taken out of the texts that it crosses, as far as they are not found already. */
export function halvesOf(run: TextRun, match: Match, matches: readonly (readonly Match[])[]): readonly PartMatch[] {
  const { category } = match;
  if (!(run.inJson === true ? KINDS_IN_JSON : KINDS).has(category)) return NOTHING;
  const halves = partsOf(run, match);
  const isFound = (half: PartMatch): boolean => isKnown(matches[half.leaf] ?? [], half);
  if (halves.length < 2) return isAnnounced(run, match) && !halves.some(isFound) ? halves : NOTHING;
  const first = halves.findIndex(isFound);
  if (first === -1) return hasMeaning(category) || isOneWord(run, match) ? halves : NOTHING;
  // A whole value on one side has another half only where it can be nothing else: "ada.", "lovelace@corp.de".
  if (category === 'EMAIL')
    return first === halves.length - 1 && endsInName(run, match) ? halves.slice(first - 1, first) : NOTHING;
  return !hasMeaning(category) && first === 0 && halves.length === 2 && goesOn(run, match) ? halves.slice(1) : NOTHING;
}

/** Whether values of a kind differ from words that only touch. */
function hasMeaning(category: string): boolean {
  return category !== 'SECRET' && category !== 'USERNAME';
}

/** Whether a login or password is all that a text begins with, and the one before announces it. */
function isAnnounced(run: TextRun, { start, category }: Match): boolean {
  if (run.announces !== true || hasMeaning(category)) return false;
  return run.pieces.some((piece, at) => at > 0 && piece.start === start);
}

/** Whether what crosses the ends of texts is one word, and not the last of one and the first of the next: "ready", "2024". */
function isOneWord(run: TextRun, { start, end, category }: Match): boolean {
  return run.pieces.every((piece) => {
    if (piece.start <= start || piece.start >= end) return true;
    const left = run.text.slice(start, piece.start);
    // A sign between them ends the value before it: "cch=00000;", "You are".
    if (piece.apart && !ISSUED.test(left)) return false;
    if (!isOrdinary(left)) return true;
    if (linkAt(left, 0, left.length) !== undefined || cueOf(left.toLowerCase()) !== undefined) return false;
    const right = run.text.slice(piece.start, end);
    return saidIn(run.text, piece) === right || (category === 'SECRET' && isNoWord(right));
  });
}

/** How keys begin that services issue. */
const ISSUED = /^(?:sk|pk|rk|gh[a-z]|glpat|xox[a-z]|AKIA|AIza|SG)[-_.A-Z\d]/;

/** Whether a login or password that is one by itself goes on in the next text: "hunter2", "xyz". */
function goesOn(run: TextRun, { start, end }: Match): boolean {
  const piece = run.pieces.find((one) => one.start > start && one.start < end);
  if (piece === undefined || piece.apart) return false;
  const right = run.text.slice(piece.start, end);
  return isNoWord(right) || (saidIn(run.text, piece) === right && !isOrdinary(right));
}

function isOrdinary(word: string): boolean {
  return WORD.test(word) && known(word.toLowerCase());
}

/** Whether letters stand with digits or signs, as in no measure, version or word. */
function isNoWord(word: string): boolean {
  return isMixed(madeOf(word, 0, word.length)) && !isSpecification(word);
}

const WORD = /^\p{L}{2,}$/u;

/** Whether the last text but one that an address is in ends with a part of a name: "ada.", "ada_". */
function endsInName({ text, pieces }: TextRun, { start, end }: Match): boolean {
  const at = pieces.findLastIndex((piece) => piece.start > start && piece.start < end);
  const piece = pieces[at];
  if (piece === undefined || piece.apart) return false;
  const left = text.slice(start, piece.start);
  if (BEGINS_BEHIND.test(text.slice(piece.start, piece.start + 2))) return /[a-z\d]$/i.test(left);
  const sign = left.at(-1) ?? '';
  const word = wordBefore(left, left.length - 1);
  if (word === '' || !'._+-'.includes(sign)) return false;
  if (sign !== '.' || !known(word)) return true;
  const before = pieces[at - 1]!;
  return before.start >= start && before.end - before.start === word.length + 1 && !REPLIES.has(word);
}

/** No address begins so. */
const BEGINS_BEHIND = /^[._+-][a-z\d]/i;

/** The small letters and digits that end before `end`. */
function wordBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && (isSmall(text.charCodeAt(start - 1)) || isDigit(text.charCodeAt(start - 1)))) start -= 1;
  return text.slice(start, end);
}

/** What people say in one word, with a full stop behind. */
const REPLIES = new Set(
  'ok okay yes yep no nope sure fine done good great thanks thx hi hello hey bye please right ja nein klar gut danke bitte fertig hallo oui non merci voila bien salut bonjour si no vale gracias hola listo va bene grazie ciao fatto ecco nee goed dank bedankt hoi klaar tak nie dobrze hej gotowe dzieki sim obrigado obrigada feito pronto'.split(
    ' ',
  ),
);
