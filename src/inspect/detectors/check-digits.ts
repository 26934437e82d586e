/** Whether the last digit is right by Luhn's formula (ISO/IEC 7812-1, annex B). Digits only. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = digits.length - 1, double = false; index >= 0; index -= 1, double = !double) {
    const digit = digitAt(digits, index);
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}

/** Whether the last digit is right by the recursive method of ISO/IEC 7064, modulus 11 and 10. Digits only. */
export function passesMod1110(digits: string): boolean {
  let product = 10;
  for (let index = 0; index < digits.length - 1; index += 1) {
    const sum = (product + digitAt(digits, index)) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (product + digitAt(digits, digits.length - 1)) % 10 === 1;
}

/** The number of the character at `index`: a digit's own, and 10 to 35 for capital A to Z. */
export function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code < 58 ? code - 48 : code - 55;
}

/** The sum of as many leading characters as there are weights, each times its weight. */
export function weighted(text: string, weights: readonly number[], from = 0): number {
  let sum = 0;
  for (let index = 0; index < weights.length; index += 1) {
    sum += digitAt(text, from + index) * (weights[index] as number);
  }
  return sum;
}

/** The remainder of a row of decimal digits, however long, divided by `modulus`. */
export function remainderOf(digits: string, modulus: number): number {
  let remainder = 0;
  for (let index = 0; index < digits.length; index += 1) {
    remainder = (remainder * 10 + digitAt(digits, index)) % modulus;
  }
  return remainder;
}

/** Belgium: the last two of twelve digits are the remainder of the others by 97, which stands for 0. */
export function passesBelgian97(digits: string): boolean {
  return (remainderOf(digits.slice(0, 10), 97) || 97) === twoAt(digits, 10);
}

/** Capital letters as the digits that `values` has for A to Z; all else as it is. */
export function lettersAs(values: string, text: string): string {
  return text.replace(/[A-Z]/g, (letter) => values[digitAt(letter, 0) - 10] as string);
}

/** The product of two places in the group of the pentagon's symmetries, in which Verhoeff's scheme adds. */
function pentagon(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5;
  return b < 5 ? ((a - b + 5) % 5) + 5 : (a - b + 5) % 5;
}

/** The order in which Verhoeff's scheme exchanges digits, from place to place. */
const EXCHANGE = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/** Whether the last digit is right by Verhoeff's scheme (J. Verhoeff, 1969). Digits only. */
export function passesVerhoeff(digits: string): boolean {
  let place = 0;
  for (let index = digits.length - 1, turn = 0; index >= 0; index -= 1, turn += 1) {
    let digit = digitAt(digits, index);
    for (let step = turn % 8; step > 0; step -= 1) digit = EXCHANGE[digit] as number;
    place = pentagon(place, digit);
  }
  return place === 0;
}

const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether such a day is in the calendar; of a leap year when only the last two digits of the year are known. */
export function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1 || day > (MONTH_LENGTHS[month - 1] as number)) return false;
  if (month !== 2 || day < 29) return true;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0 || year < 100);
}

/** Whether digits from `at` on are a day as `DDMMYY`, or as `YYMMDD` when `yearFirst`. */
export function isShortDate(digits: string, at: number, yearFirst: boolean): boolean {
  const month = twoAt(digits, at + 2);
  return yearFirst
    ? isDay(twoAt(digits, at), month, twoAt(digits, at + 4))
    : isDay(twoAt(digits, at + 4), month, twoAt(digits, at));
}

/** The number that two digits are. */
export function twoAt(digits: string, at: number): number {
  return digitAt(digits, at) * 10 + digitAt(digits, at + 1);
}
