import { digitAt, passesLuhn, passesMod1110, remainderOf, twoAt, weighted } from './check-digits.ts';
import {
  isBulgarianPerson,
  isCroatian,
  isCzechPerson,
  isDutchCitizen,
  isIrishPerson,
  isSpanishPerson,
} from './national-checks.ts';

/** Poland, NIP: weights 6-5-7-2-3-4-5-6-7 mod 11. */
export function isPolishTaxpayer(digits: string): boolean {
  return weighted(digits, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === digitAt(digits, 9);
}

/** Portugal, NIF: weights 9 to 2 mod 11; 10 is written 0. */
export function isPortugueseTaxpayer(digits: string): boolean {
  const check = 11 - (weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check > 9 ? 0 : check) === digitAt(digits, 8);
}

/** Greece, AFM: powers of two mod 11; 10 is written 0. */
export function isGreekTaxpayer(digits: string): boolean {
  return (weighted(digits, [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === digitAt(digits, 8) && Number(digits) > 0;
}

const DIGITS = Array.from('0123456789');

/** Spain, NIF of firms: Luhn's doubling; the check is a digit or, for some kinds of firm, a letter (Orden EHA/451/2008). */
export function isSpanishFirm(compact: string): boolean {
  const check = DIGITS.findIndex((digit) => passesLuhn(compact.slice(1, 8) + digit));
  const isLetter = 'JABCDEFGHI'[check] === compact[8];
  if ('NPQRSW'.includes(compact[0] as string)) return isLetter;
  return digitAt(compact, 8) === check || (isLetter && !'ABEH'.includes(compact[0] as string));
}

/** Italy, partita IVA: Luhn. */
export function isItalianFirm(digits: string): boolean {
  return passesLuhn(digits) && !digits.startsWith('0000000');
}

/** Cyprus, TIC: digits in odd places by a table, the letter at the sum's remainder by 26. */
export function isCypriotTaxpayer(compact: string): boolean {
  let sum = 0;
  for (let index = 0; index < 8; index += 1) {
    const digit = digitAt(compact, index);
    sum += index % 2 === 1 ? digit : ([1, 0, 5, 7, 9, 13, 15, 17, 19, 21][digit] as number);
  }
  return sum % 26 === digitAt(compact, 8) - 10;
}

/** Switzerland, UID without `CHE`: weights 5-4-3-2-7-6-5-4 mod 11 (eCH-0097). */
function isSwissFirm(digits: string): boolean {
  const check = 11 - (weighted(digits, [5, 4, 3, 2, 7, 6, 5, 4]) % 11);
  return check !== 10 && check % 11 === digitAt(digits, 8);
}

/** Hungary, adószám, its first eight digits: weights 9-7-3-1, a multiple of 10. */
export function isHungarianFirm(digits: string): boolean {
  return weighted(digits, [9, 7, 3, 1, 9, 7, 3, 1]) % 10 === 0;
}

function isAustrianFirm(digits: string): boolean {
  let sum = 4;
  for (let index = 0; index < 7; index += 1) {
    const product = digitAt(digits, index) * (1 + (index % 2));
    sum += product > 9 ? product - 9 : product;
  }
  return (10 - (sum % 10)) % 10 === digitAt(digits, 7);
}

function isBulgarianFirm(digits: string): boolean {
  if (digits.length === 10) return isBulgarianPerson(digits);
  let check = weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8]) % 11;
  if (check === 10) check = (weighted(digits, [3, 4, 5, 6, 7, 8, 9, 10]) % 11) % 10;
  return check === digitAt(digits, 8);
}

function isCzechFirm(digits: string): boolean {
  if (digits.length > 8) return isCzechPerson(digits);
  return (11 - (weighted(digits, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === digitAt(digits, 7);
}

function isBritishFirm(digits: string): boolean {
  const sum = weighted(digits, [8, 7, 6, 5, 4, 3, 2]) + twoAt(digits, 7);
  return Number(digits) > 0 && (sum % 97 === 0 || (sum + 55) % 97 === 0);
}

function isFrenchFirm(compact: string): boolean {
  const siren = compact.slice(2);
  if (!passesLuhn(siren)) return false;
  return !/^\d\d/.test(compact) || (12 + 3 * (Number(siren) % 97)) % 97 === twoAt(compact, 0);
}

function isIrishFirm(compact: string): boolean {
  // Until 2013 a letter or sign stood second: the digits behind it, then the first.
  const isOld = !/^\d\d/.test(compact);
  return isIrishPerson(isOld ? `0${compact.slice(2, 7)}${compact[0] as string}${compact[7] as string}` : compact);
}

function isLithuanianFirm(digits: string): boolean {
  const length = digits.length - 1;
  const places = Array.from({ length }, (_, index) => index);
  let check =
    weighted(
      digits,
      places.map((place) => (place % 9) + 1),
    ) % 11;
  if (check === 10)
    check =
      (weighted(
        digits,
        places.map((place) => ((place + 2) % 9) + 1),
      ) %
        11) %
      10;
  return digits[length - 1] === '1' && check === digitAt(digits, length);
}

function isLatvianFirm(digits: string): boolean {
  const check = (1102 - weighted(digits, [9, 1, 4, 8, 3, 10, 2, 5, 7, 6])) % 11;
  return digitAt(digits, 0) > 3 && (check + 1) % 11 === digitAt(digits, 10);
}

/**
 * The number of a sole trader no longer is a BSN: it passes mod 97 with its letters as numbers, `NL` 2321 and `B` 11.
 */
function isDutchFirm(compact: string): boolean {
  const digits = compact.slice(0, 9);
  return isDutchCitizen(digits) || remainderOf(`2321${digits}11${compact.slice(10)}`, 97) === 1;
}

function isRomanianFirm(digits: string): boolean {
  const sum = weighted(digits.slice(0, -1).padStart(9, '0'), [7, 5, 3, 2, 1, 7, 5, 3, 2]);
  return ((sum * 10) % 11) % 10 === digitAt(digits, digits.length - 1);
}

function isSlovenianFirm(digits: string): boolean {
  const check = 11 - (weighted(digits, [8, 7, 6, 5, 4, 3, 2]) % 11);
  return check !== 11 && check % 10 === digitAt(digits, 7);
}

function isSpanishTaxpayer(compact: string): boolean {
  return /^[A-W]/.test(compact) ? isSpanishFirm(compact) : isSpanishPerson(compact);
}

type Rule = readonly [shape: RegExp, isValid: (compact: string) => boolean];

/** What follows the country's letters, and its check digits (European Commission, VIES; national tax authorities). */
const VAT: ReadonlyMap<string, Rule> = new Map([
  ['AT', [/^U\d{8}$/, (compact) => isAustrianFirm(compact.slice(1))]],
  ['BE', [/^[01]\d{9}$/, (digits) => 97 - remainderOf(digits.slice(0, 8), 97) === twoAt(digits, 8)]],
  ['BG', [/^\d{9,10}$/, isBulgarianFirm]],
  ['CY', [/^\d{8}[A-Z]$/, isCypriotTaxpayer]],
  ['CZ', [/^\d{8,10}$/, isCzechFirm]],
  ['DE', [/^[1-9]\d{8}$/, passesMod1110]],
  ['DK', [/^[1-9]\d{7}$/, (digits) => weighted(digits, [2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0]],
  ['EE', [/^\d{9}$/, (digits) => weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0]],
  ['EL', [/^\d{9}$/, isGreekTaxpayer]],
  ['ES', [/^(?:[A-HJNP-SUVW]\d{7}[0-9A-J]|[0-9XYZ]\d{7}[A-Z])$/, isSpanishTaxpayer]],
  ['FI', [/^\d{8}$/, (digits) => weighted(digits, [7, 9, 10, 5, 8, 4, 2, 1]) % 11 === 0]],
  ['FR', [/^[0-9A-HJ-NP-Z]{2}\d{9}$/, isFrenchFirm]],
  ['GB', [/^\d{9}(?:\d{3})?$/, isBritishFirm]],
  ['XI', [/^\d{9}(?:\d{3})?$/, isBritishFirm]],
  ['GR', [/^\d{9}$/, isGreekTaxpayer]],
  ['HR', [/^\d{11}$/, isCroatian]],
  ['HU', [/^\d{8}$/, isHungarianFirm]],
  ['IE', [/^(?:\d{7}[A-W][A-IW]?|\d[A-Z]\d{5}[A-W])$/, isIrishFirm]],
  ['IT', [/^\d{11}$/, isItalianFirm]],
  ['LT', [/^(?:\d{9}|\d{12})$/, isLithuanianFirm]],
  ['LU', [/^\d{8}$/, (digits) => Number(digits.slice(0, 6)) % 89 === twoAt(digits, 6)]],
  ['LV', [/^\d{11}$/, isLatvianFirm]],
  ['MT', [/^\d{8}$/, (digits) => 37 - (weighted(digits, [3, 4, 6, 7, 8, 9]) % 37) === twoAt(digits, 6)]],
  ['NL', [/^\d{9}B\d\d$/, isDutchFirm]],
  ['NO', [/^\d{9}(?:MVA)?$/, (compact) => weighted(compact, [3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0]],
  ['PL', [/^\d{10}$/, isPolishTaxpayer]],
  ['PT', [/^\d{9}$/, isPortugueseTaxpayer]],
  ['RO', [/^[1-9]\d{5,9}$/, isRomanianFirm]],
  ['SE', [/^\d{10}01$/, (digits) => passesLuhn(digits.slice(0, 10))]],
  ['SI', [/^[1-9]\d{7}$/, isSlovenianFirm]],
  ['SK', [/^[1-9]\d{9}$/, (digits) => remainderOf(digits, 11) === 0]],
]);

/** Whether it is a VAT number with its country's letters: layout and check digits. Letters and digits only, capitals. */
export function isVatNumber(compact: string): boolean {
  if (compact.startsWith('CHE')) return /^\d{9}$/.test(compact.slice(3)) && isSwissFirm(compact.slice(3));
  const rule = VAT.get(compact.slice(0, 2));
  if (rule === undefined) return false;
  const number = compact.slice(2);
  return rule[0].test(number) && rule[1](number);
}
