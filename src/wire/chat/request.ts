import { BadRequestShape, type Ask } from '../codec.ts';
import { isExtension, setMember, type Edit, type WireDocument } from '../document.ts';
import { isObject, type JsonObject } from '../json.ts';
import { member, type StringNode } from '../scan.ts';

/** Letters, digits and what vendors put between them; short enough for every audit row. */
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,255}$/;
const MAX_ANSWERS = 128;
const MAX_TOKENS = 10_000_000;

/** Members that decide about a call. A parser that ignores case would read another one for them. */
const CONTROLS = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'service_tier',
];

/** Reads what routing and metering need of a chat request. Throws `BadRequestShape` naming the member. // spec 2.2 */
export function ask(document: WireDocument): Ask {
  const { body } = document;
  if (typeof body['model'] !== 'string' || !MODEL_ID.test(body['model'])) {
    throw new BadRequestShape('model is required and must be a model id: <provider>/<model>', 'model');
  }
  refuseLookalikes(document);
  checkMessages(body['messages']);
  const stream = optionalBoolean(body, 'stream') ?? false;
  const options = body['stream_options'];
  if (options !== undefined && options !== null && !isObject(options)) {
    throw new BadRequestShape('stream_options must be an object', 'stream_options');
  }
  const answers = optionalCount(body, 'n', MAX_ANSWERS) ?? 1;
  const perAnswer = outputCeiling(body);
  const format = body['response_format'];
  return {
    model: body['model'],
    modelNode: member(document.root, 'model') as StringNode,
    stream,
    includeUsage: isObject(options) && options['include_usage'] === true,
    maxOutputTokens: perAnswer === undefined ? undefined : perAnswer * answers,
    answers,
    jsonAnswer: isObject(format) && format['type'] !== 'text',
  };
}

/** Edits that make a streaming request ask for the usage frame, keeping the client's other stream options. */
export function askForUsage(document: WireDocument): readonly Edit[] {
  const options = member(document.root, 'stream_options');
  if (options?.kind === 'object') return [setMember(options, 'include_usage', 'true')];
  return [setMember(document.root, 'stream_options', '{"include_usage":true}')];
}

/** The larger of both names: a vendor may know only one of them. */
function outputCeiling(body: JsonObject): number | undefined {
  const now = optionalCount(body, 'max_completion_tokens', MAX_TOKENS);
  const before = optionalCount(body, 'max_tokens', MAX_TOKENS);
  return now === undefined || before === undefined ? (now ?? before) : Math.max(now, before);
}

function refuseLookalikes({ body }: WireDocument): void {
  for (const name in body) {
    const folded = name.normalize('NFKC').toLowerCase();
    if (folded !== name && (CONTROLS.includes(folded) || isExtension(folded))) {
      throw new BadRequestShape('a member differs from a known one in nothing but case', folded);
    }
  }
}

function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new BadRequestShape('messages is required and must be a non-empty array', 'messages');
  }
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || typeof message['role'] !== 'string') {
      throw new BadRequestShape(`messages[${index}] must be an object with a role`, `messages[${index}]`);
    }
    const { content } = message;
    if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
      const param = `messages[${index}].content`;
      throw new BadRequestShape(`${param} must be a string or an array of content parts`, param);
    }
  }
}

function optionalBoolean(body: JsonObject, name: string): boolean | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw new BadRequestShape(`${name} must be a boolean`, name);
  return value;
}

/** A count that a price ceiling is computed from: a whole number from 1, small enough to be meant. */
function optionalCount(body: JsonObject, name: string, most: number): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > most) {
    throw new BadRequestShape(`${name} must be a whole number from 1 to ${most}`, name);
  }
  return value;
}
