import type { Media } from '../hub/codec.ts';
import {
  beginsAsDataUrl,
  headOf,
  isBase64,
  isBinaryDocument,
  isPicture,
  isRecording,
  isRemoteUrl,
  readDataUrl,
} from './media.ts';
import { foldedName } from './request-shape.ts';

/** Members that hold a picture or a video, or its address, and nothing else: by their names as `plainName` has them. */
const PICTURE =
  /^(?:(?:input|init|source|reference|first|last|start|end)_)?(?:images?|mask|frame|videos?)(?:_(?:urls?|ur[il]|b64|base64|data|bytes|b64_json))?$|^input_references?$/;
/** Members that may: of vendors that call them otherwise. */
const PICTURED =
  /(?:(?:^|_)(?:images?|img|pictures?|photos?|masks?|frames?|videos?)|_references?)(?:_(?:urls?|ur[il]|b64|base64|data|bytes|files?))?$/;
/** What holds the bytes or the address of the picture it stands in. */
const BYTES = /^(?:ur[il]|data|content|bytes|b64|base64|b64_json|file_id)$/;
/** Texts and names: words, whatever they begin with. */
const WORDS = /^(?:prompt|negative_prompt|input|instructions|texts?|user|name|title|filename)$/;
/** Base64 of fewer characters is no picture. */
const LEAST_LENGTH = 64;
/** No text has as many characters without blanks and punctuation. */
const LONGEST_WORDS = 512;

/**
 * What a string is where no family says so, if it is no text: in the place of a picture whatever it is, elsewhere a
 * `data:` URL, the base64 of an image, a recording or a document, or an address in a member named after images.
 * // spec 4.3.5
 */
export function mediaIn(text: string, name: string, parent: string): Media['kind'] | undefined {
  const plain = plainName(name);
  if (isIn(PICTURE, plain, parent)) return 'image';
  if (WORDS.test(plain)) return undefined;
  if (beginsAsDataUrl(text)) return kindOfType(readDataUrl(text)?.mediaType ?? '');
  if (isIn(PICTURED, plain, parent) && isRemoteUrl(text)) return 'image';
  if (text.length < LEAST_LENGTH || !isBase64(text)) return undefined;
  const head = headOf(text);
  if (showsSomething(head)) return 'image';
  return isBinaryDocument(head) ? 'file' : undefined;
}

/**
 * Whether base64 that stands where media do could as well be a word or a number: it is short, and does not begin as
 * anything that is known. Then it is read as text, too.
 */
export function mayBeWords(data: string): boolean {
  return data.length < LEAST_LENGTH || (data.length < LONGEST_WORDS && !showsSomething(headOf(data)));
}

/** Whether a member is called so, or holds the content of one that is. */
function isIn(places: RegExp, name: string, parent: string): boolean {
  return places.test(name) || (BYTES.test(name) && places.test(plainName(parent)));
}

function showsSomething(head: Buffer): boolean {
  return isPicture(head) || isRecording(head);
}

/** `imageUrl`, `image-url` and, in forms, `image_url[0]` are `image_url`. */
function plainName(name: string): string {
  const apart = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').replace(/\[\w*\]$/, '');
  return foldedName(apart).replaceAll('-', '_');
}

/** A video is pictures. */
function kindOfType(mediaType: string): Media['kind'] {
  if (/^(?:image|video)\//.test(mediaType)) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'file';
}
