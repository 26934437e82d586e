import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { thinkingText } from './decode-content.ts';

/** Some text of an answer, and what kind of text it is. */
export interface Piece {
  readonly type: 'text' | 'reasoning' | 'refusal';
  readonly text: string;
}

/** The parts of a tool call in one chunk, or of a whole one. */
export interface CallPiece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly argumentsJson: string;
}

/**
 * Members of a message, or of a stream's delta, that hold text of the answer, in the order in which they are read. Both
 * modes read streams and whole answers by this table: a new text is one row here. Members of one part say the same under
 * several names; the first that says anything counts. // wire-formats 3.3
 */
export const ANSWER_TEXTS: Readonly<Record<string, AnswerText>> = {
  reasoning_content: { part: 'reasoning' },
  reasoning: { part: 'reasoning' },
  reasoning_details: { part: 'reasoning', isList: true },
  content: { part: 'text', isAnswer: true },
  refusal: { part: 'refusal' },
};

interface AnswerText {
  /** What it is to the hub. */
  readonly part: Piece['type'];
  /** A list of objects with a `text` or a `summary`. */
  readonly isList?: true;
  /** The answer itself: JSON where JSON was asked for; text, or a list of chunks. */
  readonly isAnswer?: true;
}

/** Chunks of content that hold text, by their type. */
export const CHUNK_TEXTS: Readonly<Record<string, { readonly part: Piece['type']; readonly member: string }>> = {
  text: { part: 'text', member: 'text' },
  thinking: { part: 'reasoning', member: 'thinking' },
  refusal: { part: 'refusal', member: 'refusal' },
};

/** Content chunks that say nothing of their own: sources, and files made by a tool. */
const SILENT_CHUNKS = new Set(['reference', 'tool_file', 'image_url', 'document_url']);

/** Objects that call a tool by its `name`, and what they tell it. */
export const CALL_TEXTS: Readonly<Record<string, CallText>> = {
  function: { told: 'arguments', isJson: true },
  function_call: { told: 'arguments', isJson: true },
  custom: { told: 'input', isOwn: true },
};

interface CallText {
  /** The member that holds it. */
  readonly told: string;
  readonly isJson?: true;
  /** No other family has such calls, and no provider is asked for one by translation: the hub leaves them out. */
  readonly isOwn?: true;
}

const TEXTS = Object.entries(ANSWER_TEXTS).map(([name, row]) => ({ name, ...row }));
const JSON_MEMBERS = new Set(Object.values(CALL_TEXTS).flatMap(({ told, isJson }) => (isJson ? [told] : [])));

/** Whether the text of a member is JSON of its own: arguments of calls, and the answer where JSON was asked for. */
export function textKind(name: string, jsonAnswer: boolean): 'text' | 'json' {
  if (JSON_MEMBERS.has(name)) return 'json';
  return jsonAnswer && Object.hasOwn(ANSWER_TEXTS, name) && ANSWER_TEXTS[name]!.isAnswer ? 'json' : 'text';
}

/** The texts of a delta or a message. `warn` gets each content chunk that is not understood. */
export function textPieces(delta: JsonObject, warn: (message: string) => void): Piece[] {
  const pieces: Piece[] = [];
  let told: Piece['type'] | undefined;
  for (const { name, part, isList, isAnswer } of TEXTS) {
    const value = delta[name];
    if (value === undefined || value === null) continue;
    if (isAnswer && Array.isArray(value)) {
      readChunks(value as readonly Json[], pieces, warn);
      continue;
    }
    const text = isList ? listedText(value) : value;
    if (typeof text !== 'string' || text === '' || told === part) continue;
    told = part;
    pieces.push({ type: part, text });
  }
  return pieces;
}

function readChunks(chunks: readonly Json[], pieces: Piece[], warn: (message: string) => void): void {
  const add = (type: Piece['type'], text: Json | undefined): void => {
    if (typeof text === 'string' && text !== '') pieces.push({ type, text });
  };
  for (const chunk of chunks) {
    if (!isObject(chunk)) {
      add('text', chunk);
      continue;
    }
    const type = typeof chunk['type'] === 'string' ? chunk['type'] : '';
    const row = Object.hasOwn(CHUNK_TEXTS, type) ? CHUNK_TEXTS[type]! : undefined;
    if (row) add(row.part, row.part === 'reasoning' ? thinkingText(chunk[row.member]) : chunk[row.member]);
    else if (!SILENT_CHUNKS.has(type)) warn('a content chunk of an unknown type');
  }
}

function listedText(list: Json): string {
  if (!Array.isArray(list)) return '';
  const texts = (list as readonly Json[]).map((item) => (isObject(item) ? (item['text'] ?? item['summary']) : ''));
  return texts.filter((text) => typeof text === 'string').join('');
}

const NO_CALLS: readonly CallPiece[] = [];

/** The tool calls of a delta or a message, the one of the old kind among them. */
export function callPieces(delta: JsonObject): readonly CallPiece[] {
  const calls = Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as readonly Json[]) : undefined;
  const called = calledIn(delta);
  if (!calls && !called) return NO_CALLS;
  const pieces: CallPiece[] = [];
  for (const call of calls ?? []) {
    if (!isObject(call)) continue;
    const { id, index } = call;
    pieces.push({
      index: typeof index === 'number' ? index : undefined,
      id: typeof id === 'string' && id !== '' && id !== 'null' ? id : undefined,
      ...(calledIn(call) ?? { name: '', argumentsJson: '' }),
    });
  }
  if (called) pieces.push({ index: 0, id: undefined, ...called });
  return pieces;
}

const DECODED_CALLS = Object.entries(CALL_TEXTS).flatMap(([member, { told, isOwn }]) =>
  isOwn ? [] : [{ member, told }],
);

function calledIn(holder: JsonObject): Pick<CallPiece, 'name' | 'argumentsJson'> | undefined {
  for (const { member, told } of DECODED_CALLS) {
    const called = holder[member];
    if (!isObject(called)) continue;
    const { name, [told]: written } = called;
    const argumentsJson = typeof written === 'string' ? written : isObject(written) ? JSON.stringify(written) : '';
    return { name: typeof name === 'string' ? name : '', argumentsJson };
  }
  return undefined;
}
