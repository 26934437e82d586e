import { digitAt, lettersAs, passesBelgian97, remainderOf, weighted } from './check-digits.ts';
import { grouping, type NumberKind } from './number-kind.ts';

/**
 * Poland, NRB: an IBAN without its letters. Two check digits, then bank and account; ISO 7064 mod 97 with `PL` as 2521
 * (Zarządzenie nr 7/2017 Prezesa NBP).
 */
function isPolishAccount(digits: string): boolean {
  return remainderOf(`${digits.slice(2)}2521${digits.slice(0, 2)}`, 97) === 1;
}

/** Powers of two mod 11. */
const SPANISH = [1, 2, 4, 8, 5, 10, 9, 7, 3, 6];

/** Spain, CCC: one check digit for bank and branch, one for the account, each mod 11 (Banco de España; AEB, cuaderno 19). */
function isSpanishAccount(digits: string): boolean {
  const check = (ten: string): number => {
    const remainder = weighted(ten, SPANISH) % 11;
    return remainder < 2 ? remainder : 11 - remainder;
  };
  return check(`00${digits.slice(0, 8)}`) === digitAt(digits, 8) && check(digits.slice(10)) === digitAt(digits, 9);
}

/** France, RIB: a multiple of 97 with its key; letters are digits, A-I and J-R 1 to 9, S-Z 2 to 9 (CFONB). */
function isFrenchAccount(compact: string): boolean {
  return remainderOf(lettersAs('12345678912345678923456789', compact), 97) === 0;
}

/** Belgium, before the IBAN (Febelfin, BBAN). */
function isBelgianAccount(digits: string): boolean {
  return passesBelgian97(digits) && Number(digits) > 0;
}

/** Portugal, NIB: two check digits at the end, ISO 7064 mod 97 (Banco de Portugal, Aviso n.º 10/2011; SIBS). */
function isPortugueseAccount(digits: string): boolean {
  return remainderOf(digits, 97) === 1;
}

const HUNGARIAN = [9, 7, 3, 1, 9, 7, 3, 1];

/** Hungary, GIRO: the last digit checks bank and branch, another one the account; a multiple of ten each (35/2017. MNB rendelet). */
function isHungarianAccount(digits: string): boolean {
  const sumFrom = (from: number): number => weighted(digits, HUNGARIAN, from);
  const account = sumFrom(8) + (digits.length === 24 ? sumFrom(16) : 0);
  return sumFrom(0) % 10 === 0 && account % 10 === 0;
}

/** Accounts as banks of a country write them among themselves, without the letters and check digits of an IBAN. */
export const ACCOUNT_NUMBERS: readonly NumberKind[] = [
  {
    id: 'PL_NRB',
    lengths: [26],
    shape: /^\d{26}$/,
    groups: grouping('dd dddd dddd dddd dddd dddd dddd|dd-dddd-dddd-dddd-dddd-dddd-dddd'),
    alone: 'grouped',
    words: 'bank',
    isValid: isPolishAccount,
  },
  {
    id: 'ES_CCC',
    lengths: [20],
    shape: /^(?!0000)\d{20}$/,
    groups: grouping('dddd dddd dd dddddddddd|dddd-dddd-dd-dddddddddd|dddd dddd dd ddddd ddddd'),
    alone: 'grouped',
    words: 'bank',
    isValid: isSpanishAccount,
  },
  {
    id: 'PT_NIB',
    lengths: [21],
    shape: /^(?!0000)\d{21}$/,
    groups: grouping('dddd dddd ddddddddddd dd|dddd-dddd-ddddddddddd-dd'),
    alone: 'grouped',
    words: 'bank',
    isValid: isPortugueseAccount,
  },
  {
    id: 'HU_GIRO',
    lengths: [16, 24],
    shape: /^[1-9]\d{15}(?:\d{8})?$/,
    groups: grouping('dddddddd-dddddddd-dddddddd'),
    alone: 'grouped',
    words: 'bank',
    isValid: isHungarianAccount,
  },
  {
    id: 'FR_RIB',
    lengths: [23],
    shape: /^\d{10}[A-Z0-9]{11}\d\d$/,
    groups: grouping('ddddd ddddd xxxxxxxxxxx dd|ddddd-ddddd-xxxxxxxxxxx-dd'),
    alone: 'grouped',
    words: 'bank',
    isValid: isFrenchAccount,
  },
  // Numbers of Belgian identity cards have the same layout and check: a word identifies those (`national-numbers.ts`).
  {
    id: 'BE_BBAN',
    lengths: [12],
    shape: /^\d{12}$/,
    groups: grouping('ddd-ddddddd-dd'),
    alone: 'grouped',
    words: 'bank',
    isValid: isBelgianAccount,
  },
];
