import type { Effort } from '#/wire/hub/canonical.ts';

const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Words for every effort from those that a model knows, given from the least to the most: the word itself where it is
 * known, else the nearest one below, so that no client pays for more than it asked for; but a client that asks for some
 * thinking gets some, and the least there is stands for none where thinking cannot be switched off. // wire-formats 2.3
 */
export function effortWords(known: readonly Effort[]): Readonly<Record<Effort, string>> {
  const [least = 'low'] = known.filter((word) => word !== 'none');
  const words = EFFORTS.map((effort, rank) => {
    if (effort === 'none') return [effort, known.includes('none') ? 'none' : least];
    return [effort, known.findLast((word) => word !== 'none' && EFFORTS.indexOf(word) <= rank) ?? least];
  });
  return Object.fromEntries(words) as Record<Effort, string>;
}

/** `effortWords` in capitals, as Gemini spells its levels. */
export function levelWords(known: readonly Effort[]): Readonly<Record<Effort, string>> {
  const words = Object.entries(effortWords(known)).map(([effort, word]) => [effort, word.toUpperCase()]);
  return Object.fromEntries(words) as Record<Effort, string>;
}
