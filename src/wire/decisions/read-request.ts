import { BadRequestShape } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';

/** What one of several is chosen from: `true` and `"true"` are two values. */
interface Choice {
  readonly value: string | boolean;
  readonly description?: string;
}

/** A step of a score, the lowest first. */
interface Level {
  readonly label: string;
  readonly description?: string;
}

interface Common {
  /** Told again in the answer; answers come in the order of the questions. */
  readonly name?: string;
  readonly instructions: string;
}

/** A question as the shape has it. */
export type AskedQuestion =
  | (Common & { readonly type: 'predicate' })
  | (Common & { readonly type: 'choice'; readonly choices: readonly Choice[] })
  | (Common & { readonly type: 'score'; readonly levels: readonly Level[] });

/** What a question is about. */
export type InputPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string; readonly detail?: string };

const FEWEST_OPTIONS = 2;
/** // developers.openai.com/api/reference, resources/decisions: 2 to 255 choices */
const MOST_CHOICES = 255;
/** As many as any route takes: the local model does. // spec 4.4.5 */
const MOST_LEVELS = 20;
/** The longest set that a vendor promises to take. // docs.perplexity.ai, Decisions API: 1 to 128 questions */
const MOST_QUESTIONS = 128;
const MOST_NAME = 256;

/** The questions of a request. Throws `BadRequestShape`. */
export function readQuestions(value: Json | undefined): readonly AskedQuestion[] {
  if (!isArray(value) || value.length === 0 || value.length > MOST_QUESTIONS) {
    throw new BadRequestShape(
      `questions is required and must be an array of 1 to ${MOST_QUESTIONS} questions`,
      'questions',
    );
  }
  return value.map((question, at) => readQuestion(question, `questions[${at}]`));
}

function readQuestion(value: Json, at: string): AskedQuestion {
  if (!isObject(value)) throw new BadRequestShape('Each question must be an object', at);
  const { type, name, instructions } = value;
  if (typeof instructions !== 'string' || instructions.trim() === '') {
    throw new BadRequestShape('Each question must have instructions, a string', `${at}.instructions`);
  }
  if ((name ?? undefined) !== undefined && (typeof name !== 'string' || name.length > MOST_NAME)) {
    throw new BadRequestShape(`name must be a string of at most ${MOST_NAME} characters`, `${at}.name`);
  }
  const common = { ...(typeof name === 'string' && { name }), instructions };
  if (type === 'predicate') return { type, ...common };
  if (type === 'choice') return { type, ...common, choices: readChoices(value['choices'], `${at}.choices`) };
  if (type === 'score') return { type, ...common, levels: readLevels(value['levels'], `${at}.levels`) };
  throw new BadRequestShape('The type of each question must be one of predicate, choice, score', `${at}.type`);
}

function readChoices(value: Json | undefined, at: string): readonly Choice[] {
  const choices = listed(value, MOST_CHOICES, at).map((item): Choice => {
    const named = item['value'];
    if (typeof named === 'boolean' || (typeof named === 'string' && named !== '')) {
      return { value: named, ...described(item, at) };
    }
    throw new BadRequestShape('Each choice must have a value: a string, true or false', at);
  });
  if (new Set(choices.map((choice) => choice.value)).size === choices.length) return choices;
  throw new BadRequestShape('The choices of a question must have different values', at);
}

function readLevels(value: Json | undefined, at: string): readonly Level[] {
  return listed(value, MOST_LEVELS, at).map((item): Level => {
    const { label } = item;
    if (typeof label === 'string' && label !== '') return { label, ...described(item, at) };
    throw new BadRequestShape('Each level must have a label, a string', at);
  });
}

function listed(value: Json | undefined, most: number, at: string): readonly JsonObject[] {
  if (isArray(value) && value.length >= FEWEST_OPTIONS && value.length <= most && value.every(isObject)) return value;
  throw new BadRequestShape(`A question must have an array of ${FEWEST_OPTIONS} to ${most} objects here`, at);
}

function described({ description }: JsonObject, at: string): { readonly description?: string } {
  if (description === undefined || description === null) return {};
  if (typeof description === 'string') return { description };
  throw new BadRequestShape('description must be a string', at);
}

/** Whether there is any evidence; what it may hold is for those to say who read it. Throws `BadRequestShape`. */
export function checkInput(value: Json | undefined): void {
  if (typeof value === 'string' || (isArray(value) && value.length > 0)) return;
  throw new BadRequestShape('input is required and must be a string or an array of user messages', 'input');
}

/** The evidence of a request, message by message. Throws `BadRequestShape` for what only its own family understands. */
export function readInput(value: Json | undefined): readonly (readonly InputPart[])[] {
  checkInput(value);
  if (typeof value === 'string') return [[{ type: 'text', text: value }]];
  return (value as readonly Json[]).map((message) => {
    if (!isObject(message) || message['role'] !== 'user' || (message['type'] ?? 'message') !== 'message') {
      throw new BadRequestShape('input must be a string or an array of messages with the role user', 'input');
    }
    const { content } = message;
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    if (!isArray(content)) throw new BadRequestShape('content must be a string or an array of parts', 'input');
    return content.map(readPart);
  });
}

function readPart(part: Json): InputPart {
  if (isObject(part)) {
    const { type, text, image_url: url, detail } = part;
    if (type === 'input_text' && typeof text === 'string') return { type: 'text', text };
    if (type === 'input_image' && typeof url === 'string') {
      return { type: 'image', url, ...(typeof detail === 'string' && { detail }) };
    }
  }
  throw new BadRequestShape('The type of each content part must be one of input_text, input_image', 'input');
}
