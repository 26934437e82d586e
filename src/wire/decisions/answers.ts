import type { JsonObject } from '../document/json.ts';
import { concentration } from '../systemone/answers.ts';
import type { AskedQuestion } from './read-request.ts';

/** The answer to one question: a probability for each of its options, or that a predicate holds. */
export interface Said {
  readonly probabilities: readonly number[];
  /** As reported; absent: derived from the probabilities. */
  readonly confidence?: number;
  /** The chosen option, or the score; absent: derived from the probabilities. */
  readonly told?: number;
}

/** The answer to a question, in the words of the client. // openai-node, src/resources/decisions.ts */
export function answerTo(question: AskedQuestion, { probabilities, confidence, told }: Said): JsonObject {
  const { type } = question;
  const name = question.name ?? null;
  if (type === 'predicate') return { type, name, probability: probabilities[0] ?? 0 };
  const sure = confidence ?? concentration(probabilities);
  if (type === 'choice') {
    const { choices } = question;
    const likeliest = told ?? probabilities.indexOf(Math.max(...probabilities));
    return {
      type,
      name,
      choice: choices[likeliest]?.value ?? null,
      confidence: sure,
      probabilities: choices.map(({ value }, at) => ({ value, probability: probabilities[at] ?? 0 })),
    };
  }
  return {
    type,
    name,
    score: told ?? probabilities.reduce((sum, p, level) => sum + p * level, 0),
    confidence: sure,
    probabilities: question.levels.map(({ label }, at) => ({ label, value: at, probability: probabilities[at] ?? 0 })),
  };
}

/** That a question is not answered. */
export function refusalOf({ name }: AskedQuestion): JsonObject {
  return { type: 'refusal', name: name ?? null };
}
