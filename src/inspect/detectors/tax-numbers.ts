import { digitAt, passesLuhn, passesMod1110, remainderOf, weighted } from './check-digits.ts';
import { grouping, type NumberKind } from './number-kind.ts';
import {
  isCypriotTaxpayer,
  isGreekTaxpayer,
  isHungarianFirm,
  isItalianFirm,
  isPolishTaxpayer,
  isPortugueseTaxpayer,
  isSpanishFirm,
  isVatNumber,
} from './vat-numbers.ts';

/**
 * Germany, Steuer-ID: ISO 7064 mod 11,10; of the first ten digits one, and only one, is there twice or three times
 * (§ 139b AO, BZSt).
 */
function isGermanTaxpayer(digits: string): boolean {
  const counts = new Uint8Array(10);
  for (let index = 0; index < 10; index += 1)
    counts[digitAt(digits, index)] = (counts[digitAt(digits, index)] ?? 0) + 1;
  const repeated = counts.filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] as number) < 4 && passesMod1110(digits);
}

/** United Kingdom, UTR: the first digit checks the other nine mod 11 (HMRC). */
function isBritishTaxpayer(digits: string): boolean {
  return '21987654321'[weighted(digits, [0, 6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11] === digits[0];
}

/** Hungary, adóazonosító jel: 8, then places as weights, mod 11 (Art. 1. melléklet). */
function isHungarianTaxpayer(digits: string): boolean {
  return weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 === digitAt(digits, 9);
}

function isFrenchShop(digits: string): boolean {
  // The post office has too many shops for Luhn: there the sum of the digits is a multiple of five (INSEE).
  if (digits.startsWith('356000000'))
    return (
      weighted(
        digits,
        Array.from(digits, () => 1),
      ) %
        5 ===
      0
    );
  return passesLuhn(digits);
}

const always = (): boolean => true;

/** What VAT numbers of the Union, its neighbours and Switzerland look like. */
const VAT_LAYOUT =
  /^(?:ATU\d{8}|(?:BE|BG|PL|SK)\d{10}|(?:BG|DE|EE|EL|GR|GB|XI|PT|LT|NO)\d{9}|(?:DK|FI|HU|LU|MT|SI|CZ)\d{8}|ES[A-Z0-9]\d{7}[A-Z0-9]|FR[A-Z0-9]{2}\d{9}|IE\d[A-Z0-9]\d{5}[A-Z]{1,2}|(?:HR|IT|LV)\d{11}|NL\d{9}B\d\d|(?:SE|LT|GB)\d{12}|RO\d{8,10}|CHE\d{9})$/;

/** Tax numbers of persons and firms, VAT numbers among them, by country. */
export const TAX_NUMBERS: readonly NumberKind[] = [
  {
    id: 'VAT',
    lengths: [8, 9, 10, 11, 12, 13, 14],
    shape: /^(?:[A-Z]{2,3}\d|ATU|ES[A-Z]|FR[A-Z])[A-Z0-9]+$/,
    groups:
      /^[A-Z]{2}[ -]?U?(?:[A-Z0-9]+|\d{2,4}(?:[ .]\d{2,4}){1,3}(?:[ .]?B\d\d| MVA)?|[A-Z0-9]{2} \d{3} ?\d{3} ?\d{3})$|^CHE-\d{3}\.\d{3}\.\d{3}$|^CHE \d{3} \d{3} \d{3}$/,
    alone: 'always',
    words: 'vat',
    isValid: isVatNumber,
  },
  // A slip of the pen in a VAT number leaves it its owner's: with the word before it the layout is enough.
  { id: 'VAT_TOLD', lengths: [10, 11, 12, 13, 14], shape: VAT_LAYOUT, alone: 'never', words: 'vat', isValid: always },
  {
    id: 'DE_STEUER_ID',
    lengths: [11],
    shape: /^[1-9]\d{10}$/,
    groups: grouping('dd ddd ddd ddd'),
    alone: 'grouped',
    words: 'steuer',
    isValid: isGermanTaxpayer,
  },
  {
    id: 'DE_STEUERNUMMER',
    lengths: [10, 11],
    shape: /^\d{10,11}$/,
    groups: grouping('ddd/dddd/dddd|ddd/ddd/ddddd|dd/ddd/ddddd|ddd ddd ddddd'),
    alone: 'never',
    words: 'steuernummer',
    isValid: always,
  },
  // Austria: office, number, and Luhn's check digit (BMF, Abgabenkontonummer).
  { id: 'AT_STEUERNUMMER', lengths: [9], shape: /^\d{9}$/, alone: 'never', words: 'steuernummer', isValid: passesLuhn },
  {
    id: 'FR_SPI',
    lengths: [13],
    shape: /^[0-3]\d{12}$/,
    alone: 'never',
    words: 'fiscal',
    isValid: (digits) => remainderOf(digits.slice(0, 10), 511) === Number(digits.slice(10)),
  },
  { id: 'FR_SIREN', lengths: [9], shape: /^\d{9}$/, alone: 'never', words: 'siren', isValid: passesLuhn },
  { id: 'FR_SIRET', lengths: [14], shape: /^\d{14}$/, alone: 'never', words: 'siren', isValid: isFrenchShop },
  { id: 'IT_IVA', lengths: [11], shape: /^\d{11}$/, alone: 'never', words: 'iva', isValid: isItalianFirm },
  {
    id: 'PL_NIP',
    lengths: [10],
    shape: /^\d{10}$/,
    groups: grouping('ddd-ddd-dd-dd|ddd-dd-dd-ddd'),
    alone: 'grouped',
    words: 'nip',
    isValid: isPolishTaxpayer,
  },
  {
    id: 'PL_REGON',
    lengths: [9],
    shape: /^\d{9}$/,
    alone: 'never',
    words: 'nip',
    isValid: (digits) => (weighted(digits, [8, 9, 2, 3, 4, 5, 6, 7]) % 11) % 10 === digitAt(digits, 8),
  },
  { id: 'PT_NIF', lengths: [9], shape: /^[1235-9]\d{8}$/, alone: 'never', words: 'nif', isValid: isPortugueseTaxpayer },
  { id: 'GR_AFM', lengths: [9], shape: /^\d{9}$/, alone: 'never', words: 'afm', isValid: isGreekTaxpayer },
  {
    id: 'ES_CIF',
    lengths: [9],
    shape: /^[A-HJNP-SUVW]\d{7}[0-9A-J]$/,
    alone: 'never',
    words: 'nif',
    isValid: isSpanishFirm,
  },
  { id: 'UK_UTR', lengths: [10], shape: /^\d{10}$/, alone: 'never', words: 'utr', isValid: isBritishTaxpayer },
  {
    id: 'US_EIN',
    lengths: [9],
    shape: /^(?!0[0789]|[1247]9|[27]8|89)\d{9}$/,
    alone: 'never',
    words: 'ein',
    isValid: always,
  },
  {
    id: 'US_ITIN',
    lengths: [9],
    shape: /^9\d\d(?:5\d|6[0-5]|[78]\d|9[0-24-9])\d{4}$/,
    groups: grouping('ddd-dd-dddd'),
    alone: 'grouped',
    words: 'ssn',
    isValid: always,
  },
  {
    id: 'HU_ADOAZONOSITO',
    lengths: [10],
    shape: /^8\d{9}$/,
    alone: 'never',
    words: 'ado',
    isValid: isHungarianTaxpayer,
  },
  {
    id: 'HU_ADOSZAM',
    lengths: [11],
    shape: /^\d{8}[1-5]\d\d$/,
    groups: grouping('dddddddd-d-dd'),
    alone: 'grouped',
    words: 'ado',
    isValid: isHungarianFirm,
  },
  { id: 'CY_TIC', lengths: [9], shape: /^\d{8}[A-Z]$/, alone: 'never', words: 'tax', isValid: isCypriotTaxpayer },
];
