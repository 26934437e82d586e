import { BadRequestShape, type Ask } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { readEffort } from '../hub/effort.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { says } from '../hub/defined-members.ts';
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
  'input',
  'instructions',
  'stream',
  'background',
  'store',
  'max_output_tokens',
  'previous_response_id',
  'conversation',
  'prompt',
  'service_tier',
];

/** Members that let a provider answer without an input of this request: it has kept one. */
const KEPT = ['prompt', 'previous_response_id', 'conversation'];

/** Reads what routing and metering need of a responses request. Throws `BadRequestShape` naming the member. */
export function ask(document: WireDocument): Ask {
  const { body } = document;
  const { model, modelNode } = modelOf(document);
  refuseLookalikes(document, CONTROLS);
  checkInput(body);
  const background = optionalBoolean(body, 'background') === true;
  if (background && optionalBoolean(body, 'stream')) {
    throw new BadRequestShape(
      'background and stream must not both be true: fetch the response by its id',
      'background',
    );
  }
  readEffort(optionalObject(body, 'reasoning')?.['effort'], 'reasoning.effort');
  const format = optionalObject(body, 'text')?.['format'];
  return {
    model,
    modelNode,
    stream: optionalBoolean(body, 'stream') ?? false,
    // It is part of every stream's last event.
    includeUsage: true,
    maxOutputTokens: optionalCount(body, 'max_output_tokens', MAX_TOKENS),
    answers: 1,
    jsonAnswer: isObject(format) && format['type'] !== 'text',
    jsonSchema: isObject(format) && format['type'] === 'json_schema',
    ...(background && { background }),
  };
}

function checkInput(body: JsonObject): void {
  const input = body['input'] ?? undefined;
  if (input === undefined && KEPT.some((name) => says(body[name]))) return;
  if (typeof input === 'string') return;
  if (!isArray(input) || input.length === 0) {
    throw new BadRequestShape('input is required and must be a string or a non-empty array of items', 'input');
  }
  for (const [index, item] of input.entries()) {
    if (!isObject(item) || (typeof item['type'] !== 'string' && typeof item['role'] !== 'string')) {
      throw new BadRequestShape(`input[${index}] must be an object with a type or a role`, `input[${index}]`);
    }
  }
}
