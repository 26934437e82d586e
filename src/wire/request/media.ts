import type { Lose, MediaPart } from '../hub/canonical.ts';

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+(?:=[^;,]*)?)*;base64,/i;
/** What some reader could take for a `data:` URL: parsers of addresses skip blanks before it. */
const ANY_DATA_URL = /^\s*data:/i;
/** As it begins where a media type, parameters or the content follow: `data: a chart` does not. */
const DATA_URL_HEAD = /^\s*data:\s*(?:[\w.+-]+\/[\w.+-]+\s*)?[;,]/i;
/**
 * Also with line breaks, as programs write it, but without other blanks: decoders ignore those, so words could pass.
 */
const BASE64 = /^[A-Za-z0-9+/_-]*(?:[\r\n][ \t]*[A-Za-z0-9+/_-]*)*={0,2}$/;
/** Of base64: more than a kilobyte, within which readers look for the beginning of a PDF. */
const HEAD_LENGTH = 2048;
/** In hexadecimal, of PNG, JPEG, GIF, TIFF in both byte orders, WebP. */
const PICTURE_HEADS = ['89504e47', 'ffd8ff', '47494638', '49492a00', '4d4d002a', '52494646'];
/** In hexadecimal, of films and recordings: Matroska, ID3, Ogg, FLAC; and four bytes on, of MP4 and its kin. */
const RECORDING_HEADS = ['1a45dfa3', '494433', '4f676753', '664c6143', 'fffb', 'fff3'];
const BOX_HEADS = ['66747970'];
/** In hexadecimal, of ZIP (offices' files) and of older offices' files. */
const DOCUMENT_HEADS = ['504b0304', 'd0cf11e0'];
/** What no text has: control characters but white space, and bytes that are no UTF-8. */
// oxlint-disable-next-line no-control-regex -- the pattern searches for them
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/;
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
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  rtf: 'application/rtf',
  epub: 'application/epub+zip',
  eml: 'message/rfc822',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
};

/** The media type and base64 data of a `data:` URL; undefined for other addresses. */
export function readDataUrl(url: string): { mediaType: string; data: string } | undefined {
  const head = DATA_URL.exec(url);
  return head ? { mediaType: (head[1] as string).toLowerCase(), data: url.slice(head[0].length) } : undefined;
}

/** Whether a reader could take this for a `data:` URL, be it one that `readDataUrl` reads or not. */
export function looksLikeDataUrl(text: string): boolean {
  return ANY_DATA_URL.test(text);
}

/** Whether a text begins as a `data:` URL does, and not as a sentence about data. */
export function beginsAsDataUrl(text: string): boolean {
  return DATA_URL_HEAD.test(text);
}

/** Whether a text is base64 throughout, with either alphabet, and nothing that readers could skip or stop at. */
export function isBase64(text: string): boolean {
  return BASE64.test(text.trim());
}

/** How a file begins, of its base64. */
export function headOf(data: string): Buffer {
  return Buffer.from(data.slice(0, HEAD_LENGTH), 'base64');
}

/** Whether a file begins as a picture does that can be read. */
export function isPicture(head: Buffer): boolean {
  return begins(head, PICTURE_HEADS);
}

/** Whether a file begins as a film or a recording does. */
export function isRecording(head: Buffer): boolean {
  return begins(head, RECORDING_HEADS) || begins(head.subarray(4), BOX_HEADS);
}

/** Whether a file begins as a PDF or an office's file does. */
export function isBinaryDocument(head: Buffer): boolean {
  return head.includes('%PDF') || begins(head, DOCUMENT_HEADS);
}

/** Whether a file begins as a document does that some reader takes whatever it is called: PDF, of an office, or text. */
export function isDocument(head: Buffer): boolean {
  if (isBinaryDocument(head)) return true;
  // The last character may be cut off.
  return head.length > 3 && !NO_TEXT.test(head.subarray(0, -3).toString('utf8'));
}

function begins(head: Buffer, heads: readonly string[]): boolean {
  return heads.some((start) => head.subarray(0, start.length / 2).toString('hex') === start);
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
