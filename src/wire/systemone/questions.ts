import { BadRequestShape } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';
import { estimatedTokens } from '../answer/usage.ts';

/** What can be asked. // spec 2.6 */
type QuestionType = 'noul' | 'choice' | 'score';
export const QUESTION_TYPES: ReadonlySet<string> = new Set<QuestionType>(['noul', 'choice', 'score']);

/** A question as the client asked it and as the model reads it. */
export interface Question {
  /** The client's name for it. */
  readonly id: string;
  readonly type: QuestionType;
  /** Options of a choice or levels of a score, as the client wrote them. */
  readonly named: readonly string[];
  /** Without the characters that the model keeps for itself. // spec 4.4.5 */
  readonly instructions: string;
  /** As `named`; of a `noul`, that it holds and that it does not. */
  readonly options: readonly { readonly name: string; readonly description?: string }[];
}

const MOST_QUESTIONS = 16;
const FEWEST_OPTIONS = 2;
const MOST_OPTIONS = 20;
const MOST_BYTES = 64 * 1024;
const MOST_TOKENS = 1000;
/** Characters that the model keeps for itself. // spec 4.4.5 */
export const KEPT_BY_MODEL = /[[\]()`]/g;

/**
 * The set of questions of a request. `bounded`: as it was sent; data protection may have made it longer since. Throws
 * `BadRequestShape`: 422 without one, 413 for a large one, 400 for one that is wrong. // spec 4.4.5
 */
export function readQuestions(value: Json | undefined, bounded = true): readonly Question[] {
  if (value === undefined || value === null) {
    throw new BadRequestShape('questions is required and must be an object of questions by name', 'questions', 422);
  }
  if (!isObject(value)) throw new BadRequestShape('questions must be an object of questions by name', 'questions');
  if (bounded && Buffer.byteLength(JSON.stringify(value)) > MOST_BYTES) {
    throw new BadRequestShape(`questions may have at most ${MOST_BYTES} bytes of JSON`, 'questions', 413);
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > MOST_QUESTIONS) {
    throw new BadRequestShape(`questions must have 1 to ${MOST_QUESTIONS} questions`, 'questions');
  }
  const questions = entries.map(([id, question]) => readQuestion(id, question));
  if (bounded && estimatedTokens(lengthOf(questions)) > MOST_TOKENS) {
    throw new BadRequestShape(`questions may have about ${MOST_TOKENS} tokens in total`, 'questions');
  }
  return questions;
}

/** What a model says that reads questions whole or not at all. `at`: which one is too long; undefined: all of them together. */
export function tooLong(questions: readonly Question[], at: number | undefined): BadRequestShape {
  const question = at === undefined ? undefined : questions[at];
  if (!question) {
    return new BadRequestShape(
      `questions have more than about ${MOST_TOKENS} tokens in total, as the model counts them`,
      'questions',
    );
  }
  return new BadRequestShape(
    'This question is too long for the model: its instructions, an option, or both together with the state',
    `questions.${question.id}`,
  );
}

/** Characters of questions, as the model reads them. */
export function lengthOf(questions: readonly Question[]): number {
  return questions.reduce((sum, { type, instructions, options }) => {
    // That a proposition holds or does not is no text of the client's.
    const told = options.map(({ name, description = '' }) => (type === 'noul' ? description : name + description));
    return sum + instructions.length + told.join('').length;
  }, 0);
}

function readQuestion(id: string, value: Json | undefined): Question {
  const at = 'questions';
  if (!isObject(value)) throw new BadRequestShape('Each question must be an object', at);
  const { type } = value;
  if (typeof type !== 'string' || !QUESTION_TYPES.has(type)) {
    throw new BadRequestShape('The type of each question must be one of noul, choice, score', at);
  }
  const instructions = readable(value['instructions']);
  if (instructions === '') throw new BadRequestShape('Each question must have instructions', at);
  const common = { id, type: type as QuestionType, instructions };
  const criteria = value['criteria'] ?? undefined;
  if (type === 'noul') return { ...common, named: [], options: propositionOf(criteria) };
  const given = type === 'choice' ? choicesOf(criteria) : levelsOf(criteria);
  return { ...common, named: given.map(({ named }) => named), options: distinct(given) };
}

/** Descriptions of what it is like when a proposition holds, and when it does not. */
function propositionOf(criteria: Json | undefined): Question['options'] {
  if (criteria !== undefined && !isObject(criteria)) {
    throw new BadRequestShape('criteria of a noul must be an object with true and false', 'questions');
  }
  const other = Object.keys(criteria ?? {}).find((name) => name !== 'true' && name !== 'false');
  if (other !== undefined) throw new BadRequestShape('criteria of a noul must have only true and false', 'questions');
  return ['true', 'false'].map((name) => ({ name, ...described(criteria?.[name]) }));
}

interface Given {
  readonly named: string;
  readonly description?: string;
}

function choicesOf(criteria: Json | undefined): readonly Given[] {
  if (isArray(criteria))
    return enough(
      criteria.map((name) => ({ named: textOf(name) })),
      'options',
    );
  if (!isObject(criteria)) {
    throw new BadRequestShape(
      'criteria of a choice must be its options, an object with descriptions or an array',
      'questions',
    );
  }
  return enough(
    Object.entries(criteria).map(([named, description]) => ({ named, ...described(description) })),
    'options',
  );
}

function levelsOf(criteria: Json | undefined): readonly Given[] {
  if (!isArray(criteria)) {
    throw new BadRequestShape('criteria of a score must be an array of levels, lowest first', 'questions');
  }
  return enough(
    criteria.map((level) => ({ named: textOf(level) })),
    'levels',
  );
}

function enough(given: readonly Given[], what: string): readonly Given[] {
  if (given.length >= FEWEST_OPTIONS && given.length <= MOST_OPTIONS) return given;
  throw new BadRequestShape(`A question must have ${FEWEST_OPTIONS} to ${MOST_OPTIONS} ${what}`, 'questions');
}

/** Options as the model reads them: none may be empty, and no two the same. // spec 4.4.5 */
function distinct(given: readonly Given[]): Question['options'] {
  const seen = new Set<string>();
  return given.map(({ named, description }) => {
    const name = withoutKept(named);
    if (name === '')
      throw new BadRequestShape('An option must have text other than [ ] ( ) and backticks', 'questions');
    if (seen.has(name)) {
      throw new BadRequestShape(
        'The options of a question must differ in more than [ ] ( ) and backticks',
        'questions',
      );
    }
    seen.add(name);
    return { name, ...(description !== undefined && { description }) };
  });
}

function described(value: Json | undefined): { readonly description?: string } {
  if (value === undefined || value === null) return {};
  const description = readable(value);
  return description === '' ? {} : { description };
}

function readable(value: Json | undefined): string {
  return value === undefined || value === null ? '' : withoutKept(textOf(value));
}

/** Text, or a structure as its JSON. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (isArray(value) || isObject(value)) return JSON.stringify(value satisfies JsonObject | readonly Json[]);
  throw new BadRequestShape('instructions and criteria must be strings', 'questions');
}

/** A text without the characters that the model keeps for itself. // spec 4.4.5 */
export function withoutKept(text: string): string {
  return text.replace(KEPT_BY_MODEL, '').trim();
}
