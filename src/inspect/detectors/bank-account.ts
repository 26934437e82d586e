import { accountEnd } from './account-groups.ts';
import { type ContextWords, contextWords } from './context-words.ts';
import { digitsEnd, isDigit, startsToken } from './characters.ts';
import { weighted } from './check-digits.ts';
import { ANY_DIGIT, isLetterKind, mayStartToken } from './digit-context.ts';
import type { Detector } from './detector.ts';
import { endsNumber } from './number-groups.ts';

const SORT_CODE = /\d\d([- ])\d\d\1\d\d(?!\d)/y;
/** Czech and Slovak: a prefix that may be left out, the account, and the bank (vyhláška č. 169/2011 Sb.). */
const SLASHED = /(?:(\d{1,6})-)?(\d{2,10})\/\d{4}(?!\d)/y;
const SLASHED_WEIGHTS = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1];
const slashed = contextWords('slashed');
const sortCode = contextWords('sortCode');
const routing = contextWords('routing');
const account = contextWords('account');
/** Words of the bank's own number, one of which has to stand near an account. */
const BANK =
  /sort[ -]?code|routing|\baba\b|\bblz\b|bankleitzahl|\babi\b|\bcab\b|code[ -](?:banque|guichet|[eé]tablissement)|guichet/i;
const BANK_REACH = 80;

/**
 * Account numbers that are no IBAN: those with check digits of their own (`account-numbers.ts`), and with words near the
 * sort codes of British banks, the routing numbers of American ones (American Bankers Association: weights 3-7-1, a
 * multiple of ten), Czech and Slovak accounts, and accounts near the code of a bank.
 */
export const bankAccount: Detector = {
  category: 'BANK_ACCOUNT',
  evidence: 'weak',
  meaning:
    'Account numbers that are not IBANs: sort codes, routing numbers, and accounts near words about banks or with check digits of their own.',
  examples: ['Sort code ‹20-00-00›, account number ‹55779911›', 'numer rachunku: ‹61109010140000071219812874›'],
  ignores: ['Order 55779911 ships today.'],
  triggers: ANY_DIGIT,
  prefilter(context): boolean {
    const { before, length, next, later } = context;
    if (!mayStartToken(context) || before === 'plus') return false;
    if (length > 1 && length < 6) return later === 'digit' && (next === 'hyphen' || next === 'space');
    return length > 5 && (!isLetterKind(next) || (length > 6 && next === 'capital'));
  },
  detect(text, at, floor, found): number {
    const digits = digitsEnd(text, at);
    if (!isFree(text, at)) return floor;
    let end = accountEnd(text, at, digits);
    if (end < 0) end = toldEnd(text, at, digits);
    if (end < 0) return floor;
    found.push({ start: at, end, category: 'BANK_ACCOUNT' });
    return end;
  },
};

/** The end of a sort code, or of digits that words say are an account; -1 when it is neither. */
function toldEnd(text: string, at: number, digits: number): number {
  const length = digits - at;
  const end = slashedEnd(text, at);
  if (end >= 0) return end;
  if (length === 2) return sortCodeEnd(text, at);
  return length > 5 && length < 18 && isAccount(text, at, digits) ? digits : -1;
}

function isNear(words: ContextWords, text: string, start: number, end: number): boolean {
  return words.isBefore(text, start) || words.isAfter(text, end);
}

function isFree(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const isJoined =
    (before === 45 || before === 46 || before === 47 || before === 43) && isDigit(text.charCodeAt(at - 2));
  return startsToken(text, at) && !isJoined && before !== 43 && before !== 95;
}

function sortCodeEnd(text: string, at: number): number {
  SORT_CODE.lastIndex = at;
  if (!SORT_CODE.test(text) || !endsNumber(text, SORT_CODE.lastIndex)) return -1;
  const end = SORT_CODE.lastIndex;
  return isNear(sortCode, text, at, end) ? end : -1;
}

/** Prefix and account are multiples of eleven, each by its weights. */
function slashedEnd(text: string, at: number): number {
  SLASHED.lastIndex = at;
  const [, prefix = '', number = ''] = SLASHED.exec(text) ?? [];
  const end = SLASHED.lastIndex;
  if (number === '' || !endsNumber(text, end)) return -1;
  const isChecked = (digits: string): boolean => weighted(digits.padStart(10, '0'), SLASHED_WEIGHTS) % 11 === 0;
  return Number(number) > 0 && isChecked(prefix) && isChecked(number) && isNear(slashed, text, at, end) ? end : -1;
}

function isAccount(text: string, at: number, end: number): boolean {
  if (!endsNumber(text, end)) return false;
  const digits = text.slice(at, end);
  if (digits.length === 6 && sortCode.isBefore(text, at)) return true;
  if (isRoutingNumber(digits) && isNear(routing, text, at, end)) return true;
  if (!account.isBefore(text, at)) return false;
  return BANK.test(text.slice(Math.max(0, at - BANK_REACH), end + BANK_REACH));
}

function isRoutingNumber(digits: string): boolean {
  if (!/^(?:0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)\d{7}$/.test(digits)) return false;
  return weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}
