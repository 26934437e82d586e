import type { JsonObject } from '#/wire/document/json.ts';
import { isBase64 } from '#/wire/request/media.ts';
import { invalidArgument } from './tool.ts';

/** A document among arguments. */
export interface FileArgument {
  readonly name: string | undefined;
  readonly mediaType: string;
  /** Without line breaks. */
  readonly base64: string;
}

/** Arguments that say what a document is. */
export const FILE_ARGUMENTS = {
  content_base64: { type: 'string', minLength: 1, description: 'The document in base64, at most about 3 MiB of it.' },
  filename: { type: 'string', maxLength: 255, description: 'With its ending, which tells text formats apart.' },
  content_type: { type: 'string', description: 'Its media type, such as application/pdf.' },
} as const;

export const FILE_NAMES = ['content_base64', 'filename', 'content_type'] as const;

const MEDIA_TYPE = /^[\w.+-]{1,127}\/[\w.+-]{1,127}$/;
const UNKNOWN_TYPE = 'application/octet-stream';
/** Where the arguments of a call stand. */
const AT = 'params.arguments';

/** Reads a document among arguments. Throws `invalid_request`. */
export function fileIn({ content_base64: base64, filename: name, content_type: type }: JsonObject): FileArgument {
  if (typeof base64 !== 'string' || base64.trim() === '' || !isBase64(base64))
    throw invalidArgument(`${AT}.content_base64 must be the document in base64.`, `${AT}.content_base64`);
  if (name !== undefined && typeof name !== 'string')
    throw invalidArgument(`${AT}.filename must be a string.`, `${AT}.filename`);
  const mediaType = type ?? UNKNOWN_TYPE;
  if (typeof mediaType !== 'string' || !MEDIA_TYPE.test(mediaType))
    throw invalidArgument(`${AT}.content_type must be a media type, such as application/pdf.`, `${AT}.content_type`);
  return {
    name,
    mediaType: mediaType.toLowerCase(),
    base64: /\s/.test(base64) ? base64.replaceAll(/\s+/g, '') : base64,
  };
}
