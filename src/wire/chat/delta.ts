import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { thinkingText } from './decode-content.ts';

/** Some text of an answer, and what kind of text it is. */
export interface Piece {
  readonly type: 'text' | 'reasoning' | 'refusal';
  readonly text: string;
}

/** What is known of a tool call in one chunk, or of a whole one. */
export interface CallPiece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly argumentsJson: string;
}

/** Content chunks that say nothing of their own: sources, and files made by a tool. */
const SILENT_CHUNKS = new Set(['reference', 'tool_file', 'image_url', 'document_url']);

/**
 * The texts of a delta or a message, under all the names that vendors give them, reasoning first. `warn` is
 * told of a content chunk that is not understood. // wire-formats 3.3
 */
export function textPieces(delta: JsonObject, warn: (message: string) => void): Piece[] {
  const pieces: Piece[] = [];
  const add = (type: Piece['type'], text: Json | undefined): void => {
    if (typeof text === 'string' && text !== '') pieces.push({ type, text });
  };
  add('reasoning', reasoningText(delta));
  const { content } = delta;
  if (typeof content === 'string') add('text', content);
  else if (Array.isArray(content)) {
    for (const chunk of content as readonly Json[]) {
      if (!isObject(chunk)) add('text', chunk);
      else if (chunk['type'] === 'text') add('text', chunk['text']);
      else if (chunk['type'] === 'thinking') add('reasoning', thinkingText(chunk['thinking']));
      else if (chunk['type'] === 'refusal') add('refusal', chunk['refusal']);
      else if (!isSilent(chunk['type'])) warn('a content chunk of an unknown type');
    }
  }
  add('refusal', delta['refusal']);
  return pieces;
}

function isSilent(type: Json | undefined): boolean {
  return typeof type === 'string' && SILENT_CHUNKS.has(type);
}

/** Vendors that have two names for it say the same under both. */
function reasoningText(delta: JsonObject): string {
  for (const name of ['reasoning_content', 'reasoning']) {
    const text = delta[name];
    if (typeof text === 'string' && text !== '') return text;
  }
  const details = delta['reasoning_details'];
  if (!Array.isArray(details)) return '';
  const texts = (details as readonly Json[]).map((item) => (isObject(item) ? (item['text'] ?? item['summary']) : ''));
  return texts.filter((text) => typeof text === 'string').join('');
}

/** The tool calls of a delta or a message, the one of the old kind among them. */
export function callPieces(delta: JsonObject): CallPiece[] {
  const pieces: CallPiece[] = [];
  const calls = Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as readonly Json[]) : [];
  for (const call of calls) {
    if (!isObject(call)) continue;
    const { id, index } = call;
    pieces.push({
      index: typeof index === 'number' ? index : undefined,
      id: typeof id === 'string' && id !== '' && id !== 'null' ? id : undefined,
      ...calledFunction(call['function']),
    });
  }
  if (isObject(delta['function_call'])) {
    pieces.push({ index: 0, id: undefined, ...calledFunction(delta['function_call']) });
  }
  return pieces;
}

function calledFunction(called: Json | undefined): Pick<CallPiece, 'name' | 'argumentsJson'> {
  if (!isObject(called)) return { name: '', argumentsJson: '' };
  const { name, arguments: written } = called;
  const argumentsJson = typeof written === 'string' ? written : isObject(written) ? JSON.stringify(written) : '';
  return { name: typeof name === 'string' ? name : '', argumentsJson };
}
