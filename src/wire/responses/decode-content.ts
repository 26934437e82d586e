import type { Lose, MediaPart, Part, TextPart } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { decodeFileData, decodeUrl } from '../hub/decode-media.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { says } from '../hub/defined-members.ts';
import { isArray, optionalString, requiredString } from '../request/request-shape.ts';

/** Members of content that cross, or that say nothing to another family. */
const KNOWN = new Set(
  'type text refusal annotations logprobs image_url detail file_id file_data file_url filename'.split(' '),
);

/** The parts of a message's content, or of what a tool gave. Throws `BadRequestShape`; `param` is the content's place. */
export function decodeContent(content: Json | undefined, param: string, lose: Lose): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!isArray(content)) throw new BadRequestShape(`${param} must be a string or an array of content`, param);
  return content.map((part, index) => decodePart(part, `${param}[${index}]`, lose));
}

/** Only texts: what an instruction can be. Blank ones say nothing. */
export function textsOf(parts: readonly Part[]): TextPart[] {
  return parts.filter((part): part is TextPart => part.type === 'text' && part.text.trim() !== '');
}

function decodePart(part: Json, param: string, lose: Lose): Part {
  if (!isObject(part) || typeof part['type'] !== 'string') {
    throw new BadRequestShape(`${param} must be an object with a type`, param);
  }
  for (const name in part) if (!KNOWN.has(name) && says(part[name])) lose(`input[].content[].${name}`);
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: requiredString(part, 'text', param) };
    case 'refusal':
      return { type: 'refusal', text: requiredString(part, 'refusal', param) };
    case 'input_image':
      return decodeImage(part, param);
    case 'input_file':
      return decodeFile(part, param);
    default:
      throw new BadRequestShape(`${param}.type is not supported by this model`, `${param}.type`);
  }
}

function decodeImage(part: JsonObject, param: string): MediaPart {
  refuseFileId(part, param);
  const url = requiredString(part, 'image_url', param);
  const detail = optionalString(part, 'detail', `${param}.detail`);
  return { ...decodeUrl(url, 'image', `${param}.image_url`), ...(detail === undefined ? {} : { detail }) };
}

function decodeFile(part: JsonObject, param: string): MediaPart {
  refuseFileId(part, param);
  const name = optionalString(part, 'filename', `${param}.filename`);
  const named = name === undefined ? {} : { name };
  const url = optionalString(part, 'file_url', `${param}.file_url`);
  if (url !== undefined) return { ...decodeUrl(url, 'document', `${param}.file_url`), ...named };
  return { ...decodeFileData(requiredString(part, 'file_data', param), name), ...named };
}

function refuseFileId(part: JsonObject, param: string): void {
  if ((part['file_id'] ?? undefined) === undefined) return;
  throw new BadRequestShape(
    `${param} must not be a file id of a provider: send the content in the request`,
    `${param}.file_id`,
  ); // spec 4.3.5
}
