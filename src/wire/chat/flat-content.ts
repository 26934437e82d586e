import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { textPieces, type Piece } from './answer-texts.ts';

/** Members of choices that contain the message: of a whole answer, of a chunk. */
const HOLDERS = ['message', 'delta'];

/** Whether a choice has its content as a list of chunks, as one vendor's reasoning models do. // wire-formats 3.3 */
export function hasChunks(choice: JsonObject): boolean {
  for (const name of HOLDERS) {
    const holder = choice[name];
    if (isObject(holder) && Array.isArray(holder['content'])) return true;
  }
  return false;
}

/**
 * An answer, or a chunk of one, with its content as the family's clients know it: one text, with reasoning next to it.
 * Undefined where it is so already. // spec 2.3
 */
export function flatAnswer(body: JsonObject): JsonObject | undefined {
  const choices = Array.isArray(body['choices']) ? (body['choices'] as readonly Json[]) : [];
  for (const choice of choices)
    if (isObject(choice) && hasChunks(choice)) return { ...body, choices: choices.map(flatChoice) };
  return undefined;
}

function flatChoice(choice: Json): Json {
  if (!isObject(choice)) return choice;
  const flat: Record<string, Json | undefined> = { ...choice };
  for (const name of HOLDERS) {
    const holder = choice[name];
    if (isObject(holder) && Array.isArray(holder['content'])) flat[name] = flatHolder(holder, name === 'message');
  }
  return flat;
}

/** A whole message has a text even where nothing was said; a chunk has what it adds. */
function flatHolder(holder: JsonObject, whole: boolean): JsonObject {
  const { content: _chunks, ...rest } = holder;
  const pieces = textPieces(holder, () => {});
  const said = (type: Piece['type']): string => pieces.map((piece) => (piece.type === type ? piece.text : '')).join('');
  const text = said('text');
  const thoughts = said('reasoning');
  const refusal = said('refusal');
  return {
    ...rest,
    ...(text !== '' || whole ? { content: text } : {}),
    ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
    ...(refusal === '' ? {} : { refusal }),
  };
}
