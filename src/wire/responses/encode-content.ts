import type { Lose, MediaPart, Part } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import type { Json, JsonObject } from '../document/json.ts';
import { textOfMedia, writeDataUrl } from '../request/media.ts';
import type { Traits } from '../hub/traits.ts';

/** What a user or a tool says, as content. Throws `BadRequestShape` for media that the model does not take. */
export function encodeContent(parts: readonly Part[], traits: Traits, lose: Lose): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return [{ type: 'input_text', text: part.text }];
      case 'media':
        return [encodeMedia(part, traits)];
      case 'reasoning':
        lose('thinking');
        return [];
      case 'opaque':
        lose(`content[${part.name}]`);
        return [];
      case 'tool-call':
      case 'tool-result':
        return [];
    }
  });
}

/** What a tool gave: one string where it is text, which every host takes. There is no member for "it failed". */
export function encodeOutput(parts: readonly Part[], isError: boolean, traits: Traits, lose: Lose): Json {
  const content = encodeContent(parts, traits, lose);
  const texts = content.map(({ text }) => text).filter((text) => typeof text === 'string');
  const error = isError ? 'Error: ' : '';
  if (texts.length === content.length) return error + texts.join('\n\n');
  return isError ? [{ type: 'input_text', text: error.trim() }, ...content] : content;
}

function encodeMedia(part: MediaPart, traits: Traits): JsonObject {
  if (part.kind === 'image') return encodeImage(part, traits);
  if (part.kind === 'audio') throw refused('audio');
  const text = textOfMedia(part);
  if (text !== undefined) {
    return { type: 'input_text', text: part.name === undefined ? text : `${part.name}:\n\n${text}` };
  }
  if (!traits.documents) throw refused('documents of this kind');
  if ('url' in part.source) {
    if (!traits.remoteMedia) throw refused('documents by address');
    return { type: 'input_file', file_url: part.source.url };
  }
  const filename = part.name ?? (part.mediaType === 'application/pdf' ? 'document.pdf' : 'document');
  return { type: 'input_file', filename, file_data: writeDataUrl(part.mediaType, part.source.data) };
}

function encodeImage({ mediaType, source, detail }: MediaPart, traits: Traits): JsonObject {
  if (!traits.vision) throw refused('images');
  if ('url' in source && !traits.remoteMedia) throw refused('images by address');
  const url = 'url' in source ? source.url : writeDataUrl(mediaType, source.data);
  return { type: 'input_image', image_url: url, detail: detail ?? 'auto' };
}

function refused(what: string): BadRequestShape {
  return new BadRequestShape(`This model does not take ${what}`, 'input');
}
