import type { TypedQuestion } from './typed-input.ts';

/** A question without a denial: its answer is to be turned where it was denied. */
export interface Affirmed extends TypedQuestion {
  readonly isDenied: boolean;
}

const DENIAL =
  /^\s*it(?:(?: is|['’]s) (?:not (?:true|the case)|false|untrue)| isn['’]t (?:true|the case)) that\s+(?=[^\s.,:;!?])/iu;
/** What may follow another clause, which is not denied. */
const GOES_ON = /[,:;\n\r\u2013\u2014]|[.!?]\s+\S|\s-\s|\b(?:but|instead|so|however|though|although|yet)\b/iu;

/**
 * A proposition of one clause without words before it that deny it (`It is not true that …`): asked so, its probability and
 * that of its denial make one, which a model that reads both learns by half. All else that denies is left to the model.
 * What it is like when it holds and when it does not (`options`) is exchanged.
 */
export function affirmed(question: TypedQuestion): Affirmed {
  if (question.type !== 'noul' || GOES_ON.test(question.instructions)) return { ...question, isDenied: false };
  let { instructions } = question;
  let isDenied = false;
  for (let said = DENIAL.exec(instructions); said; said = DENIAL.exec(instructions)) {
    instructions = instructions.slice(said[0].length);
    isDenied = !isDenied;
  }
  const options = isDenied ? exchanged(question.options) : question.options;
  return { ...question, instructions, options, isDenied };
}

/** What it is like when the denial holds is what it is like when the proposition does not. */
export function exchanged(options: TypedQuestion['options']): TypedQuestion['options'] {
  return options.map(({ name }, at) => ({ ...options.at(-1 - at), name }));
}
