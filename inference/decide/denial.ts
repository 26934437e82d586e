import type { TypedQuestion } from './typed-input.ts';

/** A question without a denial: its answer is to be turned where it was denied. */
export interface Affirmed extends TypedQuestion {
  readonly isDenied: boolean;
}

const DENIAL =
  /^\s*it(?:(?: is|['’]s) (?:not (?:true|the case)|false|untrue)| isn['’]t (?:true|the case)) that\s+(?=[^\s.,:;!?])/iu;
/** What follows is not denied. */
const GOES_ON = /[.:;!?]\s+\S|\b(?:but|instead|rather)\b/iu;

/**
 * A proposition without words before it that deny it (`It is not true that …`): asked so, its probability and that of its
 * denial make one, which a model that reads both learns by half. Words within a sentence that deny are left to the model.
 */
export function affirmed(question: TypedQuestion): Affirmed {
  if (question.type !== 'noul') return { ...question, isDenied: false };
  let { instructions } = question;
  let isDenied = false;
  for (let said = DENIAL.exec(instructions); said && !GOES_ON.test(instructions); said = DENIAL.exec(instructions)) {
    instructions = instructions.slice(said[0].length);
    isDenied = !isDenied;
  }
  const options = isDenied ? exchanged(question.options) : question.options;
  return { ...question, instructions, options, isDenied };
}

/** What it is like when the denial holds is what it is like when the proposition does not. */
function exchanged(options: TypedQuestion['options']): TypedQuestion['options'] {
  return options.map(({ name }, at) => ({ ...options.at(-1 - at), name }));
}
