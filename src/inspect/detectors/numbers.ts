import type { Category } from '#/values/entities.ts';
import type { Detector } from './detector.ts';
import { ANY_DIGIT } from './digit-context.ts';
import { hasContextWord, type ContextWords, contextWords, type WordKind } from './context-words.ts';
import { NATIONAL_NUMBERS } from './national-numbers.ts';
import { endsNumber, isRowGoingOn, mayBeNumber, numberGroups, type NumberGroups } from './number-groups.ts';
import type { NumberKind, ToldKind } from './number-kind.ts';
import { TAX_NUMBERS } from './tax-numbers.ts';

/** Layouts that begin with a letter, and such that have any. */
const FROM_LETTER = /^\^(?:\(\?![^)]*\)|\(\?:)?\[?[A-Z]/;
const LETTERED = /[A-Z]/;

function numbers(
  category: Category,
  kinds: readonly NumberKind[],
  general: readonly WordKind[],
  about: Pick<Detector, 'meaning' | 'examples' | 'ignores'>,
): Detector {
  const byLength = kindsByLength(
    kinds.filter(({ shape }) => !FROM_LETTER.test(shape.source)),
    general,
  );
  const letteredByLength = kindsByLength(
    kinds.filter(({ shape }) => LETTERED.test(shape.source)),
    general,
  );
  return {
    category,
    evidence: 'checked',
    ...about,
    kinds: kinds.map(({ id }) => id),
    triggers: ANY_DIGIT,
    prefilter: mayBeNumber,
    detect(text, at, floor, found): number {
      for (const groups of numberGroups(text, at, floor)) {
        for (let last = groups.ends.length - 1; last >= 0; last -= 1) {
          const end = groups.ends[last] as number;
          const count = groups.counts[last] as number;
          const known = (isAllDigits(groups.compact, count) ? byLength : letteredByLength)[count];
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

/** The kinds of one length, and what says that a word of any of them is near. */
interface Alike {
  readonly kinds: readonly ToldKind[];
  readonly any: ContextWords;
}

function kindsByLength(kinds: readonly NumberKind[], general: readonly WordKind[]): readonly (Alike | undefined)[] {
  const longest = Math.max(...kinds.flatMap(({ lengths }) => lengths));
  const tellers = new Map<WordKind, ContextWords>();
  const told = kinds.map((kind): ToldKind => {
    const teller = tellers.get(kind.words) ?? contextWords(...general, kind.words);
    tellers.set(kind.words, teller);
    return { ...kind, teller };
  });
  return Array.from({ length: longest + 1 }, (_, length) => {
    const known = told.filter(({ lengths }) => lengths.includes(length));
    if (known.length === 0) return undefined;
    return { kinds: known, any: contextWords(...general, ...new Set(known.map(({ words }) => words))) };
  });
}

function isAllDigits(compact: string, length: number): boolean {
  for (let index = 0; index < length; index += 1) if (compact.charCodeAt(index) > 57) return false;
  return true;
}

function isNumber(text: string, groups: NumberGroups, last: number, { kinds, any }: Alike): boolean {
  const end = groups.ends[last] as number;
  const compact = groups.compact.slice(0, groups.counts[last]);
  const written = text.slice(groups.start, end);
  const isPlain = written.length === compact.length;
  const isWhole = !isRowGoingOn(text, end);
  // Few numbers have a word near that tells anything: asked once for all kinds.
  let hasWords: boolean | undefined;
  for (const kind of kinds) {
    if (!kind.shape.test(compact) || !kind.isValid(compact)) continue;
    const isGrouped = !isPlain && kind.groups !== undefined && kind.groups.test(written);
    if (isWhole && isGrouped && kind.alone !== 'never') return true;
    if (isWhole && isPlain && kind.alone === 'always' && written === compact) return true;
    hasWords ??= hasContextWord(any, text, groups.start, end);
    if (hasWords && hasContextWord(kind.teller, text, groups.start, end)) return true;
  }
  return false;
}

/**
 * Numbers that states give to persons, with the check digits that each country knows. A layout that leaves no doubt
 * counts anywhere, bare digits only with a word about them near, or in the groups they are written in.
 */
export const nationalId: Detector = numbers('NATIONAL_ID', NATIONAL_NUMBERS, ['identity', 'taxpayer'], {
  meaning:
    'Numbers that states give to persons, by their check digits; bare digits only with a word about them near, or in their own groups.',
  examples: ['‹44051401359› is my PESEL', 'NIN ‹AB 12 34 56 C›', 'SSN ‹123-45-6789›'],
  ignores: ['44051401358 is my PESEL', 'order 44051401359'],
});

/** The same for tax numbers of persons and firms, and for VAT numbers. */
export const taxId: Detector = numbers('TAX_ID', TAX_NUMBERS, ['taxpayer'], {
  meaning: 'Tax numbers of persons and firms, and VAT numbers, by their check digits.',
  examples: ['USt-IdNr. ‹DE136695977›', 'Steuer-ID ‹86095742719›'],
  ignores: ['Steuer-ID 86095742710', 'order 86095742719'],
});
