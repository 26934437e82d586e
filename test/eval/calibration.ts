import { rounded, scoreOf } from './score.ts';

/** Probabilities of the options of one question, and which of them was right. */
export interface Judged {
  readonly probabilities: readonly number[];
  readonly truth: number;
}

const BINS = 10;

/** The option with the highest probability, the first of several. */
export function topOf(probabilities: readonly number[]): number {
  return probabilities.indexOf(Math.max(...probabilities));
}

/**
 * Accuracy, ECE (ten bins of equal width, top option), Brier score (sum over options), log loss, and AUC where there are
 * two options and both are right somewhere.
 */
export function calibrationOf(judged: readonly Judged[]): Readonly<Record<string, number>> {
  const mean = (of: (one: Judged) => number): number =>
    rounded(judged.reduce((sum, one) => sum + of(one), 0) / judged.length);
  const isBinary = judged.every(({ probabilities }) => probabilities.length === 2);
  return {
    asked: judged.length,
    accuracy: mean(({ probabilities, truth }) => Number(topOf(probabilities) === truth)),
    ece: eceOf(judged.map(({ probabilities, truth }) => [Math.max(...probabilities), topOf(probabilities) === truth])),
    brier: mean(({ probabilities, truth }) =>
      probabilities.reduce((sum, p, option) => sum + (p - Number(option === truth)) ** 2, 0),
    ),
    nll: mean(({ probabilities, truth }) => -Math.log(Math.max(probabilities[truth] ?? 0, 1e-12))),
    ...(isBinary && { auc: aucOf(judged.map(({ probabilities, truth }) => [probabilities[1] ?? 0, truth === 1])) }),
  };
}

/** F1 of one option among questions that all have the same: taken for the answer where it has the highest probability. */
export function f1Of(judged: readonly Judged[], option: number): number {
  const told = judged.map(({ probabilities, truth }) => [topOf(probabilities) === option, truth === option] as const);
  const count = (said: boolean, is: boolean): number => told.filter(([a, b]) => a === said && b === is).length;
  return scoreOf({ found: count(true, true), missed: count(false, true), wrong: count(true, false) }).f1;
}

/** The mean F1 of the options that are right somewhere. */
export function macroF1Of(judged: readonly Judged[]): number {
  const options = [...new Set(judged.map(({ truth }) => truth))];
  return rounded(options.reduce((sum, option) => sum + f1Of(judged, option), 0) / options.length);
}

/** How far sureness is from being right, on average over ten bins of equal width. */
export function eceOf(answers: readonly (readonly [sure: number, isRight: boolean])[]): number {
  const bins = Array.from({ length: BINS }, () => ({ sure: 0, right: 0 }));
  for (const [sure, isRight] of answers) {
    const bin = bins[Math.min(BINS - 1, Math.floor(sure * BINS))];
    if (!bin) continue;
    bin.sure += sure;
    bin.right += Number(isRight);
  }
  return rounded(bins.reduce((sum, { sure, right }) => sum + Math.abs(sure - right), 0) / answers.length);
}

/** How often something that holds has more than something that does not; ties count half. NaN where all are alike. */
export function aucOf(scored: readonly (readonly [score: number, holds: boolean])[]): number {
  const sorted = scored.toSorted(([a], [b]) => a - b);
  const positives = scored.filter(([, holds]) => holds).length;
  let ranks = 0;
  for (let from = 0; from < sorted.length;) {
    let until = from;
    while (until < sorted.length && sorted[until]?.[0] === sorted[from]?.[0]) until += 1;
    const rank = (from + 1 + until) / 2;
    for (let at = from; at < until; at += 1) if (sorted[at]?.[1]) ranks += rank;
    from = until;
  }
  return rounded((ranks - (positives * (positives + 1)) / 2) / (positives * (scored.length - positives)));
}
