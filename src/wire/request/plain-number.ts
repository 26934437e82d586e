/** Long enough to be an account or card number written as a JSON number. */
const ACCOUNT_DIGITS = 12;
/** What every number has that has as many digits, however it is written. */
export const MAY_BE_ACCOUNT = new RegExp(`[eE]|^.{${ACCOUNT_DIGITS}}`);
/** An exponent of more digits makes a number that no reader holds as digits. */
const PARTS = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;
/** Most digits that are written for a number. */
const MOST_DIGITS = 64;

/** Whether a JSON number may have as many digits as an account has, however it is written. */
export function hasAccountDigits(source: string): boolean {
  return source.length >= ACCOUNT_DIGITS || (/[eE]/.test(source) && plainNumber(source).length >= ACCOUNT_DIGITS);
}

/**
 * The digits of a JSON number as a reader of its value writes them: without sign and exponent, and without a fraction of
 * zero. `4.111111111111111e15` is `4111111111111111`. Other numbers stay unchanged.
 */
export function plainNumber(source: string): string {
  if (!/[-.eE]/.test(source)) return source;
  const [, whole, fraction = '', exponent = '0'] = PARTS.exec(source) ?? [];
  if (whole === undefined) return source;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0 || point > MOST_DIGITS) return source;
  const before = digits
    .slice(0, point)
    .padEnd(point, '0')
    .replace(/^0+(?=\d)/, '');
  const after = digits.slice(point).replace(/(?<!0)0+$/, '');
  return after === '' ? before : `${before}.${after}`;
}
