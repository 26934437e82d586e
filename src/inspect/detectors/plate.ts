import { contextWords } from './context-words.ts';
import { isCapital, isDigit, startsToken } from './characters.ts';
import { ANY_DIGIT, type Neighbour, type DigitContext, mayStartToken } from './digit-context.ts';
import type { Detector } from './detector.ts';
import { endsNumber } from './number-groups.ts';

const PLATE = /(?=[^\d]*\d)(?=[\d -]*[A-ZÄÖÜ])[A-ZÄÖÜ0-9]{1,7}(?:[- .]?[A-ZÄÖÜ0-9]{1,5}){0,3}/y;
/** The French series since 2009: nothing else is written like that. I, O and U are not in it. */
const FRENCH = /^[A-HJ-NP-TV-Z]{2}-\d{3}-[A-HJ-NP-TV-Z]{2}$/;

const words = contextWords({
  en: /licen[cs]e[ _]?plate|number[ _]?plate|\bplate\b|registration (?:number|plate|mark)|\bvrm\b/,
  de: /kennzeichen|\bkfz\b|nummernschild|kontrollschild/,
  fr: /immatricul|plaque/,
  es: /matr[ií]cula/,
  it: /targa\b|targato/,
  nl: /kenteken/,
  pl: /rejestrac|nr rej/,
  sv: /registreringsnummer|\bregnr|\bregnummer/,
  fi: /rekisteri(?:numero|tunnus)/,
  cs: /\bspz\b/,
  ro: /num[aă]r de [iî]nmatriculare/,
  da: /\bnummerplade/,
});

/**
 * Vehicle plates behind a word about them: four to nine capitals and digits, of both, in up to four groups. French ones
 * with their hyphens count anywhere.
 */
export const plate: Detector = {
  category: 'LICENSE_PLATE',
  evidence: 'shaped',
  meaning: 'Vehicle plates behind a word about them; French ones anywhere.',
  examples: ['number plate ‹AB12 CDE›', 'mit dem Kennzeichen ‹K-XG 89› gesehen', '‹AL-864-QY›'],
  ignores: ['a plate of 12 biscuits', 'flight AB 1234'],
  triggers: ANY_DIGIT,
  prefilter: mayBePlate,
  detect(text, at, floor, found): number {
    if (!hasLetters(text, at)) return floor;
    for (const start of startsBefore(text, at)) {
      if (start < floor || !startsToken(text, start) || isJoined(text.charCodeAt(start - 1))) continue;
      const end = plateEnd(text, start);
      if (end <= at || !(FRENCH.test(text.slice(start, end)) || isTold(text, start))) continue;
      found.push({ start, end, category: 'LICENSE_PLATE' });
      return end;
    }
    return floor;
  },
};

/** A first look for what `hasLetters` finds. */
function mayBePlate(context: DigitContext): boolean {
  const { earlier, before, length, next, later } = context;
  if (before === 'capital') return earlier !== 'digit';
  if (!mayStartToken(context)) return false;
  if (before === 'wide' || ((before === 'hyphen' || before === 'space') && isPlateKind(earlier))) return true;
  return length < 6 && isPlateKind(next === 'hyphen' || next === 'space' ? later : next);
}

function isPlateKind(kind: Neighbour): boolean {
  return kind === 'capital' || kind === 'wide';
}

/** Capitals next to the digits, with at most a blank or hyphen between. */
function hasLetters(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  if (isPlateLetter(before) || ((before === 45 || before === 32) && isPlateLetter(text.charCodeAt(at - 2))))
    return true;
  let end = at + 1;
  while (end < at + 5 && isDigit(text.charCodeAt(end))) end += 1;
  const after = text.charCodeAt(end);
  if (after !== 45 && after !== 32) return isPlateLetter(after);
  return isPlateLetter(text.charCodeAt(end + 1)) && isPlateLetter(text.charCodeAt(end + 2));
}

function isPlateLetter(code: number): boolean {
  return isCapital(code) || code === 196 || code === 214 || code === 220;
}

function isJoined(code: number): boolean {
  return code === 45 || code === 95 || code === 47 || code === 46;
}

/** Where the plate may start: up to two groups of at most three letters before the digits, the farthest first. */
function startsBefore(text: string, at: number): readonly number[] {
  const starts = [at];
  let end = at;
  for (let group = 0; group < 2; group += 1) {
    const before = text.charCodeAt(end - 1);
    if (before === 32 || before === 45) end -= 1;
    let start = end;
    while (end - start < 4 && isPlateLetter(text.charCodeAt(start - 1))) start -= 1;
    if (start === end || end - start > 3) break;
    starts.unshift(start);
    end = start;
  }
  return starts;
}

function plateEnd(text: string, start: number): number {
  PLATE.lastIndex = start;
  const match = PLATE.exec(text);
  if (match === null) return -1;
  // A group that continues as a word does not belong to it.
  let end = PLATE.lastIndex;
  while (end > start && !endsNumber(text, end)) {
    end -= 1;
    while (end > start && !/[- .]/.test(text[end] as string)) end -= 1;
  }
  const count = text.slice(start, end).replace(/[- .]/g, '').length;
  return count > 3 && count < 10 && /[A-ZÄÖÜ]/.test(text.slice(start, end)) ? end : -1;
}

function isTold(text: string, start: number): boolean {
  return words.isColumn(text, start) ?? words.isBefore(text, start, true);
}
