import type { JsonObject } from '../document/json.ts';
import { isObject } from '../document/json.ts';
import { NotAJsonObject } from '../document/document.ts';
import { readLargeRoot } from '../document/large-json.ts';
import { isLarge, PIECE } from '../document/large-text.ts';
import { AmbiguousJson, TooManyValues } from '../document/scan.ts';
import type { Steps } from '../document/steps.ts';

/** An answer of an API, read to its end. */
export interface ApiAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The header Retry-After; only seconds are repeated. */
  readonly retryAfter: string | undefined;
}

/** Characters of the body of an error that are passed on. */
const MOST_EXPLAINED = 8 * 1024;
/** What clients show as a picture; other bytes are files. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const TYPE = /^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/;
const IS_TEXT =
  /^text\/|[/+](?:json|xml|yaml|x-yaml|javascript|ndjson|x-ndjson|csv|sql|graphql|x-www-form-urlencoded)$/;
const IS_JSON = /[/+]json$/;

/**
 * The result of a tool, as JSON source, in several forms, the fullest first: JSON is text and `structuredContent`, other text is
 * text, a picture or sound is one, and other bytes are a file named `uri`. A status that is no success is an error. In steps.
 */
export function* writeApiResults(answer: ApiAnswer, uri: string): Steps<readonly string[]> {
  const { status, bytes } = answer;
  const type = typeOf(answer.contentType);
  const text = textOf(answer, type);
  if (status < 200 || status > 299) return [failure(answer, text)];
  if (bytes.length === 0) return [result([textBlock(`The API answered with status ${status} and no content.`)])];
  if (text === undefined) return [result([fileBlock(bytes, type, uri)])];
  yield;
  const blocks = [`{"type":"text","text":${yield* quoted(text)}}`];
  const isJson = type === '' || IS_JSON.test(type);
  const structured = isJson ? yield* objectSource(text) : undefined;
  const plain = result(blocks);
  return structured === undefined ? [plain] : [result(blocks, `,"structuredContent":${structured}`), plain];
}

function result(blocks: readonly string[], more = ''): string {
  return `{"content":[${blocks.join(',')}]${more}}`;
}

function textBlock(text: string): string {
  return `{"type":"text","text":${JSON.stringify(text)}}`;
}

/** A text as JSON, piece by piece. */
function* quoted(text: string): Steps<string> {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + PIECE;
    // The halves of a character stay together.
    const next = end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end + 1 : end;
    pieces.push(JSON.stringify(text.slice(at, next)).slice(1, -1));
    at = next;
    yield;
  }
  return `"${pieces.join('')}"`;
}

/** Clients know structured content as an object: other values are put into one. Undefined: it is not JSON, or too much of it. */
function* objectSource(text: string): Steps<string | undefined> {
  try {
    const isOne = isLarge(text)
      ? (yield* readLargeRoot(text, { lenient: true, isOwn: true })).kind === 'object'
      : isObject(JSON.parse(text));
    return isOne ? text : `{"result":${text}}`;
  } catch (thrown) {
    const isUnfit = [SyntaxError, NotAJsonObject, AmbiguousJson, TooManyValues].some((kind) => thrown instanceof kind);
    if (isUnfit) return undefined;
    throw thrown;
  }
}

function failure({ status, retryAfter = '' }: ApiAnswer, text: string | undefined): string {
  const redirects = status >= 300 && status < 400 ? ': it leads elsewhere, where the gateway does not follow' : '';
  const wait = /^\d{1,6}$/.test(retryAfter) ? ` It asks to wait ${retryAfter} s.` : '';
  const told = `The API answered with status ${status}${redirects}.${wait}`;
  const shown = text === undefined || redirects !== '' ? '' : text.slice(0, MOST_EXPLAINED).toWellFormed().trim();
  const cut = text !== undefined && text.length > MOST_EXPLAINED ? '\n[cut]' : '';
  const block = textBlock(shown === '' ? told : `${told}\n\n${shown}${cut}`);
  return `{"content":[${block}],"isError":true}`;
}

function fileBlock(bytes: Buffer, type: string, uri: string): string {
  const data = bytes.toString('base64');
  const mimeType = type === '' ? 'application/octet-stream' : type;
  const kind = PICTURES.has(type) ? 'image' : type.startsWith('audio/') ? 'audio' : undefined;
  if (kind !== undefined) return `{"type":"${kind}","mimeType":${JSON.stringify(mimeType)},"data":"${data}"}`;
  const named: JsonObject = { uri, mimeType };
  return `{"type":"resource","resource":${JSON.stringify(named).slice(0, -1)},"blob":"${data}"}}`;
}

/** The media type without its parameters, in lower case; empty where it cannot be repeated. */
function typeOf(contentType: string): string {
  const [type = ''] = contentType.split(';', 1);
  const lower = type.trim().toLowerCase();
  return TYPE.test(lower) ? lower : '';
}

/** Undefined: it is no text, or in letters that are not known. */
function textOf({ contentType, bytes }: ApiAnswer, type: string): string | undefined {
  if (type !== '' && !IS_TEXT.test(type)) return undefined;
  const charset = /;\s*charset="?([A-Za-z0-9_:.-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    const text = new TextDecoder(charset, { fatal: type === '' }).decode(bytes);
    return type === '' && text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
