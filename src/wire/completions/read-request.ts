import { decodeSampling } from '../chat/decode-request.ts';
import type { Lose, ModelRequest } from '../hub/canonical.ts';
import { BadRequestShape, type Ask } from '../hub/codec.ts';
import { EXTENSION, type WireDocument } from '../document/document.ts';
import type { Json } from '../document/json.ts';
import { defined, says } from '../hub/defined-members.ts';
import {
  isArray,
  MAX_ANSWERS,
  MAX_TOKENS,
  modelOf,
  optionalBoolean,
  optionalCount,
  optionalObject,
  optionalString,
  refuseLookalikes,
} from '../request/request-shape.ts';

/** Members that decide about a call. */
const CONTROLS = ['model', 'prompt', 'stream', 'stream_options', 'n', 'best_of', 'max_tokens'];

/** Members that cross, or that say nothing to another family. */
const CROSSING = new Set([
  ...CONTROLS.filter((name) => name !== 'best_of'),
  ...['temperature', 'top_p', 'top_k', 'stop', 'seed', 'presence_penalty', 'frequency_penalty', 'user'],
]);

/** Reads what routing and metering need of a request for a plain completion. Throws `BadRequestShape`. */
export function ask(document: WireDocument): Ask {
  const { body } = document;
  refuseLookalikes(document, CONTROLS);
  const prompts = promptCount(body['prompt']);
  const answers = prompts * (optionalCount(body, 'n', MAX_ANSWERS) ?? 1);
  const drawn = Math.max(answers, prompts * (optionalCount(body, 'best_of', MAX_ANSWERS) ?? 1));
  const perAnswer = optionalCount(body, 'max_tokens', MAX_TOKENS, 0);
  return {
    ...modelOf(document),
    stream: optionalBoolean(body, 'stream') ?? false,
    includeUsage: optionalObject(body, 'stream_options')?.['include_usage'] === true,
    maxOutputTokens: perAnswer === undefined ? undefined : perAnswer * drawn,
    answers: drawn,
    jsonAnswer: false,
    jsonSchema: false,
  };
}

/** A prompt is a text or a list of tokens; there may be several. Throws `BadRequestShape`. */
function promptCount(prompt: Json | undefined): number {
  if (typeof prompt === 'string') return 1;
  if (!isArray(prompt) || prompt.length === 0) {
    throw new BadRequestShape('prompt is required and must be a string or a non-empty array', 'prompt');
  }
  return typeof prompt[0] === 'number' ? 1 : prompt.length;
}

/** A request in the hub's words: the prompt is what the user says. Throws `BadRequestShape`. */
export function decodeRequest(document: WireDocument, lose: Lose): ModelRequest {
  const { body } = document;
  if ((body['n'] ?? 1) !== 1) throw new BadRequestShape('n must be 1 for this model', 'n');
  for (const name in body) if (!CROSSING.has(name) && !EXTENSION.test(name) && says(body[name])) lose(name);
  return defined<ModelRequest>({
    model: modelOf(document).model,
    stream: body['stream'] === true,
    system: [],
    turns: [{ role: 'user', parts: [{ type: 'text', text: onlyPrompt(body['prompt']) }] }],
    tools: [],
    maxOutputTokens: optionalCount(body, 'max_tokens', MAX_TOKENS, 0),
    ...decodeSampling(body),
    user: optionalString(body, 'user'),
  });
}

function onlyPrompt(prompt: Json | undefined): string {
  const only = isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof only === 'string') return only;
  throw new BadRequestShape('prompt must be a single string for this model', 'prompt');
}
