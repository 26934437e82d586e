import type { Family, WireDocument } from '#/wire/document/document.ts';
import { isObject, type Json } from '#/wire/document/json.ts';
import { foldedName, isArray } from '#/wire/request/request-shape.ts';

/** The members of a request in which a person speaks. A family without any is one of documents or pictures alone. */
const SPOKEN: Readonly<Partial<Record<Family, readonly string[]>>> = {
  chat: ['messages'],
  messages: ['messages'],
  responses: ['input'],
  completions: ['prompt'],
  embeddings: ['input'],
  moderations: ['input'],
  rerank: ['query'],
  images: ['prompt'],
  systemone: ['state'],
  decisions: ['input'],
  passthrough: ['prompt', 'input', 'instructions'],
};
/** Their members are what was said in turns. */
const CONVERSATIONS: ReadonlySet<Family> = new Set(['chat', 'messages', 'responses']);
/** Whoever is none of these is taken for the user. */
const INSTRUCTING: ReadonlySet<unknown> = new Set(['system', 'developer']);
const ANSWERING: ReadonlySet<unknown> = new Set(['assistant', 'model', 'tool', 'function']);
/** How forms write a member that is a list: `prompt[]`. */
const LISTED = /\[\d*\]$/;
/** Members of a state that say what it is made of, where they are a word of a format. */
const SILENT = new Set(['type', 'role']);
const OF_FORMAT = /^[a-z_]{1,20}$/;

/** A text of fewer words is a follow-up: it says too little without what it follows. Words are as its language has them. */
const FEWEST_WORDS = 8;
/** No follow-up is longer, whatever its words. */
const MOST_CHARACTERS = 80;
/** A follow-up is judged with so many texts of its user before it, at most. */
const MOST_BEFORE = 3;
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });

/** A request's body, or the fields of a form, by the family that they are read as. */
export interface UserText extends Pick<WireDocument, 'family'> {
  readonly members: Iterable<readonly [name: string, value: Json | undefined]>;
}

/** A request without words. */
export const NO_USER_TEXT: UserText = { family: 'passthrough', members: [] };

/** All that a body says, and by whom it is read. */
export function userTextIn({ family, body }: Pick<WireDocument, 'family' | 'body'>): UserText {
  return { family, members: Object.entries(body) };
}

/** What a person says in a request, for the scope guard: of a conversation the end, else all. Empty: nothing. */
export function judgedText({ family, members }: UserText): string {
  const spoken = SPOKEN[family] ?? [];
  const values = [...members]
    .filter(([name]) => spoken.includes(foldedName(name).replace(LISTED, '')))
    .map(([, value]) => value);
  if (family === 'systemone') return said(values.map(wordsOf)).join('\n');
  const texts = values.flatMap(textsOf);
  return CONVERSATIONS.has(family) ? endOf(texts) : texts.join('\n');
}

/** The last text; where it is a follow-up, with those before it up to one that is none. */
function endOf(texts: readonly string[]): string {
  let from = texts.length - 1;
  const first = Math.max(0, from - MOST_BEFORE);
  while (from > first && isFollowUp(texts[from] ?? '')) from -= 1;
  return texts.slice(Math.max(0, from)).join('\n');
}

function isFollowUp(text: string): boolean {
  if (text.length > MOST_CHARACTERS) return false;
  return [...WORDS.segment(text)].filter(({ isWordLike }) => isWordLike).length < FEWEST_WORDS;
}

/** What the user says between one answer and the next, in order; instructions where there is nothing but them. */
function textsOf(value: Json | undefined): readonly string[] {
  if (!isArray(value)) return said([textOf(value)]);
  const turns: string[][] = [[]];
  for (const item of value) {
    const role = isObject(item) ? item['role'] : undefined;
    if (INSTRUCTING.has(role)) continue;
    const text = ANSWERING.has(role) ? undefined : textOf(item);
    if (text !== undefined && (text !== '' || role !== undefined)) turns.at(-1)?.push(text);
    else turns.push([]);
  }
  const isInstructed = value.every((item) => isObject(item) && INSTRUCTING.has(item['role']));
  return isInstructed ? said([value.map(textOf).join('\n')]) : said(turns.map((turn) => turn.join('\n')));
}

/** The text of a message or of a part of one. What tools gave back, thoughts, pictures and files are no words. */
function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (isArray(value)) return said(value.map(textOf)).join('\n');
  if (!isObject(value)) return '';
  const { role, type, text, content } = value;
  if (role !== undefined || type === 'message') return textOf(content);
  if (typeof text === 'string') return text;
  return type === undefined ? textOf(content) : '';
}

/** Every word of a state, which is of any shape; what members are called is no word of it. */
function wordsOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (isArray(value)) return said(value.map(wordsOf)).join('\n');
  if (!isObject(value)) return '';
  const members = Object.entries(value).filter(
    ([name, member]) => !(SILENT.has(name) && typeof member === 'string' && OF_FORMAT.test(member)),
  );
  return said(members.map(([, member]) => wordsOf(member))).join('\n');
}

function said(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text.trim() !== '');
}
