import { writeCacheMark } from '../hub/cache-mark.ts';
import type { Lose, MediaPart, Part, ReasoningPart, ToolResultPart } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { loseImageWords, textOfMedia } from '../request/media.ts';
import { argumentsObject } from '../hub/tool-arguments.ts';
import { toolIds } from '../hub/tool-ids.ts';
import type { Traits } from '../hub/traits.ts';

/** Spells parts of a conversation as blocks. */
export class BlockSpeller {
  readonly #traits: Traits;
  readonly #lose: Lose;
  readonly #toolId: (id: string) => string;

  constructor(traits: Traits, lose: Lose) {
    this.#traits = traits;
    this.#lose = lose;
    this.#toolId = toolIds(traits.toolIds);
  }

  /**
   * A block; none for content that the model does not take. Throws `BadRequestShape` for content that must not be
   * dropped in silence. // wire-formats 2.1
   */
  spell(part: Part, role: 'user' | 'assistant'): readonly JsonObject[] {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return this.#text(part.text, part.type === 'text' ? writeCacheMark(part.cache) : {});
      case 'media':
        if (role === 'user') return this.#media(part);
        this.#lose(`content[${part.kind}]`);
        return [];
      case 'tool-call':
        return [
          {
            type: 'tool_use',
            id: this.#toolId(part.id),
            name: part.name,
            input: argumentsObject(part.argumentsJson),
            ...writeCacheMark(part.cache),
          },
        ];
      case 'tool-result':
        return [this.#result(part)];
      case 'reasoning':
        return this.#thinking(part);
      case 'opaque':
        if (part.family === 'messages' && isObject(part.value)) return [part.value];
        this.#lose(`content[${part.name}]`);
        return [];
    }
  }

  /** Blank texts are refused. */
  #text(text: string, mark: JsonObject): readonly JsonObject[] {
    return text.trim() === '' ? [] : [{ type: 'text', text, ...mark }];
  }

  /** Only this family's own proof makes it worth sending. // spec 4.5.4 */
  #thinking({ text, proof }: ReasoningPart): readonly JsonObject[] {
    if (proof?.family === 'messages') return [{ type: 'thinking', thinking: text, signature: proof.value }];
    this.#lose('thinking');
    return [];
  }

  /** Marks within a result are not repeated: the result's own says the same. */
  #result(part: ToolResultPart): JsonObject {
    const content = part.parts.flatMap((inner) => this.spell(inner, 'user')).map(withoutMark);
    const mark =
      part.cache ?? part.parts.map((inner) => ('cache' in inner ? inner.cache : undefined)).findLast(Boolean);
    return {
      type: 'tool_result',
      tool_use_id: this.#toolId(part.id),
      ...(content.length > 0 ? { content } : {}),
      ...(part.isError ? { is_error: true } : {}),
      ...writeCacheMark(mark),
    };
  }

  #media(part: MediaPart): readonly JsonObject[] {
    const text = textOfMedia(part);
    const mark = writeCacheMark(part.cache);
    if (part.kind === 'image') {
      if (!this.#traits.vision) throw refusal('images');
      loseImageWords(part, this.#lose);
      return [{ type: 'image', source: this.#source(part), ...mark }];
    }
    if (text !== undefined) return this.#document(part, text, mark);
    if (part.kind === 'audio') throw refusal('audio');
    if (!this.#traits.documents || part.mediaType !== 'application/pdf') throw refusal(part.mediaType);
    return [{ type: 'document', source: this.#source(part), ...titleOf(part), ...mark }];
  }

  #document(part: MediaPart, text: string, mark: JsonObject): readonly JsonObject[] {
    if (text.trim() === '') return [];
    if (!this.#traits.documents) return this.#text(part.name === undefined ? text : `${part.name}:\n\n${text}`, mark);
    const source = { type: 'text', media_type: 'text/plain', data: text };
    return [{ type: 'document', source, ...titleOf(part), ...mark }];
  }

  #source({ source, mediaType }: MediaPart): JsonObject {
    if ('data' in source) return { type: 'base64', media_type: mediaType, data: source.data };
    if (!this.#traits.remoteMedia) throw refusal('files by address: send the content in the request');
    return { type: 'url', url: source.url };
  }
}

function titleOf({ name }: MediaPart): JsonObject {
  return name === undefined ? {} : { title: name };
}

/** A block as it is without a cache marker. */
export function withoutMark(block: JsonObject): JsonObject {
  const { cache_control: _mark, ...rest } = block;
  return rest;
}

function refusal(what: string): BadRequestShape {
  return new BadRequestShape(`This model does not take ${what}`, 'messages');
}
