import type { MediaPart } from './canonical.ts';
import { BadRequestShape } from './codec.ts';
import { isRemoteUrl, kindOfMedia, mediaTypeOfName, readDataUrl } from '../request/media.ts';

/**
 * Media by a `data:` URL, or by one that can be fetched; `kind` is what it is where the URL does not tell. Throws
 * `BadRequestShape` for any other text.
 */
export function decodeUrl(url: string, kind: MediaPart['kind'], param: string): MediaPart {
  const inline = readDataUrl(url);
  // A text declared as an image would be sent as text without having been inspected.
  if (inline && kind === 'image' && kindOfMedia(inline.mediaType) !== 'image') {
    throw new BadRequestShape(`${param} must be an image`, param);
  }
  if (inline) return { type: 'media', kind, mediaType: inline.mediaType, source: { data: inline.data } };
  if (!isRemoteUrl(url)) throw new BadRequestShape(`${param} must be a data: or https: URL`, param);
  const path = url.split(/[?#]/, 1)[0];
  const byDefault = kind === 'image' ? 'image/*' : 'application/pdf';
  return { type: 'media', kind, mediaType: mediaTypeOfName(path) ?? byDefault, source: { url } };
}

/** A file by its bytes: a `data:` URL, or bare base64 as some clients send it, of which only the name tells what it is. */
export function decodeFileData(data: string, name: string | undefined): MediaPart {
  const inline = readDataUrl(data) ?? { mediaType: mediaTypeOfName(name) ?? 'application/pdf', data };
  const { mediaType } = inline;
  return { type: 'media', kind: kindOfMedia(mediaType), mediaType, source: { data: inline.data } };
}
