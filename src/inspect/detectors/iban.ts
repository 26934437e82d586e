import { endsToken, isAlphanumeric, isCapital, isDigit, isLetter, startsToken } from './characters.ts';
import { ANY_DIGIT, isLetterKind } from './digit-context.ts';
import type { Detector } from './detector.ts';

/**
 * The account part by country, of the SWIFT registry of IBANs: `n` digits, `a` letters, `c` either, each with a count.
 */
const ACCOUNT_PARTS =
  'AD n8c12 AE n19 AL n8c16 AT n16 AZ a4c20 BA n16 BE n12 BG a4n6c8 BH a4c14 BI n23 BR n23a1c1 BY c4n4c16 CH n5c12 ' +
  'CR n18 CY n8c16 CZ n20 DE n18 DJ n23 DK n14 DO c4n20 EE n16 EG n25 ES n20 FI n14 FK a2n12 FO n14 FR n10c11n2 ' +
  'GB a4n14 GE a2n16 GI a4c15 GL n14 GR n7c16 GT c24 HN a4n20 HR n17 HU n24 IE a4n14 IL n19 IQ a4n15 IS n22 ' +
  'IT a1n10c12 JO a4n4c18 KW a4c22 KZ n3c13 LB n4c20 LC a4c24 LI n5c12 LT n16 LU n3c13 LV a4c13 LY n21 MC n10c11n2 ' +
  'MD c20 ME n18 MK n3c10n2 MN n16 MR n23 MT a4n5c18 MU a4n19a3 NI a4n20 NL a4n10 NO n11 OM n3c16 PK a4c16 PL n24 ' +
  'PS a4c21 PT n21 QA a4c21 RO a4c16 RS n18 RU n14c15 SA n2c18 SC a4n20a3 SD n14 SE n20 SI n15 SK n20 SM a1n10c12 ' +
  'SO n19 ST n21 SV a4n20 TL n19 TN n20 TR n6c16 UA n6c19 VA n18 VG a4n16 XK n16 YE a4n4c18';

/** `DE` -> `nnnnnnnnnnnnnnnnnn`: one letter for each character of the account part. */
export const ACCOUNT_SHAPES: ReadonlyMap<string, string> = new Map(
  [...ACCOUNT_PARTS.matchAll(/([A-Z]{2}) (\S+)/g)].map(([, country, parts]) => [
    country as string,
    (parts as string).replace(/([nac])(\d+)/g, (_, kind: string, count: string) => kind.repeat(Number(count))),
  ]),
);

/**
 * IBANs: country code of the registry, its exact length and layout, check digits by ISO 7064 mod 97. Groups may be
 * parted by one space, hyphen or dot anywhere; lower case counts. Whatever follows the last group stays outside.
 */
export const iban: Detector = {
  category: 'IBAN',
  evidence: 'checked',
  meaning: 'IBANs of every country of the registry, by length, layout and check digits.',
  examples: ['Please pay to ‹DE89 3704 0044 0532 0130 00›.'],
  ignores: ['invoice DE89 3704 0044 0532 0130 01'],
  triggers: ANY_DIGIT,
  prefilter({ earlier, before, length }): boolean {
    if (length < 2) return false;
    if (isLetterKind(before)) return isLetterKind(earlier);
    return earlier === 'capital' && (before === 'space' || before === 'hyphen' || before === 'dot');
  },
  detect(text, at, floor, found): number {
    const start = countryStart(text, at);
    if (start < floor || !isDigit(text.charCodeAt(at + 1))) return floor;
    const shape = ACCOUNT_SHAPES.get(text.slice(start, start + 2).toUpperCase());
    if (shape === undefined || !startsIban(text, start)) return floor;
    const end = checkedEnd(text, start, at, shape);
    if (end < 0) return floor;
    found.push({ start, end, category: 'IBAN' });
    return end;
  },
};

/** Where the two letters before the check digits start, or -1. With a gap after them they must be capitals. */
function countryStart(text: string, at: number): number {
  if (isLetter(text.charCodeAt(at - 1))) return isLetter(text.charCodeAt(at - 2)) ? at - 2 : -1;
  if (!isSeparator(text.charCodeAt(at - 1))) return -1;
  return isCapital(text.charCodeAt(at - 2)) && isCapital(text.charCodeAt(at - 3)) ? at - 3 : -1;
}

/** Whether nothing alphanumeric stands before the country code, the word IBAN itself excepted. */
function startsIban(text: string, start: number): boolean {
  return startsToken(text, start) || (start >= 4 && text.slice(start - 4, start).toUpperCase() === 'IBAN');
}

/** The end of a valid IBAN whose check digits stand at `digits`, or -1. */
function checkedEnd(text: string, start: number, digits: number, shape: string): number {
  let remainder = 0;
  let at = digits + 2;
  for (let index = 0; index < shape.length; index += 1) {
    if (isSeparator(text.charCodeAt(at))) at += 1;
    const code = text.charCodeAt(at);
    if (!fits(code, shape.charCodeAt(index))) return -1;
    remainder = append(remainder, code);
    at += 1;
  }
  if (!endsToken(text, at)) return -1;
  for (const index of [start, start + 1, digits, digits + 1]) remainder = append(remainder, text.charCodeAt(index));
  return remainder === 1 ? at : -1;
}

function fits(code: number, kind: number): boolean {
  if (kind === 110) return isDigit(code);
  return kind === 97 ? isLetter(code) : isAlphanumeric(code);
}

function append(remainder: number, code: number): number {
  if (isDigit(code)) return (remainder * 10 + code - 48) % 97;
  return (remainder * 100 + (code | 32) - 87) % 97;
}

function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46;
}
