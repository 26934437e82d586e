import type { Groups } from './phone-groups.ts';
import type { PhonePlan } from './phone-plan.ts';

/**
 * Whether the grouping alone says "phone number": a trunk zero with separators, an area code in brackets, the North
 * American 3-3-4, or the 3-2-2-2 and 2-3-2-2 of countries without a trunk prefix. Amounts are grouped by threes only.
 */
export function isPhoneShaped(groups: Groups, inBrackets: boolean, plan: PhonePlan): boolean {
  if (groups.lengths.length < 2 || !isEvenlyParted(groups)) return false;
  if (plan.regions.has('US') && isNorthAmerican(groups, inBrackets)) return true;
  if (!plan.isNational(groups.digits)) return false;
  return groups.digits.startsWith('0') ? isTrunkShaped(groups) : isPairShaped(groups);
}

/** After the area code one separator throughout, an extension's hyphen excepted: `08.00-12.00` is opening hours. */
function isEvenlyParted({ separators }: Groups): boolean {
  const [, second] = separators;
  return separators
    .slice(2)
    .every((separator, index) => separator === second || (separator === '-' && index === separators.length - 3));
}

/** How the personal numbers of the United States and of the Nordic and Czech registers are grouped. */
const PERSONAL_NUMBERS = new Set(['3,2,4', '6,3', '6,4']);

function isTrunkShaped({ digits, lengths, separators }: Groups): boolean {
  const [area = 0] = lengths;
  if (digits[1] === '0' || digits.length < 9 || digits.length > 13) return false;
  if (area < 2 || area > 6 || lengths.length > 6 || lengths.some((length) => length < 2)) return false;
  // Pairs go on in pairs.
  if (area === 2 && lengths[1] === 2 && lengths.some((length) => length !== 2)) return false;
  const [separator] = separators;
  if (separator === '.' && lengths.length === 2 && area < 3) return false;
  return !((separator === '-' || separator === '/') && PERSONAL_NUMBERS.has(lengths.join()));
}

function isNorthAmerican({ digits, lengths, separators }: Groups, inBrackets: boolean): boolean {
  const shape = lengths.join();
  const local = digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
  if (!/^[2-9]\d\d[2-9]\d{6}$/.test(local)) return false;
  if (inBrackets)
    return shape === '3,3,4' && (separators[0] === ') ' || separators[0] === ')' || separators[0] === ')-');
  const [first] = separators;
  const isOne = separators.every((separator) => separator === first) && (first === '-' || first === '.');
  return isOne && (shape === '3,3,4' || shape === '1,3,3,4');
}

function isPairShaped({ lengths, separators }: Groups): boolean {
  const shape = lengths.join();
  return (shape === '3,2,2,2' || shape === '2,3,2,2') && separators.every((separator) => separator === separators[0]);
}
