import { isObject, type Json, type JsonObject } from '../../document/json.ts';

/** A result as a model receives it. */
export interface ResultText {
  readonly text: string;
  readonly isError: boolean;
}

/** More characters of a result than this are not parsed. */
const MOST_SOURCE = 2 * 1024 * 1024;
/** A model receives no more characters than this. */
const MOST_RESULT = 256 * 1024;

/** The result of a tool (`tools/call`) as text: `kind` and JSON source as `ToolReply` has them. */
export function resultText(kind: 'result' | 'error', source: string): ResultText {
  if (source.length > MOST_SOURCE) return tooLong(source.length);
  const result = JSON.parse(source) as JsonObject;
  const { content, structuredContent, message } = result;
  if (kind === 'error') {
    return { text: `The tool failed: ${typeof message === 'string' ? message : 'it does not say why'}`, isError: true };
  }
  const texts = (Array.isArray(content) ? (content as readonly Json[]) : []).map(textOf).filter((text) => text !== '');
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  const text = texts.join('\n');
  return text.length > MOST_RESULT ? tooLong(text.length) : { text, isError: result['isError'] === true };
}

function tooLong(length: number): ResultText {
  const text = `The result has ${length} characters, and at most ${MOST_RESULT} are passed on. The tool was run: ask it for less.`;
  return { text, isError: true };
}

/** Content that is no text is named. */
function textOf(content: Json): string {
  if (!isObject(content)) return '';
  const { type, text, resource, uri } = content;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'resource' && isObject(resource) && typeof resource['text'] === 'string') return resource['text'];
  if (type === 'resource_link' && typeof uri === 'string') return uri;
  const word = typeof type === 'string' && /^[a-z_]{1,32}$/.test(type) ? type : 'content';
  return `[${word} is not passed on]`;
}
