import type { Examiner } from './examiner.ts';
import { ANY_DIGIT } from './examiner.ts';
import { isTold } from './context-words.ts';
import { NATIONAL_NUMBERS } from './national-numbers.ts';
import { endsNumber, numberGroups, type NumberGroups } from './number-groups.ts';
import type { NumberKind } from './number-kind.ts';
import { TAX_NUMBERS } from './tax-numbers.ts';

/**
 * Numbers that states give to persons, with the check digits that each country knows. A layout that leaves no doubt
 * counts anywhere, bare digits only with a word about them near, or in the groups they are written in.
 */
export const nationalId: Examiner = numbers('NATIONAL_ID', NATIONAL_NUMBERS);

/** The same for tax numbers of persons and firms, and for VAT numbers. */
export const taxId: Examiner = numbers('TAX_ID', TAX_NUMBERS);

/** Words that may stand by any number of the category. */
const GENERAL = ['identity'];

function numbers(category: string, kinds: readonly NumberKind[]): Examiner {
  const byLength = kindsByLength(kinds);
  return {
    category,
    evidence: 'checked',
    triggers: ANY_DIGIT,
    examine(text, at, floor, found): number {
      for (const groups of numberGroups(text, at, floor)) {
        for (let last = groups.ends.length - 1; last >= 0; last -= 1) {
          const end = groups.ends[last] as number;
          const known = byLength[groups.counts[last] as number];
          if (known === undefined || !endsNumber(text, end)) continue;
          if (!isNumber(text, groups, last, known)) continue;
          found.push({ start: groups.start, end, category });
          return end;
        }
      }
      return floor;
    },
  };
}

function kindsByLength(kinds: readonly NumberKind[]): readonly (readonly NumberKind[] | undefined)[] {
  const longest = Math.max(...kinds.flatMap(({ lengths }) => lengths));
  return Array.from({ length: longest + 1 }, (_, length) => {
    const known = kinds.filter(({ lengths }) => lengths.includes(length));
    return known.length > 0 ? known : undefined;
  });
}

function isNumber(text: string, groups: NumberGroups, last: number, known: readonly NumberKind[]): boolean {
  const end = groups.ends[last] as number;
  const compact = groups.compact.slice(0, groups.counts[last]);
  const written = text.slice(groups.start, end);
  const isPlain = written.length === compact.length;
  return known.some((kind) => {
    if (!kind.shape.test(compact) || !kind.isValid(compact)) return false;
    const isGrouped = !isPlain && kind.groups !== undefined && kind.groups.test(written);
    if (isGrouped && kind.alone !== 'never') return true;
    if (isPlain && kind.alone === 'always' && written === compact) return true;
    return isTold(text, groups.start, end, [kind.words, ...GENERAL]);
  });
}
