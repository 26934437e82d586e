import {
  digitAt,
  isDay,
  isShortDate,
  passesLuhn,
  passesMod1110,
  passesVerhoeff,
  remainderOf,
  twoAt,
  weighted,
} from './check-digits.ts';

const MOD_23 = 'TRWAGMYFPDXBNJZSQVHLCKE';
const MOD_31 = '0123456789ABCDEFHJKLMNPRSTUVWXY';

/** Spain, DNI and NIE: the letter at the number's remainder by 23 (Ministerio del Interior). */
export function isSpanishPerson(compact: string): boolean {
  const number = compact.slice(0, 8).replace('X', '0').replace('Y', '1').replace('Z', '2');
  return MOD_23[Number(number) % 23] === compact[8];
}

/** Spain, NUSS: province and number by 97; a number of seven digits counts without its leading 0 (TGSS). */
export function isSpanishInsured(digits: string): boolean {
  const number = digits[2] === '0' ? digits.slice(0, 2) + digits.slice(3, 10) : digits.slice(0, 10);
  return Number(number) > 0 && remainderOf(number, 97) === twoAt(digits, 10);
}

/** Portugal, NISS: primes from 29 down to 2 as weights, 9 less the sum's last digit (Segurança Social). */
export function isPortugueseInsured(digits: string): boolean {
  return 9 - (weighted(digits, [29, 23, 19, 17, 13, 11, 7, 5, 3, 2]) % 10) === digitAt(digits, 10);
}

/**
 * Hungary, személyi azonosító: sex and century, a date, mod 11 with places as weights, counted from behind for those born
 * from 1997 on (1996. évi XX. törvény).
 */
export function isHungarianPerson(digits: string): boolean {
  if (!isShortDate(digits, 1, true)) return false;
  const isRecent = '3478'.includes(digits[0] as string) || twoAt(digits, 1) > 96;
  const weights = isRecent ? [10, 9, 8, 7, 6, 5, 4, 3, 2, 1] : [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  return weighted(digits, weights) % 11 === digitAt(digits, 10);
}

/** Netherlands, BSN: weights 9 to 2 and -1, a multiple of 11 (Besluit bsn). */
export function isDutchCitizen(digits: string): boolean {
  return Number(digits) > 0 && weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}

/** Croatia, OIB (Zakon o OIB): ISO 7064 mod 11,10. */
export const isCroatian = passesMod1110;

/** Czechia and Slovakia, rodné číslo: a date, 50 more in the month for women, 20 more since 2004; a multiple of 11. */
export function isCzechPerson(digits: string): boolean {
  const month = (twoAt(digits, 2) % 50) % 20;
  if (!isDay(twoAt(digits, 0), month, twoAt(digits, 4))) return false;
  // Nine digits, up to 1953, have no check digit; a remainder of 10 was written as 0 until 1985.
  if (digits.length === 9) return twoAt(digits, 0) < 54;
  const last = digitAt(digits, 9);
  return remainderOf(digits.slice(0, 9), 11) % 10 === last;
}

/** Bulgaria, EGN (GRAO): a date, 20 or 40 more in the month for other centuries; mod 11. */
export function isBulgarianPerson(digits: string): boolean {
  if (!isDay(twoAt(digits, 0), twoAt(digits, 2) % 20, twoAt(digits, 4))) return false;
  return (weighted(digits, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11) % 10 === digitAt(digits, 9);
}

/** Ireland, PPSN: weights 8 to 2, a second letter counts nine times; the letter at the remainder by 23 (Revenue). */
export function isIrishPerson(compact: string): boolean {
  const second = compact.length === 9 && compact[8] !== 'W' ? (digitAt(compact, 8) - 9) * 9 : 0;
  return 'WABCDEFGHIJKLMNOPQRSTUV'[(weighted(compact, [8, 7, 6, 5, 4, 3, 2]) + second) % 23] === compact[7];
}

/** Sweden, personnummer and samordningsnummer (60 more in the day): a date, then Luhn (Skatteverket). */
export function isSwedishPerson(digits: string): boolean {
  const ten = digits.slice(-10);
  const day = twoAt(ten, 4);
  return isDay(twoAt(ten, 0), twoAt(ten, 2), day > 60 ? day - 60 : day) && passesLuhn(ten);
}

/** France, NIR: 97 less the remainder by 97; Corsica's 2A and 2B count as 19 and 18 (INSEE). */
export function isFrenchPerson(compact: string): boolean {
  const number = compact.slice(0, 13).replace('2A', '19').replace('2B', '18');
  const month = twoAt(number, 3);
  const isMonth = (month > 0 && month < 13) || (month >= 20 && month <= 42) || month >= 50;
  return isMonth && 97 - remainderOf(number, 97) === twoAt(compact, 13);
}

/** Italy: values of the characters in odd places, 0-9 as A-J. */
const ITALIAN_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Italy, codice fiscale: the letter at the sum's remainder by 26 (D.M. 23.12.1976). */
export function isItalianPerson(compact: string): boolean {
  let sum = 0;
  for (let index = 0; index < 15; index += 1) {
    const value = digitAt(compact, index);
    const place = value > 9 ? value - 10 : value;
    sum += index % 2 === 0 ? (ITALIAN_ODD[place] as number) : place;
  }
  return sum % 26 === digitAt(compact, 15) - 10;
}

/** Belgium, rijksregisternummer: 97 less the remainder by 97, a 2 before the number for those born from 2000 on. */
export function isBelgianPerson(digits: string): boolean {
  const month = twoAt(digits, 2) % 20;
  if (month > 12 || twoAt(digits, 4) > 31 || twoAt(digits, 2) > 52) return false;
  const check = twoAt(digits, 9);
  const number = digits.slice(0, 9);
  return 97 - remainderOf(number, 97) === check || 97 - remainderOf(`2${number}`, 97) === check;
}

/** Poland, PESEL: weights 1-3-7-9; the century is in the month (Ustawa o ewidencji ludności). */
export function isPolishPerson(digits: string): boolean {
  if (!isDay(twoAt(digits, 0), twoAt(digits, 2) % 20, twoAt(digits, 4))) return false;
  return (weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) + digitAt(digits, 10)) % 10 === 0;
}

/** Finland, henkilötunnus: a date and three digits; the character at their remainder by 31 (DVV). */
export function isFinnishPerson(compact: string): boolean {
  const number = compact.slice(0, 6) + compact.slice(-4, -1);
  return isShortDate(compact, 0, false) && MOD_31[Number(number) % 31] === compact.at(-1);
}

/** Denmark, CPR: weights 4-3-2-7-6-5-4-3-2-1, a multiple of 11; not kept to since 2007 (CPR-kontoret). */
export function isCheckedDane(digits: string): boolean {
  return isShortDate(digits, 0, false) && weighted(digits, [4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0;
}

/** Norway, fødselsnummer: two check digits mod 11; 40 more in the day (D-number) or month (H-number). */
export function isNorwegianPerson(digits: string): boolean {
  if (!isDay(twoAt(digits, 4), twoAt(digits, 2) % 40, twoAt(digits, 0) % 40)) return false;
  return (
    weighted(digits, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 === 0 &&
    weighted(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0
  );
}

/** Austria, Versicherungsnummer: the fourth digit checks the rest mod 11; a date follows it (Dachverband der SV). */
export function isAustrianPerson(digits: string): boolean {
  const check = weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11;
  return digits[0] !== '0' && check === digitAt(digits, 3) && isShortDate(digits, 4, false);
}

/** Romania, CNP: sex and century, a date, county, and 279146358279 mod 11, where 10 is written 1. */
export function isRomanianPerson(digits: string): boolean {
  if (!isDay(twoAt(digits, 1), twoAt(digits, 3), twoAt(digits, 5))) return false;
  const county = twoAt(digits, 7);
  if (county < 1 || (county > 52 && county !== 70 && (county < 80 || county > 83))) return false;
  const check = weighted(digits, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
  return (check === 10 ? 1 : check) === digitAt(digits, 12);
}

/** Slovenia, EMŠO (and its kin to the south): a date with three digits of the year; weights 7 to 2 twice, mod 11. */
export function isSlovenePerson(digits: string): boolean {
  const year = digitAt(digits, 4) === 9 ? 1000 : 2000;
  if (!isDay(year + Number(digits.slice(4, 7)), twoAt(digits, 2), twoAt(digits, 0))) return false;
  const check = 11 - (weighted(digits, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  return check % 11 === digitAt(digits, 12) && check !== 10;
}

/** Estonia and Lithuania: weights 1 to 9 and 1 mod 11; when that gives 10, weights 3 to 9 and 1 to 3. */
export function isBalticPerson(digits: string): boolean {
  if (!isShortDate(digits, 1, true)) return false;
  let check = weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  if (check === 10) check = (weighted(digits, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11) % 10;
  return check === digitAt(digits, 10);
}

/** Latvia, personas kods from before 2017: 1101 less the weighted sum, mod 11. */
export function isLatvianPerson(digits: string): boolean {
  const check = (1101 - weighted(digits, [1, 6, 3, 7, 9, 10, 5, 8, 4, 2])) % 11;
  return isShortDate(digits, 0, false) && digitAt(digits, 6) < 3 && check === digitAt(digits, 10);
}

/** Luxembourg, matricule: a date, then Luhn, then Verhoeff, each over the first eleven digits (CTIE). */
export function isLuxembourger(digits: string): boolean {
  const year = Number(digits.slice(0, 4));
  if (year < 1880 || year > 2100 || !isDay(year, twoAt(digits, 4), twoAt(digits, 6))) return false;
  return passesLuhn(digits.slice(0, 12)) && passesVerhoeff(digits.slice(0, 11) + digits.slice(12));
}

/** Switzerland, AHV number: the check digit of EAN-13 (Zentrale Ausgleichsstelle). */
export function isSwissPerson(digits: string): boolean {
  return weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0;
}

/** Germany, pension insurance number: digit sums of the weighted digits, the letter as two (§ 2 VKVV). */
export function isGermanInsured(compact: string): boolean {
  const day = twoAt(compact, 2) % 50;
  if (!isDay(twoAt(compact, 6), twoAt(compact, 4), day)) return false;
  const digits = compact.slice(0, 8) + String(digitAt(compact, 8) - 9).padStart(2, '0') + compact.slice(9, 11);
  let sum = 0;
  [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1].forEach((weight, index) => {
    const product = digitAt(digits, index) * weight;
    sum += Math.floor(product / 10) + (product % 10);
  });
  return sum % 10 === digitAt(compact, 11);
}

/** United Kingdom, NHS number: weights 10 to 2 mod 11 (NHS Data Dictionary). */
export function isBritishPatient(digits: string): boolean {
  const check = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return check !== 10 && check % 11 === digitAt(digits, 9);
}

/** Portugal, document number of the citizen card: Luhn with letters as 10 to 35 (AMA). */
export function isPortugueseCard(compact: string): boolean {
  let sum = 0;
  for (let index = 0; index < 12; index += 1) {
    const value = digitAt(compact, index) * (index % 2 === 0 ? 2 : 1);
    sum += index % 2 === 0 && value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
