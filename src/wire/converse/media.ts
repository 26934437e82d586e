import type { Lose, MediaPart } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { loseImageWords, textOfMedia } from '../request/media.ts';
import type { Traits } from '../hub/traits.ts';

const IMAGES: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

const DOCUMENTS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
};

const AUDIO: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/mp4': 'm4a',
  'audio/m4a': 'm4a',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
  'audio/opus': 'opus',
  'audio/webm': 'webm',
};

const MAX_NAME = 100;

/** Whether this family has a format for files of a media type. */
export function takesDocument(mediaType: string): boolean {
  return Object.hasOwn(DOCUMENTS, mediaType);
}

/** Spells content that is not text. One for a request: its documents must have different names. */
export class MediaSpeller {
  readonly #traits: Traits;
  readonly #lose: Lose;
  readonly #names = new Set<string>();

  constructor(traits: Traits, lose: Lose) {
    this.#traits = traits;
    this.#lose = lose;
  }

  /** Throws `BadRequestShape` for what this model, or this family, cannot be given. */
  spell(part: MediaPart): JsonObject {
    const { vision, audio, documents } = this.#traits;
    if ('url' in part.source) {
      throw new BadRequestShape(
        'This model does not take files by address: send the content in the request',
        'messages',
      );
    }
    const source = { bytes: part.source.data };
    if (part.kind === 'image' && vision) {
      loseImageWords(part, this.#lose);
      return { image: { format: formatOf(IMAGES, part), source } };
    }
    if (part.kind === 'audio' && audio) return { audio: { format: formatOf(AUDIO, part), source } };
    if (part.kind === 'document' && documents && takesDocument(part.mediaType)) {
      return { document: { format: formatOf(DOCUMENTS, part), name: this.#name(part.name), source } };
    }
    const text = textOfMedia(part);
    if (text === undefined) throw refusal(part);
    return { text };
  }

  /** Only letters, digits, single spaces and a few signs may be in it, and no other document may have it. */
  #name(given = ''): string {
    const base = given
      .replace(/\.\w{1,5}$/, '')
      .replace(/[^A-Za-z0-9\s()[\]-]/g, '-')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, MAX_NAME);
    const plain = base === '' ? 'document' : base;
    let name = plain;
    for (let number = 2; this.#names.has(name); number++) name = `${plain} (${number})`;
    this.#names.add(name);
    return name;
  }
}

function formatOf(formats: Readonly<Record<string, string>>, part: MediaPart): string {
  const format = Object.hasOwn(formats, part.mediaType) ? formats[part.mediaType] : undefined;
  if (format === undefined) throw refusal(part);
  return format;
}

function refusal({ mediaType }: MediaPart): BadRequestShape {
  return new BadRequestShape(`This model does not take ${mediaType}`, 'messages');
}
