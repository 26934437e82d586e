import { dialectOf } from '../request/cloud-dialect.ts';
import { BadRequestShape, KeptThread, type Ask } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import {
  isArray,
  MAX_TOKENS,
  modelOf,
  optionalBoolean,
  optionalCount,
  optionalObject,
  refuseLookalikes,
} from '../request/request-shape.ts';

/** Members that decide about a call. A parser that ignores case would read another one for them. */
const CONTROLS = [
  'model',
  'messages',
  'system',
  'stream',
  'max_tokens',
  'mcp_servers',
  'thread',
  'service_tier',
  'betas',
  'anthropic_beta',
  'inference_geo',
];

/** Reads what routing and metering need of a messages request. Throws `BadRequestShape` naming the member. // spec 2.7 */
export function ask(document: WireDocument): Ask {
  const { body } = document;
  const { model, modelNode } = modelOf(document);
  refuseLookalikes(document, CONTROLS);
  // Tags are numbered over a whole conversation, and other families keep none: nothing may be left with a provider.
  if ((body['thread'] ?? undefined) !== undefined) throw new KeptThread();
  checkMessages(body['messages']);
  // 0 asks for nothing but to warm the prompt cache.
  const maxOutputTokens = optionalCount(body, 'max_tokens', MAX_TOKENS, 0);
  if (maxOutputTokens === undefined) throw new BadRequestShape('max_tokens is required', 'max_tokens');
  const jsonSchema = answerFormat(body)?.['type'] === 'json_schema';
  const dialect = dialectOf(body['anthropic_version']);
  return {
    model,
    modelNode,
    stream: optionalBoolean(body, 'stream') ?? false,
    // It is part of every stream.
    includeUsage: true,
    maxOutputTokens,
    answers: 1,
    jsonAnswer: jsonSchema,
    jsonSchema,
    ...(dialect && { dialect }),
  };
}

/** The format asked for, by its name of today or by the one before it. Throws `BadRequestShape`. */
export function answerFormat(body: JsonObject): JsonObject | undefined {
  const config = optionalObject(body, 'output_config') ?? {};
  return optionalObject(config, 'format', 'output_config.format') ?? optionalObject(body, 'output_format');
}

function checkMessages(messages: Json | undefined): void {
  if (!isArray(messages) || messages.length === 0) {
    throw new BadRequestShape('messages is required and must be a non-empty array', 'messages');
  }
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    if (!isObject(message) || typeof message['role'] !== 'string') {
      throw new BadRequestShape(`${param} must be an object with a role`, param);
    }
    const content = message['content'] ?? undefined;
    if (typeof content === 'string' || (content === undefined && message['role'] === 'system')) continue;
    if (!isArray(content)) {
      throw new BadRequestShape(`${param}.content must be a string or an array of blocks`, `${param}.content`);
    }
    refuseFiles(content, `${param}.content`);
  }
}

/** Files kept at the vendor are another account's. // spec 4.5.5 */
function refuseFiles(content: readonly Json[], param: string): void {
  for (const [index, block] of content.entries()) {
    const at = `${param}[${index}]`;
    if (!isObject(block)) throw new BadRequestShape(`${at} must be an object`, at);
    const { source } = block;
    if (isObject(source)) {
      if (source['type'] === 'file' || (source['file_id'] ?? undefined) !== undefined) {
        throw new BadRequestShape('Files are not supported: send the content in the request', `${at}.source`);
      }
      if (isArray(source['content'])) refuseFiles(source['content'], `${at}.source.content`);
    }
    if (block['type'] === 'tool_result' && isArray(block['content'])) refuseFiles(block['content'], `${at}.content`);
  }
}
