import { writeCacheMark } from '../hub/cache-mark.ts';
import type { Lose, MediaPart, Part, ToolResultPart } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import type { Json, JsonObject } from '../document/json.ts';
import { textOfMedia, writeDataUrl } from '../request/media.ts';
import type { Traits } from '../hub/traits.ts';

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

/**
 * Parts as a message's content: one string where they are texts without marks, which even hosts that know no arrays
 * take; else an array; null where nothing is left. Throws `BadRequestShape` for media that the model does not take.
 */
export function encodeContent(parts: readonly Part[], traits: Traits, lose: Lose, between = '\n\n'): Json {
  const items = parts.flatMap((part) => encodePart(part, traits, lose));
  if (items.length === 0) return null;
  if (!items.every(isPlainText)) return items;
  return items.map(({ text }) => (typeof text === 'string' ? text : '')).join(between);
}

function isPlainText(item: JsonObject): boolean {
  return item['type'] === 'text' && item['cache_control'] === undefined;
}

/** A part as content; nothing for parts that have another place, or none. */
function encodePart(part: Part, traits: Traits, lose: Lose): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...writeCacheMark(part.cache) }];
    case 'media':
      return [{ ...encodeMedia(part, traits), ...writeCacheMark(part.cache) }];
    case 'reasoning':
      // A signature is only valid in its own family, and reasoning without one cannot be trusted. // spec 4.5.4
      lose('thinking');
      return [];
    case 'opaque':
      if (part.family === 'chat') return [part.value as JsonObject];
      lose(`content[${part.name}]`);
      return [];
    case 'refusal':
    case 'tool-call':
    case 'tool-result':
      return [];
  }
}

function encodeMedia(part: MediaPart, traits: Traits): JsonObject {
  if (part.kind === 'image') return encodeImage(part, traits);
  if (part.kind === 'audio') return encodeAudio(part, traits);
  const text = textOfMedia(part);
  if (text !== undefined) return { type: 'text', text: part.name === undefined ? text : `${part.name}:\n\n${text}` };
  if (!traits.documents || !('data' in part.source)) throw refused('documents of this kind');
  const filename = part.name ?? (part.mediaType === 'application/pdf' ? 'document.pdf' : 'document');
  return { type: 'file', file: { filename, file_data: writeDataUrl(part.mediaType, part.source.data) } };
}

function encodeImage({ mediaType, source, detail }: MediaPart, traits: Traits): JsonObject {
  if (!traits.vision) throw refused('images');
  if ('url' in source && !traits.remoteMedia) throw refused('images by address');
  const url = 'url' in source ? source.url : writeDataUrl(mediaType, source.data);
  return { type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } };
}

function encodeAudio({ mediaType, source }: MediaPart, traits: Traits): JsonObject {
  if (!traits.audio) throw refused('audio');
  const format = AUDIO_FORMATS[mediaType];
  if (format === undefined || !('data' in source)) throw refused('audio of this kind');
  return { type: 'input_audio', input_audio: { data: source.data, format } };
}

function refused(what: string): BadRequestShape {
  return new BadRequestShape(`This model does not take ${what}`, 'messages');
}

/**
 * Results of tools as tool messages, and what they hold that is not text, for one message of the user after all of them:
 * each piece behind the label that stands in its place. // wire-formats 2.2
 */
export function encodeResults(
  results: readonly ToolResultPart[],
  toolId: (id: string) => string,
  traits: Traits,
  lose: Lose,
): { messages: JsonObject[]; media: Part[] } {
  const media: Part[] = [];
  const messages = results.map((result): JsonObject => {
    const parts = result.parts.map((part): Part => {
      if (part.type !== 'media' || textOfMedia(part) !== undefined) return part;
      const label: Part = { type: 'text', text: `[${part.kind} ${media.length / 2 + 1} of the tools' results]` };
      media.push(label, part);
      return label;
    });
    const content = encodeContent(result.isError ? markedAsError(parts) : parts, traits, lose) ?? '';
    return { role: 'tool', tool_call_id: toolId(result.id), content: markLast(content, writeCacheMark(result.cache)) };
  });
  return { messages, media };
}

/** The family has no flag for it. */
function markedAsError(parts: readonly Part[]): readonly Part[] {
  const [first, ...rest] = parts;
  if (first?.type === 'text') return [{ ...first, text: `Error: ${first.text}` }, ...rest];
  return [{ type: 'text', text: 'Error' }, ...parts];
}

function markLast(content: Json, mark: JsonObject): Json {
  if (mark['cache_control'] === undefined) return content;
  const items = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly JsonObject[]);
  return items.map((item, index) => (index === items.length - 1 ? { ...item, ...mark } : item));
}
