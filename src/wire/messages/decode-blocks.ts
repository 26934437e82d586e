import { readCacheMark } from '../hub/cache-mark.ts';
import type { Lose, MediaPart, Part } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { decodeUrl } from '../hub/decode-media.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { kindOfMedia } from '../request/media.ts';
import { says } from '../hub/defined-members.ts';
import { isArray, optionalString, requiredString } from '../request/request-shape.ts';
import { decodeThinking } from './decode-answer.ts';

/**
 * Reads the content of messages. Keeps the names of the tools called, which results do not repeat. Every method throws
 * `BadRequestShape`, `param` being the content's place.
 */
export class BlockDecoder {
  readonly #lose: Lose;
  readonly #called = new Map<string, string>();

  constructor(lose: Lose) {
    this.#lose = lose;
  }

  content(content: Json | undefined, param: string): Part[] {
    if (content === undefined || content === null || content === '') return [];
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    if (!isArray(content)) throw new BadRequestShape(`${param} must be a string or an array of blocks`, param);
    return content.flatMap((block, index) => this.#block(block, `${param}[${index}]`));
  }

  #block(block: Json, param: string): readonly Part[] {
    if (!isObject(block) || typeof block['type'] !== 'string') {
      throw new BadRequestShape(`${param} must be an object with a type`, param);
    }
    switch (block['type']) {
      case 'text':
        return this.#text(block, param);
      case 'image':
        return [this.#image(block, param)];
      case 'document':
        return this.#document(block, param);
      case 'search_result':
        return this.#searchResult(block, param);
      case 'thinking':
        return [decodeThinking(block)];
      case 'tool_use':
        return [this.#call(block, param)];
      case 'tool_result':
        return [this.#result(block, param)];
      default:
        return [{ type: 'opaque', family: 'messages', name: block['type'], value: block }];
    }
  }

  #text(block: JsonObject, param: string): readonly Part[] {
    const text = requiredString(block, 'text', param);
    if (says(block['citations'])) this.#lose('citations');
    return text === '' ? [] : [{ type: 'text', text, ...readCacheMark(block['cache_control']) }];
  }

  #image(block: JsonObject, param: string): MediaPart {
    const source = sourceOf(block, param);
    return { ...mediaOf(source, 'image', `${param}.source`), ...readCacheMark(block['cache_control']) };
  }

  /** A document is a file, a text, or blocks of its own. */
  #document(block: JsonObject, param: string): readonly Part[] {
    if (says(block['context'])) this.#lose('document.context');
    if (isObject(block['citations']) && block['citations']['enabled'] === true) this.#lose('document.citations');
    const source = sourceOf(block, param);
    const name = optionalString(block, 'title', `${param}.title`);
    const more = { ...(name === undefined ? {} : { name }), ...readCacheMark(block['cache_control']) };
    if (source['type'] === 'content') {
      if (name !== undefined) this.#lose('document.title');
      return marked(this.content(source['content'], `${param}.source.content`), block);
    }
    if (source['type'] !== 'text') return [{ ...mediaOf(source, 'document', `${param}.source`), ...more }];
    const data = Buffer.from(requiredString(source, 'data', `${param}.source`)).toString('base64');
    return [{ type: 'media', kind: 'document', mediaType: 'text/plain', source: { data }, ...more }];
  }

  #searchResult(block: JsonObject, param: string): readonly Part[] {
    const title = optionalString(block, 'title', `${param}.title`) ?? '';
    const source = optionalString(block, 'source', `${param}.source`) ?? '';
    const texts = this.content(block['content'], `${param}.content`).map((part) => ('text' in part ? part.text : ''));
    const text = [title, source, ...texts].filter((line) => line !== '').join('\n');
    return text === '' ? [] : [{ type: 'text', text, ...readCacheMark(block['cache_control']) }];
  }

  #call(block: JsonObject, param: string): Part {
    const id = requiredString(block, 'id', param);
    const name = requiredString(block, 'name', param);
    this.#called.set(id, name);
    const argumentsJson = JSON.stringify(block['input'] ?? {});
    return { type: 'tool-call', id, name, argumentsJson, ...readCacheMark(block['cache_control']) };
  }

  #result(block: JsonObject, param: string): Part {
    const id = requiredString(block, 'tool_use_id', param);
    const name = this.#called.get(id);
    return {
      type: 'tool-result',
      id,
      ...(name === undefined ? {} : { name }),
      parts: this.content(block['content'], `${param}.content`),
      isError: block['is_error'] === true,
      ...readCacheMark(block['cache_control']),
    };
  }
}

/** The mark of a document that became several parts is on the last of them. */
function marked(parts: Part[], block: JsonObject): readonly Part[] {
  const last = parts.pop();
  if (last === undefined) return [];
  const isMarkable = last.type === 'text' || last.type === 'media';
  return [...parts, isMarkable ? { ...last, ...readCacheMark(block['cache_control']) } : last];
}

function sourceOf(block: JsonObject, param: string): JsonObject {
  const { source } = block;
  if (!isObject(source)) throw new BadRequestShape(`${param}.source must be an object`, `${param}.source`);
  return source;
}

/** `kind`: what an address is taken for, which does not say. */
function mediaOf(source: JsonObject, kind: 'image' | 'document', param: string): MediaPart {
  if (source['type'] === 'base64') {
    const mediaType = requiredString(source, 'media_type', param).toLowerCase();
    const data = requiredString(source, 'data', param);
    // A text declared as an image would be sent as text without having been inspected.
    if (kind === 'image' && kindOfMedia(mediaType) !== 'image') {
      throw new BadRequestShape(`${param}.media_type must be an image type, such as image/png`, `${param}.media_type`);
    }
    return { type: 'media', kind: kindOfMedia(mediaType), mediaType, source: { data } };
  }
  if (source['type'] !== 'url') throw new BadRequestShape(`${param}.type must be one of base64, url`, `${param}.type`);
  return decodeUrl(requiredString(source, 'url', param), kind, `${param}.url`);
}
