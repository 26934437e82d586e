import type { JsonObject } from '../document/json.ts';
import type { RouterProbabilities } from './decision.ts';
import type { Question } from './questions.ts';

/** What a model says of one question: a probability for each of its options. */
export interface Said {
  readonly probabilities: readonly number[];
  readonly answerConfidence: number | undefined;
}

/** Levels of complexity, the lowest first. // spec 2.6 */
const COMPLEXITY = ['trivial', 'simple', 'moderate', 'hard'];

/** The answer to a question, with options as the client named them. // spec 2.6 */
export function answerOf({ type, named }: Pick<Question, 'type' | 'named'>, said: Said): JsonObject {
  const { probabilities, answerConfidence } = said;
  const sure = answerConfidence === undefined ? {} : { answer_confidence: answerConfidence };
  if (type === 'noul') {
    const holds = probabilities[0] ?? 0;
    return { type, noul: holds, confidence: Math.abs(2 * holds - 1), ...sure };
  }
  const confidence = concentration(probabilities);
  if (type === 'choice') {
    const choice = named[probabilities.indexOf(Math.max(...probabilities))] ?? '';
    return { type, choice, probabilities: byName(named, probabilities), confidence, ...sure };
  }
  const levels = named.map((_, level) => String(level));
  return {
    type,
    score: probabilities.reduce((sum, p, level) => sum + p * level, 0),
    legend: Object.fromEntries(named.map((label, level) => [String(level), label])),
    probabilities: byName(levels, probabilities),
    confidence,
    ...sure,
  };
}

/** The router's answers to its own questions. // spec 2.6 */
export function routerAnswers({
  reasoning,
  complexity,
  task,
}: RouterProbabilities & { readonly task: Readonly<Record<string, number>> }): JsonObject {
  const said = (probabilities: readonly number[]): Said => ({ probabilities, answerConfidence: undefined });
  return {
    reasoning: answerOf({ type: 'noul', named: [] }, said([reasoning, 1 - reasoning])),
    complexity: answerOf({ type: 'score', named: COMPLEXITY }, said(complexity)),
    task: answerOf({ type: 'choice', named: Object.keys(task) }, said(Object.values(task))),
  };
}

/** How sure a distribution is: 1 where one option has all of it, 0 where all have the same. */
export function concentration(probabilities: readonly number[]): number {
  const flat = 1 / probabilities.length;
  return Math.max(0, (Math.max(...probabilities) - flat) / (1 - flat));
}

function byName(names: readonly string[], probabilities: readonly number[]): JsonObject {
  return Object.fromEntries(names.map((name, index) => [name, probabilities[index] ?? 0]));
}
