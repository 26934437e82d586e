import type { Family } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { KeptKind } from './table.ts';

/** An object that an answer says the provider keeps from now on. */
export interface KeptMade {
  readonly kind: KeptKind;
  readonly id: string;
}

/** What the request asked to be kept. */
export interface Keeps {
  /** The answer and its items are kept, so that a later request can go on from them. */
  readonly answer: boolean;
}

/** In which texts of answers and events something may be made. */
interface Making {
  /** Whether the provider keeps the answer to a request under its id; absent: never. */
  readonly keepsAnswer?: (body: JsonObject) => boolean;
  /** Where the answer is kept, and where it is not. */
  readonly ofKept: RegExp;
  readonly ofOthers: RegExp;
}

const RESPONSE_EVENTS =
  /"object"\s*:\s*"response"|"type"\s*:\s*"response\.(?:created|output_item\.(?:added|done)|completed|incomplete|failed)"/;
const SOUND = /"audio"\s*:\s*\{/;

/** By family; in those that are not here nothing is ever made. */
export const MAKING: { readonly [F in Family]?: Making } = {
  responses: {
    // By default it does.
    keepsAnswer: (body) => body['store'] !== false || isObject(body['prompt_cache_options']),
    ofKept: RESPONSE_EVENTS,
    ofOthers: /"container_id"\s*:/,
  },
  messages: {
    keepsAnswer: (body) => isObject(body['diagnostics']),
    ofKept: /"container"\s*:\s*\{|"file_id"\s*:|"message_start"|"type"\s*:\s*"message"/,
    ofOthers: /"container"\s*:\s*\{|"file_id"\s*:/,
  },
  chat: { ofKept: SOUND, ofOthers: SOUND },
};

/**
 * Objects that an answer, or one event of a stream, says are stored. Only members that the provider writes are read:
 * model output (arguments, inputs of tools) could name objects of others.
 */
export function madeIn(family: Family, body: JsonObject, keeps: Keeps): readonly KeptMade[] {
  switch (family) {
    case 'responses':
      return madeByResponse(body, keeps);
    case 'messages':
      return madeByMessage(body, keeps);
    case 'chat':
      return madeByChat(body);
    default:
      return [];
  }
}

function madeByResponse(body: JsonObject, keeps: Keeps): readonly KeptMade[] {
  const response = isObject(body['response']) ? body['response'] : body;
  const { item } = body;
  const items = [...listOf(response['output']), ...(isObject(item) ? [item] : [])];
  const made = items.flatMap((one) => [
    ...(keeps.answer ? named('item', one['id']) : []),
    ...(one['type'] === 'code_interpreter_call' ? named('container', one['container_id']) : []),
  ]);
  const isResponse = response['object'] === 'response';
  return [...(keeps.answer && isResponse ? named('response', response['id']) : []), ...made];
}

function madeByMessage(body: JsonObject, keeps: Keeps): readonly KeptMade[] {
  const message = isObject(body['message']) ? body['message'] : body;
  const { content_block: block, delta } = body;
  const blocks = [...listOf(message['content']), ...(isObject(block) ? [block] : [])];
  const container = isObject(delta) && isObject(delta['container']) ? delta['container'] : message['container'];
  return [
    ...(keeps.answer && message['type'] === 'message' ? named('message', message['id']) : []),
    ...(isObject(container) ? named('container', container['id']) : []),
    ...blocks.flatMap(filesOfBlock),
  ];
}

/** Files that code which the provider runs has written. */
function filesOfBlock(block: JsonObject): readonly KeptMade[] {
  const { type, content } = block;
  if (typeof type !== 'string' || !/^(?:bash_)?code_execution_tool_result$/.test(type) || !isObject(content)) return [];
  return listOf(content['content']).flatMap((one) => named('file', one['file_id']));
}

function madeByChat(body: JsonObject): readonly KeptMade[] {
  return listOf(body['choices']).flatMap(({ message, delta }) => {
    const said = isObject(message) ? message : delta;
    return isObject(said) && isObject(said['audio']) ? named('sound', said['audio']['id']) : [];
  });
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];
}

function named(kind: KeptKind, id: Json | undefined): readonly KeptMade[] {
  return typeof id === 'string' && id !== '' && id.length <= 512 ? [{ kind, id }] : [];
}

/**
 * What the provider made for an object, as the object tells it: items of a response, what a batch gave, and what the parts
 * of an upload became. What it was given was named by a client, and is not its own.
 */
export function madeBeside(kind: KeptKind, body: JsonObject): readonly KeptMade[] {
  const { output_file_id: output, error_file_id: errors, file } = body;
  if (kind === 'response') {
    // The items of a response that was made in the background are first reported now.
    return madeIn('responses', body, { answer: true }).filter((made) => made.kind !== 'response');
  }
  if (kind === 'batch') return [...named('file', output), ...named('file', errors)];
  return kind === 'upload' && isObject(file) ? named('file', file['id']) : [];
}
