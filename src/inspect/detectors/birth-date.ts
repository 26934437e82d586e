import { contextWords } from './context-words.ts';
import { digitsEnd, isDigit, isLetter, startsToken } from './characters.ts';
import { ANY_DIGIT, isLetterKind, type Neighbour, type DigitContext, mayStartToken } from './digit-context.ts';
import type { Detector } from './detector.ts';

/** Months as they are written in the languages of the house and of their neighbours, short forms by their first letters. */
const MONTHS = new Set(
  [
    'january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec',
    'januar februar märz maerz mai juni juli oktober dezember jänner feber mär okt dez',
    'janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre decembre janv févr avr juil déc',
    'enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene abr ago dic',
    'gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott',
    'januari februari maart mei augustus mrt',
    'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września wrzesnia października pazdziernika listopada grudnia',
    'janeiro fevereiro março marco maio junho julho setembro outubro novembro dezembro fev abr out',
    'marts maj juni juli augusti april februar',
    'ledna února unora března brezna dubna května kvetna června cervna července cervence srpna září zari října rijna listopadu prosince',
    'ianuarie februarie martie aprilie mai iunie iulie septembrie octombrie noiembrie decembrie',
    'tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta',
    'január februára marca apríla mája júna júla augusta októbra novembra decembra janar',
  ].flatMap((line) => line.split(' ')),
);

const DAY = '(?:0?[1-9]|[12]\\d|3[01])';
const MONTH = '(?:0?[1-9]|1[0-2])';
const YEAR = '(?:18[89]\\d|19\\d\\d|20[0-4]\\d)';
const NUMERIC = new RegExp(
  `(?:${YEAR}([-./])${MONTH}\\1${DAY}|(?:${DAY}(?:([-/])|(\\. ?))${MONTH}|${MONTH}([-/])${DAY})(?:\\2\\3\\4)(?:${YEAR}|\\d\\d))(?!\\d|[-./]\\d|[a-z])`,
  'y',
);
/** `8 de abril de 1955`, `20. října 1951`, `1er mars 1951`, `17th of June, 1980`, `17-Jun-80`. */
const DAY_FIRST = new RegExp(
  `${DAY}(?:\\.|st|nd|rd|th|er|º|ª|°)?[ -](?:de |of |den )?([a-zA-Z\u00c0-\u024f]{3,12})\\.?,?[ -](?:de |del )?(?:${YEAR}|'?\\d\\d(?=[^\\d:]|$))(?!\\d)`,
  'y',
);
const DAY_SECOND = new RegExp(`${DAY}(?:st|nd|rd|th)?,? ${YEAR}(?!\\d)`, 'y');
const LONGEST_MONTH = 13;

/**
 * Dates of birth: a date in numbers or with its month in words, after a word about birth with no other number between,
 * before one in the same clause, or in a column of that name. Any other date is none.
 */
export const birthDate: Detector = {
  category: 'DATE_OF_BIRTH',
  evidence: 'shaped',
  meaning: 'Dates of birth: a date next to a word about birth, or in a column of that name.',
  examples: [
    'born on ‹October 17th, 1957› in Leeds',
    'geboren am ‹08.05.1998›',
    '{"birthDate":"‹1980-11-24›","created":"2024-11-24"}',
  ],
  ignores: ['The meeting is on 24.11.2024.'],
  triggers: ANY_DIGIT,
  prefilter: mayBeDate,
  detect(text, at, floor, found): number {
    if (!startsToken(text, at)) return floor;
    const digits = digitsEnd(text, at);
    const alone = dateEnd(text, at, digits);
    const second = mayBeSecond(text, digits) ? matchEnd(DAY_SECOND, text, at) : -1;
    if (alone < 0 && second < 0) return floor;
    const start = monthBefore(text, at);
    const end = start < at ? second : alone;
    if (end < 0 || start < floor || !isBirth(text, start, end)) return floor;
    found.push({ start, end, category: 'DATE_OF_BIRTH' });
    return end;
  },
};

/** Whether what follows could go on a date: an ordinal's ending, a sign and more digits, a blank and a month or year. */
function mayBeDate(context: DigitContext): boolean {
  const { length, next, later } = context;
  if ((length > 2 && length !== 4) || !mayStartToken(context)) return false;
  const isParted = next === 'hyphen' || next === 'dot' || next === 'slash';
  if (length === 4) return isParted && later === 'digit';
  switch (next) {
    case 'hyphen':
    case 'space':
      return later === 'digit' || isWordKind(later);
    case 'dot':
      return later === 'digit' || later === 'space';
    case 'slash':
      return later === 'digit';
    case 'comma':
      return later === 'space';
    case 'lower':
      return later === 'lower';
    default:
      return next === 'ordinal' || next === 'degree';
  }
}

function isWordKind(kind: Neighbour): boolean {
  return isLetterKind(kind) || kind === 'wide';
}

/** Where a month starts that ends right before `at`; `at` itself without one. */
function monthBefore(text: string, at: number): number {
  if (text.charCodeAt(at - 1) !== 32) return at;
  const end = text.charCodeAt(at - 2) === 46 ? at - 2 : at - 1;
  let start = end;
  while (end - start < LONGEST_MONTH && isWordPart(text.charCodeAt(start - 1))) start -= 1;
  return end - start > 2 && MONTHS.has(text.slice(start, end).toLowerCase()) ? start : at;
}

function isWordPart(code: number): boolean {
  return isLetter(code) || (code > 191 && code < 592) || code === 186 || code === 170;
}

/** Whether a day may end at `end` that a year follows: behind its ordinal, a comma or a blank. */
function mayBeSecond(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  return next === 44 || isLetter(next) || (next === 32 && isDigit(text.charCodeAt(end + 1)));
}

function dateEnd(text: string, at: number, digits: number): number {
  const next = text.charCodeAt(digits);
  const numeric = next >= 45 && next <= 47 ? matchEnd(NUMERIC, text, at) : -1;
  if (numeric >= 0) return numeric;
  DAY_FIRST.lastIndex = at;
  const match = DAY_FIRST.exec(text);
  return match !== null && MONTHS.has((match[1] as string).toLowerCase()) ? DAY_FIRST.lastIndex : -1;
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

const birth = contextWords({
  en: /\bborn\b|\bd\.?o\.?b\b|(?:date|day)[ _]?of[ _]?birth|birth[ _-]?(?:date|day)/,
  de: /\bgeb\b|\bgeboren|geburts(?:datum|tag)/,
  fr: /\bn[eé](?:\(?e\)?)? (?:le|en)\b|date[ _]de[ _]naissance|naissance/,
  es: /\bnacid[oa]|fecha[ _]de[ _]nac|nacimiento|\bf\. ?nac/,
  it: /\bnat[oai] (?:il|a|l'|in)\b|data[ _]di[ _]nascita|nascita/,
  nl: /geboorte(?:datum)?/,
  pl: /\bur\.|urodzon|data[ _]urodz|urodzenia/,
  pt: /\bnascid[oa]|data[ _]de[ _]nascimento|nascimento/,
  da: /\bf[öøo]dd?t?\b|f[öø]delse(?:datum|dag|sdato|sdag)|f[øo]dselsdato/,
  cs: /\bnar(?:oz)?\.|narozen|\broden[ao]?\b/,
  fi: /\bsynt\.|syntynyt|syntym[aä]/,
  ro: /n[aă]scut|data[ _]na[sș]terii/,
  hu: /sz[uü]let/,
});

function isBirth(text: string, start: number, end: number): boolean {
  return birth.isColumn(text, start) ?? (birth.isBefore(text, start, true) || birth.isAfter(text, end));
}
