import { BadRequestShape, type Ask } from '../hub/codec.ts';
import { setMember, type Edit, type WireDocument } from '../document/document.ts';
import { readEffort } from '../hub/effort.ts';
import { isObject } from '../document/json.ts';
import {
  MAX_ANSWERS,
  MAX_TOKENS,
  modelOf,
  optionalBoolean,
  optionalCount,
  optionalObject,
  refuseLookalikes,
} from '../request/request-shape.ts';
import { member } from '../document/scan.ts';

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
  const { model, modelNode } = modelOf(document);
  refuseLookalikes(document, CONTROLS);
  checkMessages(body['messages']);
  const stream = optionalBoolean(body, 'stream') ?? false;
  const options = optionalObject(body, 'stream_options');
  const answers = optionalCount(body, 'n', MAX_ANSWERS) ?? 1;
  // The larger of both names: a vendor may know only one of them.
  const now = optionalCount(body, 'max_completion_tokens', MAX_TOKENS);
  const before = optionalCount(body, 'max_tokens', MAX_TOKENS);
  const perAnswer = now === undefined || before === undefined ? (now ?? before) : Math.max(now, before);
  if (body['reasoning_effort'] !== undefined) readEffort(body['reasoning_effort'], 'reasoning_effort');
  const format = body['response_format'];
  return {
    model,
    modelNode,
    stream,
    includeUsage: options?.['include_usage'] === true,
    maxOutputTokens: perAnswer === undefined ? undefined : perAnswer * answers,
    answers,
    jsonAnswer: isObject(format) && format['type'] !== 'text',
    jsonSchema: isObject(format) && format['type'] === 'json_schema',
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
