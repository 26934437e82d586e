import type { Media } from './codec.ts';
import { isBase64, isDocument, isPicture, looksLikeDataUrl, readDataUrl } from './media.ts';
import { foldedName } from './request-shape.ts';

/** Members that hold a picture or a video, or its address, by their folded names. */
const PICTURE =
  /^(?:(?:input|init|source|reference|first|last|start|end)_)?(?:images?|mask|frame|videos?)(?:_(?:urls?|ur[il]|b64|base64|data|bytes|b64_json))?$|^input_references?$/;
/** What holds the bytes or the address of the picture it stands in. */
const BYTES = /^(?:ur[il]|data|content|bytes|b64|base64|b64_json|file_id)$/;
/** What is said, and what things are called: words, whatever they begin with. */
const WORDS = /^(?:prompt|negative_prompt|input|instructions|texts?|user|name|title|filename)$/;
/** Base64 of fewer characters is no picture. */
const LEAST_LENGTH = 64;
/** Of base64: readers look for the beginning of a PDF within a kilobyte. */
const HEAD_LENGTH = 2048;

/**
 * What a string is where no family says so, if it is no text: in the place of a picture whatever it is, elsewhere a
 * `data:` URL, or the base64 of a picture or a document. // spec 4.3.5
 */
export function mediaIn(text: string, name: string, parent: string): Media['kind'] | undefined {
  const folded = foldedName(name);
  if (PICTURE.test(folded) || (BYTES.test(folded) && PICTURE.test(foldedName(parent)))) return 'image';
  if (WORDS.test(folded)) return undefined;
  if (looksLikeDataUrl(text)) return kindOfType(readDataUrl(text)?.mediaType ?? '');
  if (text.length < LEAST_LENGTH || !isBase64(text)) return undefined;
  const head = Buffer.from(text.slice(0, HEAD_LENGTH), 'base64');
  if (isPicture(head)) return 'image';
  return isDocument(head) ? 'file' : undefined;
}

/** A video is pictures. */
function kindOfType(mediaType: string): Media['kind'] {
  if (/^(?:image|video)\//.test(mediaType)) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'file';
}
