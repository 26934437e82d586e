import { readCacheMark } from '../hub/cache-mark.ts';
import type { CacheMark, MediaPart, Part, TextPart } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { decodeFileData, decodeUrl } from '../hub/decode-media.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isRemoteUrl, readDataUrl } from '../request/media.ts';
import { optionalString, requiredString } from '../request/request-shape.ts';

const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav' };

/**
 * The parts of a message's content. `cache`: the message's own mark, which its last part takes over. Throws
 * `BadRequestShape`, `param` being the content's place.
 */
export function decodeContent(content: Json | undefined, param: string, cache: { cache?: CacheMark } = {}): Part[] {
  const parts = contentParts(content, param);
  const last = parts.pop();
  if (last === undefined) return [];
  return [...parts, 'cache' in cache && isMarkable(last) ? { ...cache, ...last } : last];
}

function contentParts(content: Json | undefined, param: string): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw new BadRequestShape(`${param} must be a string or an array of parts`, param);
  return (content as readonly Json[]).flatMap((part, index) => decodePart(part, `${param}[${index}]`));
}

/** Only texts: what an instruction can be. Blank ones say nothing. */
export function textsOf(parts: readonly Part[]): TextPart[] {
  return parts.filter((part): part is TextPart => part.type === 'text' && part.text.trim() !== '');
}

function decodePart(part: Json, param: string): Part[] {
  if (typeof part === 'string') return [{ type: 'text', text: part }];
  if (!isObject(part) || typeof part['type'] !== 'string') {
    throw new BadRequestShape(`${param} must be an object with a type`, param);
  }
  const cache = readCacheMark(part['cache_control']);
  switch (part['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return [{ type: 'text', text: requiredString(part, 'text', param), ...cache }];
    case 'refusal':
      return [{ type: 'refusal', text: requiredString(part, 'refusal', param) }];
    case 'thinking':
      return [{ type: 'reasoning', text: thinkingText(part['thinking']) }];
    case 'image_url':
      return [{ ...decodeImage(part['image_url'], `${param}.image_url`), ...cache }];
    case 'input_audio':
      return [{ ...decodeAudio(part['input_audio'], `${param}.input_audio`), ...cache }];
    case 'file':
      return [{ ...decodeFile(part['file'] ?? part, `${param}.file`), ...cache }];
    case 'document_url':
      return [{ ...decodeDocumentUrl(part, param), ...cache }];
    default:
      return [{ type: 'opaque', family: 'chat', name: part['type'], value: part }];
  }
}

/** The text of a `thinking` chunk: a string, or a list of text chunks. */
export function thinkingText(thinking: Json | undefined): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  const texts = (thinking as readonly Json[]).map((item) => (isObject(item) ? item['text'] : item));
  return texts.filter((text) => typeof text === 'string').join('');
}

function decodeImage(image: Json | undefined, param: string): MediaPart {
  const url = isObject(image) ? image['url'] : image;
  const detail = isObject(image) ? optionalString(image, 'detail', `${param}.detail`) : undefined;
  if (typeof url !== 'string') throw new BadRequestShape(`${param}.url is required`, `${param}.url`);
  return { ...decodeUrl(url, 'image', `${param}.url`), ...(detail === undefined ? {} : { detail }) };
}

function decodeAudio(audio: Json | undefined, param: string): MediaPart {
  if (!isObject(audio)) throw new BadRequestShape(`${param} must be an object`, param);
  const format = requiredString(audio, 'format', param).toLowerCase();
  const data = requiredString(audio, 'data', param);
  const known = Object.hasOwn(AUDIO_TYPES, format) ? AUDIO_TYPES[format] : undefined;
  const mediaType = known ?? `audio/${format}`;
  return { type: 'media', kind: 'audio', mediaType, source: { data: readDataUrl(data)?.data ?? data } };
}

function decodeFile(file: Json, param: string): MediaPart {
  if (!isObject(file)) throw new BadRequestShape(`${param} must be an object`, param);
  if (file['file_id'] !== undefined && file['file_id'] !== null) {
    throw new BadRequestShape(
      `${param} must not be a file id of a provider: send the content in the request`,
      `${param}.file_id`,
    ); // spec 4.3.5
  }
  const data = requiredString(file, 'file_data', param);
  const name = optionalString(file, 'filename', `${param}.filename`);
  const named = name === undefined ? {} : { name };
  if (isRemoteUrl(data)) return { ...decodeUrl(data, 'document', `${param}.file_data`), ...named };
  return { ...decodeFileData(data, name), ...named };
}

function decodeDocumentUrl(part: JsonObject, param: string): MediaPart {
  const media = decodeUrl(requiredString(part, 'document_url', param), 'document', `${param}.document_url`);
  const name = optionalString(part, 'document_name', `${param}.document_name`);
  return { ...media, ...(name === undefined ? {} : { name }) };
}

function isMarkable(part: Part): part is Exclude<Part, { type: 'refusal' | 'reasoning' | 'opaque' }> {
  return part.type !== 'refusal' && part.type !== 'reasoning' && part.type !== 'opaque';
}
