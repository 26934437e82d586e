import { BadRequestShape, type Ask } from '../codec.ts';
import { isObject, setMember, type Edit, type JsonObject, type WireDocument } from '../document.ts';
import { member, type StringNode } from '../scan.ts';

/** Reads what routing and metering need of a chat request. Throws `BadRequestShape` naming the member. // spec 2.2 */
export function ask(document: WireDocument): Ask {
  const { body } = document;
  if (typeof body['model'] !== 'string' || body['model'] === '') {
    throw new BadRequestShape('model is required and must be a string: <provider>/<model>', 'model');
  }
  checkMessages(body['messages']);
  const stream = optionalBoolean(body, 'stream') ?? false;
  const options = body['stream_options'];
  if (options !== undefined && options !== null && !isObject(options)) {
    throw new BadRequestShape('stream_options must be an object', 'stream_options');
  }
  const answers = optionalCount(body, 'n') ?? 1;
  const perAnswer = optionalCount(body, 'max_completion_tokens') ?? optionalCount(body, 'max_tokens');
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
function optionalCount(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 1_000_000_000) {
    throw new BadRequestShape(`${name} must be a whole number of at least 1`, name);
  }
  return value;
}
