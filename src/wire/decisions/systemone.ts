import { BadRequestShape } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { simpleUsage } from '../hub/plain-codec.ts';
import { writeUsage } from '../responses/usage.ts';
import { answerTo, type Said } from './answers.ts';
import { readInput, readQuestions, type AskedQuestion } from './read-request.ts';

/** Maximum options in the other shape. */
export interface OptionBounds {
  /** As the client knows it. */
  readonly model: string;
  readonly choices: number;
  readonly levels: number;
}

/**
 * A request for decisions in the shape of the family `systemone`, to which it maps one to one: predicate to noul, choices
 * and levels to criteria, names to ids. Throws `BadRequestShape` for what that shape does not have.
 * // docs.fireworks.ai/api-reference/post-decisions
 */
export function toSystemOne(body: JsonObject, bounds?: OptionBounds): JsonObject {
  const questions = readQuestions(body['questions']);
  if (bounds) questions.forEach((question, at) => refuseMany(question, at, bounds));
  const ids = idsOf(questions);
  return {
    model: body['model'] ?? null,
    state: stateOf(body['input']),
    questions: Object.fromEntries(questions.map((question, at) => [ids[at] ?? '', criteriaOf(question, at)])),
  };
}

function stateOf(input: Json | undefined): Json {
  const texts = readInput(input).map((parts) =>
    parts
      .map((part) => {
        if (part.type === 'text') return part.text;
        throw new BadRequestShape('This model takes text only: remove input_image', 'input');
      })
      .join('\n'),
  );
  return texts.length === 1 ? (texts[0] ?? '') : texts;
}

/** Ids by which a question is answered: its name, unless another has it. */
function idsOf(questions: readonly AskedQuestion[]): readonly string[] {
  const seen = new Set<string>(questions.map(({ name }) => name ?? ''));
  const used = new Set<string>();
  return questions.map(({ name = '' }, at) => {
    let id = name;
    for (let number = at + 1; id === '' || used.has(id); number++) {
      const next = `question ${number}`;
      if (!seen.has(next)) id = next;
    }
    used.add(id);
    seen.add(id);
    return id;
  });
}

function criteriaOf(question: AskedQuestion, at: number): JsonObject {
  const { type, instructions } = question;
  if (type === 'predicate') return { type: 'noul', instructions };
  if (type === 'score') {
    const criteria = question.levels.map(({ label, description }) => {
      return description === undefined ? label : `${label}: ${description}`;
    });
    return { type, instructions, criteria };
  }
  const criteria = Object.fromEntries(question.choices.map((one) => [String(one.value), one.description ?? null]));
  if (Object.keys(criteria).length === question.choices.length) return { type, instructions, criteria };
  const message = 'This model cannot tell true from "true": the choices must differ as text';
  throw new BadRequestShape(message, `questions[${at}].choices`);
}

function refuseMany(question: AskedQuestion, at: number, { model, choices, levels }: OptionBounds): void {
  const [name, given, most] =
    question.type === 'choice'
      ? (['choices', question.choices.length, choices] as const)
      : (['levels', question.type === 'score' ? question.levels.length : 0, levels] as const);
  if (given <= most) return;
  const message =
    `${model} takes 2 to ${most} ${name} per question, and this one has ${given}. ` +
    'gw/typed takes 20 of both; other models take up to 255 choices and, unless they state fewer, 20 levels';
  throw new BadRequestShape(message, `questions[${at}].${name}`);
}

/**
 * An answer of the family `systemone` in this shape; `body`: the request. Undefined unless it answers each of the
 * questions.
 */
export function fromSystemOne(answer: JsonObject, body: JsonObject): JsonObject | undefined {
  const questions = readQuestions(body['questions']);
  const ids = idsOf(questions);
  const given = answer['answers'];
  if (!isObject(given)) return undefined;
  const answers = questions.map((question, at) => {
    const id = ids[at] ?? '';
    const one = Object.hasOwn(given, id) ? given[id] : undefined;
    const said = isObject(one) ? judgedText(question, one) : undefined;
    if (!said || !isObject(one)) return undefined;
    const sure = one['answer_confidence'];
    return { ...answerTo(question, said), ...(typeof sure === 'number' && { answer_confidence: sure }) };
  });
  if (answers.includes(undefined)) return undefined;
  const { model = null, revision, usage } = answer;
  const used = isObject(usage) ? simpleUsage(usage['input_tokens'], usage['output_tokens']) : undefined;
  return {
    model,
    answers: answers as JsonObject[],
    ...(typeof revision === 'string' && { revision }),
    ...(used && { usage: writeUsage(used) }),
  };
}

function judgedText(question: AskedQuestion, answer: JsonObject): Said | undefined {
  if (question.type === 'predicate') {
    const holds = answer['noul'];
    return isShare(holds) ? { probabilities: [holds] } : undefined;
  }
  const { probabilities, confidence, choice, score } = answer;
  if (!isObject(probabilities)) return undefined;
  const names =
    question.type === 'choice'
      ? question.choices.map(({ value }) => String(value))
      : question.levels.map((_, level) => String(level));
  const told = names.map((name) => (Object.hasOwn(probabilities, name) ? probabilities[name] : 0));
  const chosen = question.type === 'score' ? score : typeof choice === 'string' ? names.indexOf(choice) : -1;
  if (!told.every(isShare) || typeof chosen !== 'number' || !Number.isFinite(chosen) || chosen < 0) return undefined;
  return { probabilities: told, told: chosen, ...(isShare(confidence) && { confidence }) };
}

function isShare(value: Json | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}
