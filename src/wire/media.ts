import type { Lose, MediaPart } from './canonical.ts';

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,/i;
const REMOTE_URL = /^https?:\/\//i;

const TYPES_BY_ENDING: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
};

/** The media type and base64 data of a `data:` URL, or undefined when it is none. */
export function readDataUrl(url: string): { mediaType: string; data: string } | undefined {
  const head = DATA_URL.exec(url);
  return head ? { mediaType: (head[1] as string).toLowerCase(), data: url.slice(head[0].length) } : undefined;
}

/** Content as a `data:` URL. */
export function writeDataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Whether an address is one that a provider can fetch. */
export function isRemoteUrl(url: string): boolean {
  return REMOTE_URL.test(url);
}

/** The media type that a file's name speaks of, if its ending is a known one. */
export function mediaTypeOfName(name: string | undefined): string | undefined {
  const ending = name?.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return ending !== undefined && Object.hasOwn(TYPES_BY_ENDING, ending) ? TYPES_BY_ENDING[ending] : undefined;
}

/** What kind of content a media type is. */
export function kindOfMedia(mediaType: string): MediaPart['kind'] {
  if (mediaType.startsWith('image/')) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'document';
}

/** Whether content of this type is text that can be read as it is. */
export function isTextMedia(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

/** The text of a document of a text type whose bytes are at hand; undefined for any other. */
export function textOfMedia(part: MediaPart): string | undefined {
  if (!('data' in part.source) || !isTextMedia(part.mediaType)) return undefined;
  return Buffer.from(part.source.data, 'base64').toString('utf8');
}

/** What some families let be said of an image, and others do not. */
export function loseImageWords({ detail, name }: MediaPart, lose: Lose): void {
  if (detail !== undefined && detail !== 'auto') lose('image_url.detail');
  if (name !== undefined) lose('file.filename');
}
